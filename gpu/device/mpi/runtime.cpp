#include "gpu/device/mpi/runtime.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <utility>

#include "gpu/device/mpi/interposer.hpp"
#include "gpu/device/mpi/invocation.hpp"
#include "gpu/device/mpi/persistent.hpp"
#include "gpu/device/wrong_path.hpp"

namespace rankcheck::gpu::mpi {

namespace {

/// The segment size of a forced algorithm, in elements.
std::int64_t segment_elements(const Request& request) {
  const std::int64_t bytes = spec::info(request.call.type).bytes;
  return request.chunk > 0 ? request.chunk
                           : std::max<std::int64_t>(1, default_segment_bytes / bytes);
}

/// The number of elements in the largest buffer of any member.
std::int64_t largest_buffer(const Request& request) {
  std::int64_t largest = 0;
  for (int rank = 0; rank < request.call.ranks; ++rank) {
    const spec::Extents extents = spec::extents_of(request.contract, request.call, rank);
    largest = std::max({largest, extents.send_size, extents.recv_size});
  }
  return largest;
}

/// Throws WrongPath if the interposer is known to see all algorithms of this library, and otherwise
/// UnseenPath.
[[noreturn]] void fail_unseen(const std::string& why) {
  const std::string version = Runtime::version();
  const bool is_known =
      version.starts_with("Open MPI v4.1.") || version.starts_with("Open MPI v5.0.");
  if (is_known) throw WrongPath(why);
  throw UnseenPath(why);
}

/// Throws WrongPath or UnseenPath unless the forced algorithm was seen, and no other one of its
/// collective. If no data moved, it need not be seen.
void require_forced(const Forcing& forcing, bool moves_data) {
  const std::string expected = forcing.function();
  const std::string family = std::string(forcing.tuning->collective) + "_intra_";
  bool seen = false;
  for (const std::string_view name : calls_seen()) {
    if (name == expected) {
      seen = true;
    } else if (name.starts_with(family) && name != family + "generic") {
      throw WrongPath(forcing.name() + ": Open MPI ran " + std::string(name) + " and not only " +
                      expected);
    }
  }
  if (!seen && moves_data) {
    fail_unseen(forcing.name() + ": forced, but " + expected + " was not seen to run");
  }
}

/// Throws WrongPath or UnseenPath unless the component was called on the communicator, and left
/// nothing to another component.
void require_component(const Component& component,
                       std::string_view collective,
                       MPI_Comm communicator,
                       const std::vector<std::intptr_t>& buffers) {
  const std::string name(component.name);
  if (!was_used_by(component.library, word_of(communicator))) {
    fail_unseen(name + ": forced, but " + std::string(component.library) + " was not seen to run");
  }
  const std::string prefix = std::string(collective) + "_intra_";
  const std::string_view other = first_algorithm_on(word_of(communicator), prefix, buffers);
  if (!other.empty()) throw WrongPath(name + ": Open MPI ran " + std::string(other));
}

std::string summary_of(const Component& component) {
  std::string text =
      "The blocking MPI function is called with a high " + std::string(component.variable);
  if (!component.choices.empty()) {
    text += ", and with " + std::string(component.choices.front()) + " or " +
            std::string(component.choices.back()) + " = " + std::to_string(component.choice);
  }
  return text + ".";
}

constexpr std::string_view blocking = "blocking";
constexpr std::string_view nonblocking = "nonblocking";
constexpr std::string_view persistent = "persistent";

struct NamedLayout {
  BlockLayout layout;
  std::string_view name;
  std::string_view maker;
};

constexpr std::array named_layouts{
    NamedLayout{BlockLayout::vector, "vector", "MPI_Type_vector"},
    NamedLayout{BlockLayout::indexed, "indexed", "MPI_Type_indexed"},
    NamedLayout{BlockLayout::structure, "struct", "MPI_Type_create_struct"}};

bool was_seen(const std::vector<std::string_view>& functions) {
  return std::any_of(functions.begin(), functions.end(), [](std::string_view function) {
    return std::count(calls_seen().begin(), calls_seen().end(), function) > 0;
  });
}

/// Returns which of an operation's MPI functions ran: the blocking, the nonblocking or the
/// persistent one. Throws WrongPath unless exactly one did.
std::string_view seen_mode(const Operation& operation) {
  std::vector<std::string_view> seen;
  if (was_seen(operation.blocking)) seen.push_back(blocking);
  if (was_seen(operation.nonblocking)) seen.push_back(nonblocking);
  if (was_seen(operation.persistent)) seen.push_back(persistent);
  if (seen.size() == 1) return seen.front();
  const std::string call(operation.blocking.front());
  throw WrongPath(seen.empty() ? "no form of " + call + " was called"
                               : "several forms of " + call + " were called");
}

/// Throws WrongPath unless all functions of this composition ran, and no other function of the
/// operation's compositions.
void require_seen(const Operation& operation, const Composition& composition) {
  const auto& own = composition.functions;
  for (const Composition& each : operation.compositions) {
    for (const std::string_view function : each.functions) {
      if (!is_watched(function)) continue;
      const bool belongs = std::find(own.begin(), own.end(), function) != own.end();
      if (belongs == was_seen({function})) continue;
      throw WrongPath(std::string(composition.name) + ": " + std::string(function) +
                      (belongs ? " was not called" : " was called"));
    }
  }
}

/// Adds the calls for which the library chooses the algorithm.
void add_calls(const NamedOperation& operation, std::vector<Algorithm>& all) {
  all.push_back(
      {.operation = &operation,
       .name = std::string(blocking),
       .summary = "The blocking MPI function is called, and the library chooses the algorithm.",
       .forcing = {}});
  all.push_back({.operation = &operation,
                 .name = std::string(nonblocking),
                 .summary = "Two MPI_I… calls are under way at a time and end in the "
                            "other order, or one if it has "
                            "more than 1 GiB. The library chooses the algorithm.",
                 .nonblocking = true,
                 .forcing = {}});
  all.push_back({.operation = &operation,
                 .name = "two_communicators",
                 .summary =
                     "Two MPI_I… calls are under way at a time, each on a communicator of its own. "
                     "Every second rank starts them in the other order.",
                 .nonblocking = true,
                 .two_communicators = true});
  if (has_persistent && !operation.operation.persistent.empty()) {
    all.push_back({.operation = &operation,
                   .name = std::string(persistent),
                   .summary =
                       "Two persistent requests are started three times, each time with other "
                       "data. The library chooses the algorithm.",
                   .persistent = true,
                   .forcing = {}});
  }
  if (operation.operation.reduces) {
    all.push_back({.operation = &operation,
                   .name = "c_types",
                   .summary = "The blocking MPI function is called. Integers have C's own types, "
                              "such as MPI_UNSIGNED_LONG instead of MPI_UINT64_T.",
                   .has_c_types = true});
  }
  for (const NamedLayout& each : named_layouts) {
    if (!operation.operation.has_layouts) continue;
    all.push_back({.operation = &operation,
                   .name = std::string(each.name),
                   .summary = "The blocking MPI function is called. On some ranks, a "
                              "block is one element of a type that " +
                              std::string(each.maker) + " made.",
                   .layout = each.layout});
  }
}

/// Adds the calls for which something is forced.
void add_forced(const NamedOperation& operation,
                const std::vector<const Transport*>& transports,
                std::vector<Algorithm>& all) {
  for (const Forcing& forcing : find_forcings(operation)) {
    all.push_back({.operation = &operation,
                   .name = forcing.name(),
                   .summary = "The blocking MPI function is called with " + forcing.variable() +
                              " = " + forcing.word + ".",
                   .forcing = forcing});
  }
  for (const SelectedAlgorithm& selected : find_selectable(operation)) {
    all.push_back({.operation = &operation,
                   .name = selected.name,
                   .summary = "The " + std::string(selected.nonblocking ? nonblocking : blocking) +
                              " MPI function is called with " + selected.settings.front().variable +
                              " = " + selected.word + ".",
                   .nonblocking = selected.nonblocking,
                   .selected = selected});
  }
  for (const Component* component : find_components(operation)) {
    all.push_back({.operation = &operation,
                   .name = std::string(component->name),
                   .summary = summary_of(*component),
                   .component = component});
  }
  for (const Transport* transport : transports) {
    all.push_back({.operation = &operation,
                   .name = std::string(transport->name),
                   .summary = "The blocking MPI function is called. Messages go " +
                              std::string(transport->carrier) + ".",
                   .transport = transport});
  }
}

void add_compositions(const NamedOperation& operation, std::vector<Algorithm>& all) {
  for (const Composition& composition : operation.operation.compositions) {
    all.push_back({.operation = &operation,
                   .name = std::string(composition.name),
                   .summary = std::string(composition.summary),
                   .composition = &composition});
    for (const SelectedAlgorithm& selected : find_selectable(composition)) {
      all.push_back({.operation = &operation,
                     .name = std::string(composition.name) + "_" + selected.word,
                     .summary = std::string(composition.summary) + " With " +
                                selected.settings.front().variable + " = " + selected.word + ".",
                     .selected = selected,
                     .composition = &composition});
    }
  }
}

}  // namespace

Runtime::Runtime() {
  check(MPI_Init(nullptr, nullptr), "MPI_Init");
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &size_), "MPI_Comm_size");
  tool_interface_.emplace();
  types_.emplace();
  communicators_.emplace();
  const std::vector<const Transport*> transports = find_transports();
  for (const NamedOperation& operation : operations()) {
    if (!operation.operation.is_composed()) {
      add_calls(operation, algorithms_);
      add_forced(operation, transports, algorithms_);
    }
    add_compositions(operation, algorithms_);
  }
}

Runtime::~Runtime() {
  communicators_.reset();
  types_.reset();
  tool_interface_.reset();
  MPI_Finalize();
}

void Runtime::abort(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

std::string Runtime::version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  // Some libraries include the terminating zero in the length, so `length` is not used.
  const std::string whole(text.data());
  return whole.substr(0, whole.find('\n'));
}

const Algorithm* Runtime::find(std::string_view operation, std::string_view name) const {
  for (const Algorithm& algorithm : algorithms_) {
    const bool is_named = name.empty() || algorithm.name == name;
    if (algorithm.operation->name == operation && is_named) return &algorithm;
  }
  return nullptr;
}

/// Says why MPI or the algorithm does not take the call's op; empty if both do.
std::string Runtime::why_op_refused(const Request& request) const {
  const spec::Call& call = request.call;
  if (types_->type(call.type, call.op) == MPI_DATATYPE_NULL) {
    return "op: the library has neither MPI_2REAL nor MPI_2DOUBLE_PRECISION, because it was built "
           "without Fortran";
  }
  if (request.algorithm.has_c_types && types_->c_type(call.type) == MPI_DATATYPE_NULL) {
    return "type: MPI has no second name for it";
  }
  if (!spec::commutes(call.op) && request.algorithm.component != nullptr) {
    return "op: the component need not combine in the order of the ranks";
  }
  return {};
}

/// Says why the algorithm's composition does not take the call; empty if it does.
std::string Runtime::why_composition_refused(const Request& request) {
  const Composition& composition = *request.algorithm.composition;
  if (request.chunk > 0 && !composition.in_chunks) return "chunk: the algorithm has no packs";
  if (composition.why_refused != nullptr) {
    std::string why(composition.why_refused(request.call, request.in_place));
    if (!why.empty()) return why;
  }
  if (!request.algorithm.selected) return {};
  const ForcedUse use{.call = request.call, .in_place = request.in_place};
  return std::string(why_unusable(*request.algorithm.selected, composition.collective, use));
}

std::string Runtime::why_refused(const Request& request) const {
  const spec::Call& call = request.call;
  if (call.gap > 0 && request.contract.name == "reduce_scatter_v") {
    return "gap: MPI_Reduce_scatter has no displacements";
  }
  constexpr std::int64_t int_max = std::numeric_limits<int>::max();
  const std::int64_t largest = largest_buffer(request);
  if (largest > int_max) {
    return "count: a buffer has more elements than an int holds";
  }
  if (std::string why = why_op_refused(request); !why.empty()) return why;
  const auto& forcing = request.algorithm.forcing;
  if (request.algorithm.composition != nullptr) {
    const std::int64_t bytes = request.stride * spec::info(call.type).bytes;
    const bool fits = largest <= int_max / bytes;
    return fits || !request.algorithm.composition->has_byte_places
               ? why_composition_refused(request)
               : "count: a buffer has more bytes than an int holds";
  }
  if (const Component* const component = request.algorithm.component) {
    if (call.ranks == 1)
      return "ranks: with one rank, Open MPI uses coll/self, which has one algorithm";
    const Operation& operation = request.algorithm.operation->operation;
    std::string why(why_component_refuses(*component, operation.tuning.collective, request.hosts));
    if (!why.empty()) return why;
  }
  if (request.algorithm.transport != nullptr) {
    if (call.ranks == 1) return "ranks: with one rank, no data goes from process to process";
    if (!request.hosts.empty()) return "hosts: forced transports work on one host only";
  }
  if (request.algorithm.two_communicators) {
    if (call.ranks == 1) return "ranks: with one rank, nobody starts the calls in the other order";
  }
  if (request.algorithm.two_communicators || request.algorithm.persistent) {
    if (!has_room_for_second(call, request.stride))
      return "count: a call of more than 1 GiB has no second one";
  }
  const bool returns_early = request.algorithm.nonblocking || request.algorithm.persistent;
  const auto& why_only_blocking = request.algorithm.operation->operation.why_only_blocking;
  if (returns_early && why_only_blocking != nullptr) {
    std::string why(why_only_blocking(call, request.in_place));
    if (!why.empty()) return why;
  }
  const ForcedUse use{
      .call = call, .in_place = request.in_place, .segment_elements = segment_elements(request)};
  if (const auto& selected = request.algorithm.selected) {
    std::string why(
        why_unusable(*selected, request.algorithm.operation->operation.tuning.collective, use));
    if (!why.empty()) return why;
  }
  if (forcing && was_started_for_component()) {
    return "algorithm: a component with a higher priority than coll/tuned is forced";
  }
  if (!forcing) return request.chunk > 0 ? "chunk: only forced algorithms have segments" : "";
  if (request.chunk > std::numeric_limits<int>::max() / 16) return "chunk: out of range";
  return std::string(why_unforceable(*forcing, use));
}

void Runtime::hold(std::span<const Request> requests, bool meets) {
  communicators_->hold();
  for (const Request& each : requests) prepare(each);
  if (meets && !requests.empty()) check(MPI_Barrier(communicator_), "MPI_Barrier");
}

void Runtime::release() {
  under_way_.clear();
  communicators_->release();
}

void Runtime::prepare(const Request& request) {
  const auto& forcing = request.algorithm.forcing;
  const std::int64_t segment_bytes = request.chunk * spec::info(request.call.type).bytes;
  communicator_ = communicators_->get(
      request.group, forcing ? &*forcing : nullptr, static_cast<int>(segment_bytes));
  second_communicator_ = request.algorithm.two_communicators
                             ? communicators_->get_second(request.group)
                             : communicator_;
  if (request.on_second) std::swap(communicator_, second_communicator_);
  clear_calls_seen();
}

void Runtime::perform(const Request& request,
                      int group_rank,
                      const spec::Extents& extents,
                      const Buffers& buffers,
                      const std::function<void()>& enter) {
  buffers_.clear();
  for (const std::byte* each : {buffers.send, buffers.recv}) {
    if (each != nullptr) buffers_.push_back(reinterpret_cast<std::intptr_t>(each));
  }
  std::optional<SettingScope> scope;
  const std::function meanwhile = [&](MPI_Request& own) {
    // Other calls have algorithms of their own.
    scope.reset();
    const std::size_t before = under_way_.size();
    under_way_.push_back(&own);
    (*request.meanwhile)();
    under_way_.resize(before);
    if (!request.waits_for_oldest) return;
    for (MPI_Request* each : under_way_) {
      check(MPI_Wait(each, MPI_STATUS_IGNORE), "MPI_Wait");
    }
  };
  const Site site{.communicator = communicator_,
                  .second_communicator = second_communicator_,
                  .rank = group_rank,
                  .nonblocking = request.algorithm.nonblocking,
                  .persistent = request.algorithm.persistent,
                  .in_place = request.in_place,
                  .layout = request.algorithm.layout,
                  .has_c_types = request.algorithm.has_c_types,
                  .has_second = has_room_for_second(request.call, request.stride),
                  .chunk = request.chunk,
                  .send = buffers.send,
                  .recv = buffers.recv,
                  .scalar = buffers.scalar,
                  .enter = request.contract.synchronises ? &enter : nullptr,
                  .meanwhile = request.meanwhile == nullptr ? nullptr : &meanwhile};
  if (site.enter == nullptr) enter();
  const Operation& operation = request.algorithm.operation->operation;
  Invocation invocation(operation, request.call, extents, site, *types_);
  const Composition* const composition = request.algorithm.composition;
  const auto& selected = request.algorithm.selected;
  if (selected) scope.emplace(selected->settings, selected->word);
  try {
    (composition != nullptr ? composition->perform : operation.perform)(invocation);
  } catch (const Error& error) {
    if (selected && says_unusable(error.what())) throw Unusable(error.what());
    throw;
  }
}

void Runtime::await_group() {
  for (MPI_Comm each : {communicator_, second_communicator_}) {
    MPI_Request request = MPI_REQUEST_NULL;
    // The worker's own barrier is no call of the case, so it is not counted.
    check(PMPI_Ibarrier(each, &request), "MPI_Ibarrier");
    check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    if (second_communicator_ == communicator_) break;
  }
}

std::string Runtime::conclude(const Request& request, bool goes_on) {
  const Composition* const composition = request.algorithm.composition;
  const bool returns_early = request.algorithm.nonblocking || request.algorithm.persistent ||
                             (composition != nullptr && composition->nonblocking);
  if (returns_early && !goes_on) await_group();
  communicators_->end_call();
  // What was seen belongs to the calls that were made meanwhile.
  if (request.meanwhile != nullptr) return request.algorithm.name;
  const spec::Call& call = request.call;
  const bool moves_data =
      request.contract.synchronises || call.count > 0 ||
      std::any_of(call.counts.begin(), call.counts.end(), [](auto count) { return count > 0; });
  const auto& forcing = request.algorithm.forcing;
  if (forcing) require_forced(*forcing, moves_data);
  const Component* const component = request.algorithm.component;
  const Operation& operation = request.algorithm.operation->operation;
  if (component != nullptr && moves_data) {
    require_component(*component, operation.tuning.collective, communicator_, buffers_);
  }
  if (request.algorithm.transport != nullptr) require_transport(*request.algorithm.transport);
  if (composition != nullptr) {
    if (moves_data) require_seen(operation, *composition);
    return request.algorithm.name;
  }
  if (!is_watched(operation.blocking.front())) return request.algorithm.name;
  const std::string_view mode = seen_mode(operation);
  const auto& selected = request.algorithm.selected;
  const bool is_forced = forcing || component != nullptr || selected ||
                         request.algorithm.transport != nullptr ||
                         request.algorithm.two_communicators || request.algorithm.has_c_types ||
                         request.algorithm.layout != BlockLayout::elements;
  const std::string_view expected = request.algorithm.nonblocking ? nonblocking : blocking;
  return is_forced && mode == expected ? request.algorithm.name : std::string(mode);
}

}  // namespace rankcheck::gpu::mpi

#if defined(__SANITIZE_ADDRESS__)
/// MPI libraries keep some memory until the process ends, so leaks are not reported.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0";
}
#endif

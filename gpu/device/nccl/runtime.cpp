#include "gpu/device/nccl/runtime.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <thread>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "gpu/device/nccl/placement.hpp"
#include "gpu/device/wrong_path.hpp"

namespace rankcheck::gpu::nccl {

namespace {

using Clock = std::chrono::steady_clock;

/// The number of groups whose communicators are kept.
constexpr std::size_t groups_max = 16;

std::string id_text(const ncclUniqueId& id) {
  return {id.internal, sizeof(id.internal)};
}

ncclUniqueId id_of(const std::string& text) {
  ncclUniqueId id{};
  if (text.size() != sizeof(id.internal)) throw std::runtime_error("an id of the wrong size");
  std::memcpy(id.internal, text.data(), sizeof(id.internal));
  return id;
}

int position(const std::vector<int>& group, int world_rank) {
  const auto found = std::find(group.begin(), group.end(), world_rank);
  return found == group.end() ? -1 : static_cast<int>(found - group.begin());
}

/// The elements of one block, or of all blocks.
std::int64_t elements_of(const spec::Call& call) {
  return std::accumulate(call.counts.begin(), call.counts.end(), call.count);
}

bool moves_data(const spec::Call& call) {
  return elements_of(call) > 0;
}

/// Whether NCCL takes every member for a host of its own.
bool has_host_for_each(const World& world, const Request& request) {
  if (request.hosts.empty()) return world.shares_devices;
  std::set<int> seen;
  return std::all_of(request.group.begin(), request.group.end(), [&](int rank) {
    return seen.insert(request.hosts[spec::to_size(rank)]).second;
  });
}

/// Says why the call cannot be made on these hosts, which must be several.
std::string why_not_on_hosts(const World& world, const Request& request) {
  if (request.algorithm.one_process) return "hosts: one process is on one host";
  if (request.algorithm.windows) return "hosts: symmetric windows are between ranks of one host";
  if (request.algorithm.forcing && request.algorithm.forcing->protocol == "LL128") {
    return "hosts: LL128 is not safe between hosts";
  }
  return why_hosts_refused(request.hosts, world.devices);
}

std::string why_unforceable(const Library& nccl, const World& world, const Request& request) {
  const Forcing& forcing = *request.algorithm.forcing;
  if (nccl.version() < 22400) {
    return "algorithm: the log of NCCL " + nccl.version_text() +
           " does not name the algorithm that ran";
  }
  if (request.call.ranks == 1)
    return "ranks: with one rank, NCCL copies the data and uses no algorithm";
  if (forcing.algorithm == "PAT" && !has_host_for_each(world, request)) {
    return "algorithm: NCCL has PAT only if every rank is on a host of its own";
  }
  // NCCL implements both ops as a sum that also multiplies, by each rank's factor or by 1/n at the
  // end.
  if (forcing.algorithm == "PAT" && collective(request.contract).reduces &&
      (request.call.op == spec::ReduceOp::avg || request.call.op == spec::ReduceOp::premul_sum)) {
    return "op: NCCL's PAT has neither avg nor premul_sum";
  }
  if (forcing.protocol == "LL128" && world.shares_devices) {
    return "algorithm: LL128 is not safe between hosts, and NCCL treats ranks on one device as "
           "hosts";
  }
  // Without NVLink, data may arrive wrong, according to NCCL's documentation of NCCL_PROTO.
  if (forcing.protocol == "LL128" && !world.has_nvlink) {
    return "algorithm: LL128 is safe only over NVLink: NVLink does not connect all devices in use, "
           "or NCCL_P2P_DISABLE or NCCL_P2P_LEVEL disables it";
  }
  return {};
}

std::string why_not_registered(const Request& request) {
  if (request.call.ranks > 1) return {};
  return "ranks: with one rank, NCCL copies the data and uses no registered memory";
}

std::string why_without_windows(const Library& nccl, const World& world, const Request& request) {
  if (nccl.version() < 22800) {
    return "algorithm: windows need NCCL 2.28: NCCL " + nccl.version_text() +
           " does not say whether a window is symmetric";
  }
  if (request.call.ranks == 1)
    return "ranks: with one rank, NCCL copies the data and uses no window";
  if (world.shares_devices) {
    return "algorithm: symmetric windows are between ranks of one host, and NCCL treats ranks on "
           "one device as hosts";
  }
  if (!world.reaches_peers) {
    return "algorithm: symmetric windows need devices that reach each other's memory: not all "
           "devices in use do, or NCCL_P2P_DISABLE or NCCL_P2P_LEVEL prevents it";
  }
  return {};
}

}  // namespace

Runtime::Runtime(const Library& nccl, Devices& devices, World world)
    : nccl_(nccl),
      devices_(devices),
      world_(std::move(world)),
      windows_(nccl, devices),
      companions_(nccl, devices) {
  if (!world_.log_path.empty()) log_.emplace(world_.log_path);
  for (int r = 0; r < world_.ranks; ++r) all_.members.push_back(r);
  join(all_, "world");
}

Runtime::~Runtime() {
  if (aborted_) return;
  static_cast<void>(windows_.close());
  for (Group& each : groups_) destroy(each);
  destroy(all_);
}

std::string Runtime::why_refused(const Library& nccl, const World& world, const Request& request) {
  const Algorithm& algorithm = request.algorithm;
  for (const std::string_view each : algorithm.functions) {
    if (!nccl.has(each)) {
      return std::string(each) + ": NCCL " + nccl.version_text() + " has no such function";
    }
  }
  if (request.call.op == spec::ReduceOp::premul_sum && !nccl.has("ncclRedOpCreatePreMulSum")) {
    return "op: NCCL " + nccl.version_text() + " has no premul_sum";
  }
  if (request.in_place && algorithm.operation.starts_with("all_to_all")) {
    return "in_place: NCCL has no all_to_all in place";
  }
  if (algorithm.one_process && world.ranks > world.devices) {
    return "algorithm: found " + std::to_string(world.devices) + " of the " +
           std::to_string(world.ranks) + " devices that one process needs";
  }
  std::string why = why_unknown(request.call.type, request.call.op, nccl.version());
  if (!why.empty()) return why;
  if (collective(request.contract).reduces && spec::is_f8(request.call.type) &&
      world.least_capability < 90) {
    return "type: NCCL reduces 8-bit floats from compute capability 9.0 on";
  }
  if (!request.hosts.empty()) {
    why = why_not_on_hosts(world, request);
    if (!why.empty()) return why;
  }
  if (algorithm.windows) return why_without_windows(nccl, world, request);
  if (algorithm.registered) return why_not_registered(request);
  return algorithm.forcing ? why_unforceable(nccl, world, request) : "";
}

int Runtime::slot_of(int world_rank) const {
  return position(world_.local, world_rank);
}

int Runtime::slot_of(const Request& request, const Member& member) const {
  return slot_of(request.group[spec::to_size(member.group_rank)]);
}

template <class Calls>
void Runtime::in_group(Calls calls) {
  nccl_.check(nccl_->ncclGroupStart(), "ncclGroupStart");
  try {
    calls();
  } catch (...) {
    static_cast<void>(nccl_->ncclGroupEnd());
    throw;
  }
  nccl_.check(nccl_->ncclGroupEnd(), "ncclGroupEnd");
}

void Runtime::join(Group& group, const std::string& key) {
  group.communicators.assign(world_.local.size(), nullptr);
  const bool leads = slot_of(group.members.front()) >= 0;
  const bool takes_part = std::any_of(
      group.members.begin(), group.members.end(), [&](int each) { return slot_of(each) >= 0; });
  if (!takes_part) return;
  std::string made;
  if (leads) {
    ncclUniqueId id{};
    nccl_.check(nccl_->ncclGetUniqueId(&id), "ncclGetUniqueId");
    made = id_text(id);
  }
  const ncclUniqueId id = id_of(world_.meet(key, leads ? &made : nullptr));
  const int n = static_cast<int>(group.members.size());
  in_group([&] {
    for (std::size_t s = 0; s < world_.local.size(); ++s) {
      const int rank = position(group.members, world_.local[s]);
      if (rank < 0) continue;
      devices_.use(static_cast<int>(s));
      nccl_.check(nccl_->ncclCommInitRank(&group.communicators[s], n, id, rank),
                  "ncclCommInitRank");
    }
  });
}

void Runtime::split(Group& group) {
  group.communicators.assign(world_.local.size(), nullptr);
  in_group([&] {
    for (std::size_t s = 0; s < world_.local.size(); ++s) {
      const int rank = position(group.members, world_.local[s]);
      devices_.use(static_cast<int>(s));
      nccl_.check(nccl_->ncclCommSplit(all_.communicators[s],
                                       rank < 0 ? NCCL_SPLIT_NOCOLOR : 0,
                                       std::max(rank, 0),
                                       &group.communicators[s],
                                       nullptr),
                  "ncclCommSplit");
    }
  });
}

void Runtime::destroy(Group& group) {
  for (std::size_t s = 0; s < group.communicators.size(); ++s) {
    if (group.communicators[s] == nullptr) continue;
    devices_.use(static_cast<int>(s));
    static_cast<void>(nccl_->ncclCommDestroy(group.communicators[s]));
  }
}

void Runtime::abort(std::span<const GroupCall> calls) {
  aborted_ = true;
  // Only the communicators in use are aborted. Aborting idle ones would free their memory, which
  // waits for the kernels that hang.
  for (const GroupCall& call : calls) {
    for (const ncclComm_t each : communicators_of(call)) {
      static_cast<void>(nccl_->ncclCommAbort(each));
    }
  }
}

/// What the threads of one call share with the thread that waits for them.
struct Runtime::SharedParts {
  explicit SharedParts(std::vector<LocalPart> all) : parts(std::move(all)) {}

  /// A thread is done with its part. `error` is null if nothing went wrong.
  void end(const std::exception_ptr& error) {
    const std::lock_guard lock(mutex);
    if (error != nullptr) errors.push_back(error);
    ++ended;
    changed.notify_all();
  }
  /// Returns whether all threads are done with their parts in time.
  bool wait(std::chrono::duration<double> patience) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, patience, [&] { return ended == parts.size(); });
  }

  const std::vector<LocalPart> parts;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t ended = 0;
  /// The errors of threads, in the order in which they ended.
  std::vector<std::exception_ptr> errors;
};

std::list<Runtime::Group>::iterator Runtime::find_group(const std::vector<int>& members,
                                                        bool is_second) {
  return std::find_if(groups_.begin(), groups_.end(), [&](const Group& each) {
    return each.members == members && each.is_second == is_second;
  });
}

Runtime::Group& Runtime::group_of(const Request& request, bool is_second) {
  if (!is_second && request.group == all_.members) return all_;
  return *find_group(request.group, is_second);
}

ncclComm_t Runtime::communicator_of(const Request& request, const Member& member, bool is_second) {
  return group_of(request, is_second).communicators[spec::to_size(slot_of(request, member))];
}

std::vector<ncclComm_t> Runtime::communicators_of(const GroupCall& call) {
  std::vector<ncclComm_t> all;
  for (const Member& each : call.members) {
    all.push_back(communicator_of(call.request, each));
    if (call.request.algorithm.aggregated) all.push_back(communicator_of(call.request, each, true));
  }
  return all;
}

void Runtime::forget_groups() {
  while (groups_.size() > groups_max) {
    destroy(groups_.back());
    groups_.pop_back();
  }
}

void Runtime::forget(const std::vector<int>& members) {
  groups_.remove_if([&](Group& each) {
    const bool is_meant = each.members == members;
    if (is_meant) destroy(each);
    return is_meant;
  });
}

void Runtime::prepare(const Request& request) {
  if (log_) static_cast<void>(log_->news());
  if (request.group != all_.members) make_group(request.group, false);
  if (request.algorithm.aggregated) make_group(request.group, true);
}

void Runtime::make_group(const std::vector<int>& members, bool is_second) {
  const auto found = find_group(members, is_second);
  if (found != groups_.end()) {
    groups_.splice(groups_.begin(), groups_, found);
    return;
  }
  groups_.push_front({members, is_second, {}});
  ++groups_made_;
  try {
    if (nccl_.has("ncclCommSplit")) {
      split(groups_.front());
    } else {
      join(groups_.front(), "group " + std::to_string(groups_made_));
    }
  } catch (...) {
    // The group has no communicators that a later call could use.
    groups_.pop_front();
    throw;
  }
}

ncclRedOp_t Runtime::op_of(const Part& part, int slot, const std::byte* scalar) {
  const auto first = ops_.begin() + static_cast<std::ptrdiff_t>(first_op_);
  const auto made = std::find_if(
      first, ops_.end(), [&](const auto& each) { return each.second == part.communicator; });
  if (made != ops_.end()) return made->first;
  ncclRedOp_t op = ncclSum;
  devices_.use(slot);
  nccl_.check(nccl_->ncclRedOpCreatePreMulSum(&op,
                                              const_cast<std::byte*>(scalar),
                                              words_of(part.call.type).type,
                                              ncclScalarHostImmediate,
                                              part.communicator),
              "ncclRedOpCreatePreMulSum");
  ops_.emplace_back(op, part.communicator);
  return op;
}

Part Runtime::part_of(const Request& request, const Member& member, bool is_second) {
  const int slot = slot_of(request, member);
  Part part{.nccl = nccl_,
            .communicator = communicator_of(request, member, is_second),
            .stream = devices_.stream(slot),
            .rank = member.group_rank,
            .call = request.call,
            .extents = member.extents,
            .send = member.send,
            .recv = member.recv,
            .op = words_of(request.call.op)};
  if (request.contract.synchronises) part.scratch = devices_.allocate(slot, 1);
  if (request.call.op == spec::ReduceOp::premul_sum) part.op = op_of(part, slot, member.scalar);
  return part;
}

Member Runtime::pack(const Request& request, const Member& list) {
  const int slot = slot_of(request, list);
  const std::int64_t bytes = spec::info(request.call.type).bytes;
  const std::int64_t elements = elements_of(request.call);
  Member packed = list;
  if (list.send != nullptr) packed.send = devices_.allocate(slot, elements * bytes);
  if (list.recv != nullptr) packed.recv = devices_.allocate(slot, elements * bytes);
  std::byte* to = packed.send;
  for (const spec::Block& array : list.extents.send) {
    devices_.copy(slot, list.send + array.offset * bytes, to, array.count * bytes);
    to += array.count * bytes;
  }
  return packed;
}

void Runtime::unpack(const Request& request, const Member& packed, const Member& list) {
  const std::int64_t bytes = spec::info(request.call.type).bytes;
  const std::byte* from = packed.recv;
  for (const spec::Block& array : list.extents.recv) {
    devices_.copy(
        slot_of(request, list), from, list.recv + array.offset * bytes, array.count * bytes);
    from += array.count * bytes;
  }
}

void Runtime::enqueue_packed(std::span<const GroupCall> calls) {
  for (const GroupCall& list : calls) {
    const Request& request = list.request;
    const std::int64_t bytes = spec::info(request.call.type).bytes;
    const std::int64_t elements = elements_of(request.call);
    const std::int64_t most = request.chunk > 0 ? request.chunk : elements;
    std::vector<Member> packed;
    for (const Member& each : list.members) packed.push_back(pack(request, each));
    spec::Call call_of_pack = request.call;
    call_of_pack.counts.clear();
    call_of_pack.gap = 0;
    for (std::int64_t start = 0; start < elements; start += most) {
      call_of_pack.count = std::min(most, elements - start);
      GroupCall call{{request.algorithm, request.contract, call_of_pack, request.group, false, 0},
                     packed};
      for (Member& part : call.members) {
        if (part.send != nullptr) part.send += start * bytes;
        if (part.recv != nullptr) part.recv += start * bytes;
      }
      enqueue({&call, 1});
    }
    for (std::size_t i = 0; i < packed.size(); ++i) unpack(request, packed[i], list.members[i]);
  }
}

void Runtime::make_ready(std::span<const GroupCall> calls) {
  std::vector<Window> windows;
  std::vector<Companion> companions;
  for (const GroupCall& call : calls) {
    const Algorithm& algorithm = call.request.algorithm;
    for (const Member& each : call.members) {
      const int slot = slot_of(call.request, each);
      const ncclComm_t communicator = communicator_of(call.request, each);
      if (algorithm.windows || algorithm.registered) {
        windows.push_back({.slot = slot,
                           .is_symmetric = algorithm.windows,
                           .communicator = communicator,
                           .bytes = each.place.window_bytes});
      }
      if (algorithm.aggregated) {
        companions.push_back({.slot = slot,
                              .communicator = communicator,
                              .rank = each.group_rank,
                              .ranks = call.request.call.ranks,
                              .gathers = algorithm.operation != "all_gather"});
      }
    }
  }
  companions_.make_ready(std::move(companions));
  windows_.open(std::move(windows));
}

void Runtime::enqueue_in_windows(std::span<const GroupCall> calls) {
  std::vector<GroupCall> moved(calls.begin(), calls.end());
  for (GroupCall& call : moved) {
    for (Member& each : call.members) {
      WindowPlace& place = each.place;
      std::byte* const there = windows_.memory(communicator_of(call.request, each)) + place.offset;
      devices_.copy(slot_of(call.request, each), place.memory, there, place.bytes);
      if (each.send != nullptr) each.send = there + (each.send - place.memory);
      if (each.recv != nullptr) each.recv = there + (each.recv - place.memory);
      place.memory = there;
    }
  }
  enqueue(moved);
  for (std::size_t c = 0; c < moved.size(); ++c) {
    for (std::size_t i = 0; i < moved[c].members.size(); ++i) {
      const Member& original = calls[c].members[i];
      devices_.copy(slot_of(calls[c].request, original),
                    moved[c].members[i].place.memory,
                    original.place.memory,
                    original.place.bytes);
    }
  }
}

std::vector<int> Runtime::capture(const GroupCall& call, const std::vector<std::byte*>& fresh) {
  const auto slot = [&](std::size_t i) { return slot_of(call.request, call.members[i]); };
  std::vector<int> graphs;
  try {
    for (std::size_t i = 0; i < call.members.size(); ++i) devices_.begin_capture(slot(i));
    for (int k = 0; k < call.request.captured; ++k) {
      for (std::size_t i = 0; i < call.members.size(); ++i) {
        const WindowPlace& place = call.members[i].place;
        devices_.copy(slot(i), fresh[i], place.memory, place.bytes);
      }
      enqueue({&call, 1});
    }
    for (std::size_t i = 0; i < call.members.size(); ++i) {
      graphs.push_back(devices_.end_capture(slot(i)));
    }
  } catch (...) {
    for (std::size_t i = 0; i < call.members.size(); ++i) devices_.abandon_capture(slot(i));
    throw;
  }
  return graphs;
}

void Runtime::enqueue_graph(const GroupCall& call) {
  const auto slot = [&](std::size_t i) { return slot_of(call.request, call.members[i]); };
  std::vector<std::byte*> own;
  std::vector<std::byte*> fresh;
  for (std::size_t i = 0; i < call.members.size(); ++i) {
    const WindowPlace& place = call.members[i].place;
    own.push_back(devices_.allocate(slot(i), place.bytes));
    fresh.push_back(devices_.allocate(slot(i), place.bytes));
    devices_.copy(slot(i), place.memory, own.back(), place.bytes);
  }
  const std::vector<int> graphs = capture(call, fresh);
  for (std::size_t launch = 0; launch <= call.members.front().others.size(); ++launch) {
    for (std::size_t i = 0; i < call.members.size(); ++i) {
      const Member& each = call.members[i];
      const bool is_last = launch == each.others.size();
      devices_.copy(slot(i), is_last ? own[i] : each.others[launch], fresh[i], each.place.bytes);
      devices_.launch(graphs[i]);
    }
  }
}

void Runtime::enqueue_aggregated(const GroupCall& call) {
  const Request& request = call.request;
  std::vector<LocalPart> parts;
  std::vector<Member> others = call.members;
  for (Member& each : others) {
    if (each.send != nullptr) each.send = each.others[0] + (each.send - each.place.memory);
    if (each.recv != nullptr) each.recv = each.others[0] + (each.recv - each.place.memory);
  }
  const auto add = [&](const Member& member, bool is_second) {
    parts.push_back(
        {slot_of(request, member), request.algorithm.perform, part_of(request, member, is_second)});
  };
  for (const Member& each : call.members) add(each, request.on_second);
  for (const Member& each : others) add(each, !request.on_second);
  in_group([&] {
    for (const LocalPart& each : parts) {
      devices_.use(each.slot);
      each.perform(each.part);
    }
    for (const Member& each : call.members) {
      devices_.use(slot_of(request, each));
      companions_.call(communicator_of(request, each));
    }
  });
}

void Runtime::start(std::span<const GroupCall> calls, const std::function<void()>& behind) {
  first_op_ = ops_.size();
  std::vector<GroupCall> whole;
  std::vector<GroupCall> packed;
  std::vector<GroupCall> windowed;
  for (const GroupCall& each : calls) {
    if (each.members.empty()) continue;
    const Algorithm& algorithm = each.request.algorithm;
    if (algorithm.graph) {
      enqueue_graph(each);
    } else if (algorithm.aggregated) {
      enqueue_aggregated(each);
    } else {
      const bool moves = algorithm.windows || algorithm.registered;
      (algorithm.packs ? packed : moves ? windowed : whole).push_back(each);
    }
  }
  enqueue(whole);
  enqueue_packed(packed);
  enqueue_in_windows(windowed);
  if (behind != nullptr) behind();
  for (const GroupCall& each : calls) under_way_.push_back(each);
}

void Runtime::enqueue(std::span<const GroupCall> calls) {
  std::vector<LocalPart> parts;
  bool has_threads = false;
  for (const GroupCall& call : calls) {
    has_threads = has_threads || call.request.algorithm.threads;
    for (const Member& each : call.members) {
      parts.push_back({slot_of(call.request, each),
                       call.request.algorithm.perform,
                       part_of(call.request, each)});
    }
  }
  if (parts.empty()) return;
  if (has_threads) return enqueue_in_threads(calls, std::move(parts));
  in_group([&] {
    for (const LocalPart& each : parts) {
      devices_.use(each.slot);
      each.perform(each.part);
    }
  });
}

void Runtime::enqueue_in_threads(std::span<const GroupCall> calls, std::vector<LocalPart> parts) {
  const auto shared = std::make_shared<SharedParts>(std::move(parts));
  const std::size_t count = shared->parts.size();
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([this, shared, i] {
      const LocalPart& own = shared->parts[i];
      try {
        devices_.use(own.slot);
        in_group([&] { own.perform(own.part); });
        shared->end(nullptr);
      } catch (...) {
        shared->end(std::current_exception());
      }
    });
  }
  if (!shared->wait(world_.patience)) {
    // Nobody can end a thread inside the library. It goes on until the process ends.
    for (std::thread& each : threads) each.detach();
    abort(calls);
    throw Hang(std::string(calls.front().request.algorithm.functions.front()) +
               " did not return in time; its communicators were aborted");
  }
  for (std::thread& each : threads) each.join();
  if (shared->errors.empty()) return;
  try {
    std::rethrow_exception(shared->errors.front());
  } catch (const std::exception& error) {
    if (shared->errors.size() == count) throw;
    // The kernels of the other ranks wait for this one, so the communicators are of no more use.
    throw Error(fmt::format("in one thread only: {}", error.what()), ncclRemoteError);
  }
}

void Runtime::check_errors(const GroupCall& call) {
  for (const ncclComm_t each : communicators_of(call)) {
    ncclResult_t state = ncclSuccess;
    nccl_.check(nccl_->ncclCommGetAsyncError(each, &state), "ncclCommGetAsyncError");
    if (state == ncclSuccess || state == ncclInProgress) continue;
    throw Error(std::string(call.request.algorithm.functions.front()) +
                    ": an asynchronous error: " + nccl_->ncclGetErrorString(state),
                ncclRemoteError);
  }
}

void Runtime::finish() {
  const std::vector<GroupCall> calls = std::exchange(under_way_, {});
  const auto begin = Clock::now();
  for (int looks = 0;; ++looks) {
    const bool done = std::all_of(calls.begin(), calls.end(), [&](const GroupCall& call) {
      return std::all_of(call.members.begin(), call.members.end(), [&](const Member& each) {
        return devices_.is_done(slot_of(call.request, each));
      });
    });
    for (const GroupCall& each : calls) check_errors(each);
    if (done) break;
    if (Clock::now() - begin > world_.patience) {
      abort(calls);
      throw Hang(std::string(calls.front().request.algorithm.functions.front()) +
                 " did not finish in time; its communicators were aborted");
    }
    // Small calls finish at once. A longer wait must not occupy a core.
    constexpr int looks_without_sleep = 200;
    if (looks > looks_without_sleep)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    else
      std::this_thread::yield();
  }
  devices_.drop_graphs();
  nccl_.check(windows_.close(), "ncclCommWindowDeregister");
  for (const auto& [op, communicator] : std::exchange(ops_, {})) {
    nccl_.check(nccl_->ncclRedOpDestroy(op, communicator), "ncclRedOpDestroy");
  }
  companions_.check();
}

std::string Runtime::conclude(const Request& request, std::span<const Member> members) {
  const bool has_first = std::any_of(
      members.begin(), members.end(), [](const Member& each) { return each.group_rank == 0; });
  if (request.algorithm.forcing && has_first) {
    if (!log_) throw WrongPath("forced, but NCCL writes no log that confirms it");
    require_forced(*request.algorithm.forcing, log_->news(), moves_data(request.call));
  }
  return request.algorithm.name;
}

}  // namespace rankcheck::gpu::nccl

#include "gpu/device/nccl/algorithms.hpp"

#include <array>
#include <initializer_list>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::nccl {

namespace {

using Block = spec::Block;

/// Translates the arguments of a part into NCCL's terms.
class Words {
 public:
  explicit Words(const Part& part) : part_(part), words_(words_of(part.call.type)) {}

  [[nodiscard]] std::size_t count(std::int64_t elements) const {
    return spec::to_size(elements) * words_.factor;
  }
  /// Elements of one block, in an operation whose blocks have equal sizes.
  [[nodiscard]] std::size_t count() const { return count(part_.call.count); }
  [[nodiscard]] ncclDataType_t type() const { return words_.type; }
  [[nodiscard]] std::byte* at(std::byte* buffer, const Block& block) const {
    return buffer + block.offset * spec::info(part_.call.type).bytes;
  }

 private:
  const Part& part_;
  TypeWords words_;
};

// NCCL's own functions.

void all_reduce(const Part& p) {
  const Words w(p);
  p.nccl.check(
      p.nccl->ncclAllReduce(p.send, p.recv, w.count(), w.type(), p.op, p.communicator, p.stream),
      "ncclAllReduce");
}

void all_gather(const Part& p) {
  const Words w(p);
  p.nccl.check(p.nccl->ncclAllGather(p.send, p.recv, w.count(), w.type(), p.communicator, p.stream),
               "ncclAllGather");
}

void broadcast(const Part& p) {
  const Words w(p);
  // NCCL ignores the send buffer on ranks other than the root.
  const void* const from = p.send == nullptr ? p.recv : p.send;
  p.nccl.check(p.nccl->ncclBroadcast(
                   from, p.recv, w.count(), w.type(), p.call.root, p.communicator, p.stream),
               "ncclBroadcast");
}

void reduce(const Part& p) {
  const Words w(p);
  p.nccl.check(
      p.nccl->ncclReduce(
          p.send, p.recv, w.count(), w.type(), p.op, p.call.root, p.communicator, p.stream),
      "ncclReduce");
}

void reduce_scatter(const Part& p) {
  const Words w(p);
  p.nccl.check(p.nccl->ncclReduceScatter(
                   p.send, p.recv, w.count(), w.type(), p.op, p.communicator, p.stream),
               "ncclReduceScatter");
}

void all_to_all(const Part& p) {
  const Words w(p);
  p.nccl.check(p.nccl->ncclAlltoAll(p.send, p.recv, w.count(), w.type(), p.communicator, p.stream),
               "ncclAlltoAll");
}

void gather(const Part& p) {
  const Words w(p);
  p.nccl.check(p.nccl->ncclGather(
                   p.send, p.recv, w.count(), w.type(), p.call.root, p.communicator, p.stream),
               "ncclGather");
}

void scatter(const Part& p) {
  const Words w(p);
  p.nccl.check(p.nccl->ncclScatter(
                   p.send, p.recv, w.count(), w.type(), p.call.root, p.communicator, p.stream),
               "ncclScatter");
}

/// A barrier is an all_reduce of one element whose result is not used.
void barrier(const Part& p) {
  p.nccl.check(
      p.nccl->ncclAllReduce(p.scratch, p.scratch, 1, ncclInt8, ncclSum, p.communicator, p.stream),
      "ncclAllReduce");
}

// Operations made of several calls in one group.

void send(const Part& p, const Block& block, int to) {
  const Words w(p);
  p.nccl.check(
      p.nccl->ncclSend(
          w.at(p.send, block), w.count(block.count), w.type(), to, p.communicator, p.stream),
      "ncclSend");
}

void receive(const Part& p, const Block& block, int from) {
  const Words w(p);
  p.nccl.check(
      p.nccl->ncclRecv(
          w.at(p.recv, block), w.count(block.count), w.type(), from, p.communicator, p.stream),
      "ncclRecv");
}

/// Sends and receives blocks. `to` and `from` give the partner of a block from the block's number.
/// In place, a block whose source and destination are the same memory is left out.
template <class To, class From>
void exchange(const Part& p, int sends, To to, int receives, From from) {
  const Words w(p);
  const auto& out = p.extents.send;
  const auto& in = p.extents.recv;
  const auto number = [](const std::vector<Block>& blocks, int i) -> const Block& {
    return blocks[blocks.size() == 1 ? 0 : spec::to_size(i)];
  };
  bool stays = false;
  if (sends > 0 && receives > 0) {
    const int own_out = out.size() == 1 ? 0 : p.rank;
    const int own_in = in.size() == 1 ? 0 : p.rank;
    stays = w.at(p.send, number(out, own_out)) == w.at(p.recv, number(in, own_in));
  }
  for (int i = 0; i < sends; ++i) {
    if (!(stays && to(i) == p.rank)) send(p, number(out, i), to(i));
  }
  for (int i = 0; i < receives; ++i) {
    if (!(stays && from(i) == p.rank)) receive(p, number(in, i), from(i));
  }
}

int itself(int i) {
  return i;
}

void exchange_with_all(const Part& p) {
  exchange(p, p.call.ranks, itself, p.call.ranks, itself);
}

void send_from_root(const Part& p) {
  const int sends = p.rank == p.call.root ? p.call.ranks : 0;
  exchange(p, sends, itself, 1, [&](int) { return p.call.root; });
}

void send_to_root(const Part& p) {
  const int receives = p.rank == p.call.root ? p.call.ranks : 0;
  exchange(
      p, 1, [&](int) { return p.call.root; }, receives, itself);
}

void send_recv(const Part& p) {
  const int to = spec::destination(p.call, p.rank);
  const int from = spec::origin(p.call, p.rank);
  exchange(
      p,
      to == spec::nobody ? 0 : 1,
      [&](int) { return to; },
      from == spec::nobody ? 0 : 1,
      [&](int) { return from; });
}

/// Broadcasts every block of the result from the rank that has it.
void broadcast_blocks(const Part& p) {
  const Words w(p);
  for (int root = 0; root < p.call.ranks; ++root) {
    const Block& block = p.extents.recv[spec::to_size(root)];
    std::byte* const to = w.at(p.recv, block);
    const void* const from = root == p.rank ? p.send : to;
    p.nccl.check(p.nccl->ncclBroadcast(
                     from, to, w.count(block.count), w.type(), root, p.communicator, p.stream),
                 "ncclBroadcast");
  }
}

/// Reduces every block to the rank that gets it.
void reduce_blocks(const Part& p) {
  const Words w(p);
  for (int root = 0; root < p.call.ranks; ++root) {
    const Block& block = p.extents.send[spec::to_size(root)];
    p.nccl.check(p.nccl->ncclReduce(w.at(p.send, block),
                                    root == p.rank ? p.recv : nullptr,
                                    w.count(block.count),
                                    w.type(),
                                    p.op,
                                    root,
                                    p.communicator,
                                    p.stream),
                 "ncclReduce");
  }
}

// Operations on lists. Input and result of a rank have the same layout.

const std::vector<Block>& arrays_of(const Part& p) {
  return p.extents.send.empty() ? p.extents.recv : p.extents.send;
}

void all_reduce_arrays(const Part& p) {
  const Words w(p);
  for (const Block& array : arrays_of(p)) {
    p.nccl.check(p.nccl->ncclAllReduce(w.at(p.send, array),
                                       w.at(p.recv, array),
                                       w.count(array.count),
                                       w.type(),
                                       p.op,
                                       p.communicator,
                                       p.stream),
                 "ncclAllReduce");
  }
}

void reduce_arrays(const Part& p) {
  const Words w(p);
  for (const Block& array : arrays_of(p)) {
    p.nccl.check(p.nccl->ncclReduce(w.at(p.send, array),
                                    p.rank == p.call.root ? w.at(p.recv, array) : nullptr,
                                    w.count(array.count),
                                    w.type(),
                                    p.op,
                                    p.call.root,
                                    p.communicator,
                                    p.stream),
                 "ncclReduce");
  }
}

void broadcast_arrays(const Part& p) {
  const Words w(p);
  for (const Block& array : arrays_of(p)) {
    std::byte* const to = w.at(p.recv, array);
    const void* const from = p.send == nullptr ? to : w.at(p.send, array);
    p.nccl.check(
        p.nccl->ncclBroadcast(
            from, to, w.count(array.count), w.type(), p.call.root, p.communicator, p.stream),
        "ncclBroadcast");
  }
}

// The list of algorithms.

Algorithm native(const char* operation, const char* function, void (*perform)(const Part&)) {
  return {.operation = operation,
          .name = "native",
          .summary = std::string(function) + " is called, and the library chooses the algorithm.",
          .functions = {function},
          .perform = perform};
}

Algorithm grouped(const char* operation, void (*perform)(const Part&)) {
  return {.operation = operation,
          .name = "grouped",
          .summary = "ncclSend and ncclRecv are called in one group.",
          .functions = {"ncclSend", "ncclRecv"},
          .perform = perform};
}

/// An operation on a list, with a call for each array.
Algorithm grouped_arrays(const char* operation,
                         const char* function,
                         void (*perform)(const Part&)) {
  return {.operation = operation,
          .name = "grouped",
          .summary = std::string(function) + " is called for every array, in one group.",
          .functions = {function},
          .perform = perform};
}

/// An operation on a list, with one call for all arrays.
Algorithm packed(const char* operation, const char* function, void (*perform)(const Part&)) {
  return {.operation = operation,
          .name = "packed",
          .summary = "The arrays are copied into one pack, for which " + std::string(function) +
                     " is called.",
          .functions = {function},
          .perform = perform,
          .packs = true};
}

/// The native call made in another way. `how` goes on with the summary behind the function's name.
Algorithm variant_of(const Algorithm& native,
                     const char* name,
                     const char* how,
                     std::initializer_list<const char*> more_functions) {
  Algorithm made = native;
  made.name = name;
  made.summary = std::string(native.functions.front()) + how;
  made.functions.insert(made.functions.end(), more_functions.begin(), more_functions.end());
  return made;
}

/// The native call in windows. NCCL has its symmetric kernels only there.
Algorithm in_windows(const Algorithm& native) {
  Algorithm made = variant_of(
      native,
      "windows",
      " is called on memory of ncclMemAlloc that is registered as a symmetric window. "
      "The buffers are copied there and back.",
      {"ncclMemAlloc", "ncclMemFree", "ncclCommWindowRegister", "ncclCommWindowDeregister"});
  made.windows = true;
  return made;
}

/// The native call in registered memory.
Algorithm in_registered_memory(const Algorithm& native) {
  Algorithm made =
      variant_of(native,
                 "registered",
                 " is called on memory of ncclMemAlloc that is registered by ncclCommRegister. The "
                 "buffers are copied there and back.",
                 {"ncclMemAlloc", "ncclMemFree", "ncclCommRegister", "ncclCommDeregister"});
  made.registered = true;
  return made;
}

/// The native call in a CUDA graph.
Algorithm in_graph(const Algorithm& native) {
  Algorithm made =
      variant_of(native,
                 "graph",
                 " is captured into a CUDA graph, once or many times. The graph is launched three "
                 "times, each time with other data in the same buffers.",
                 {});
  made.graph = true;
  return made;
}

/// The native call in one group with others.
Algorithm in_one_group(const Algorithm& native) {
  Algorithm made =
      variant_of(native,
                 "aggregated",
                 " is called in one group with another operation on the same communicator, and "
                 "with the same operation with other data on another communicator.",
                 {native.operation == "all_gather" ? "ncclAllReduce" : "ncclAllGather"});
  made.aggregated = true;
  return made;
}

constexpr std::array protocols{"SIMPLE", "LL", "LL128"};

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

void force(std::vector<Algorithm>& all, const Algorithm& plain, Forcing forcing) {
  Algorithm made = plain;
  made.name = lower(forcing.algorithm + "_" + forcing.protocol);
  made.summary = std::string(plain.functions.front()) + " is called with NCCL_ALGO " +
                 forcing.algorithm + " and NCCL_PROTO " + forcing.protocol + ".";
  made.forcing = std::move(forcing);
  all.push_back(std::move(made));
}

/// Adds the native call, the other algorithms and NCCL's forced algorithms of an operation, and,
/// except for the barrier, the native calls of one process and of its threads. An operation that is
/// one call also has that call in windows, in registered memory, in a graph and in a larger group.
void add(std::vector<Algorithm>& all,
         const Algorithm& plain,
         const std::vector<Algorithm>& others = {},
         const std::vector<std::string>& forced = {}) {
  all.push_back(plain);
  all.insert(all.end(), others.begin(), others.end());
  if (plain.name == "native") {
    all.push_back(in_windows(plain));
    all.push_back(in_registered_memory(plain));
    all.push_back(in_graph(plain));
    all.push_back(in_one_group(plain));
  }
  const std::string function = std::string(plain.functions.front()).substr(4);
  for (const std::string& algorithm : forced) {
    for (const char* protocol : protocols) {
      if (algorithm == "PAT" && std::string_view(protocol) != "SIMPLE") continue;
      force(all, plain, {function, algorithm, protocol});
    }
  }
  if (plain.operation == "barrier") return;
  Algorithm together = plain;
  together.name = "one_process";
  together.summary = "One process makes the native calls of all ranks in one group.";
  together.one_process = true;
  all.push_back(together);
  together.name = "threads";
  together.summary = "One process makes the native calls of each rank in a thread of its own.";
  together.threads = true;
  all.push_back(std::move(together));
}

std::vector<Algorithm> make_algorithms() {
  const Algorithm broadcasts{
      .operation = "all_gather_v",
      .name = "by_broadcast",
      .summary = "ncclBroadcast is called for every rank's block, in one group.",
      .functions = {"ncclBroadcast"},
      .perform = broadcast_blocks};
  const Algorithm reduces{.operation = "reduce_scatter_v",
                          .name = "by_reduce",
                          .summary = "ncclReduce is called for every rank's block, in one group.",
                          .functions = {"ncclReduce"},
                          .perform = reduce_blocks};
  const Algorithm waits{.operation = "barrier",
                        .name = "by_all_reduce",
                        .summary = "ncclAllReduce is called with one element.",
                        .functions = {"ncclAllReduce"},
                        .perform = barrier};
  std::vector<Algorithm> all;
  add(all,
      native("all_gather", "ncclAllGather", all_gather),
      {grouped("all_gather", exchange_with_all)},
      {"RING", "PAT"});
  add(all, grouped("all_gather_v", exchange_with_all), {broadcasts});
  add(all, native("all_reduce", "ncclAllReduce", all_reduce), {}, {"RING", "TREE"});
  add(all,
      grouped_arrays("all_reduce_list", "ncclAllReduce", all_reduce_arrays),
      {packed("all_reduce_list", "ncclAllReduce", all_reduce)});
  add(all,
      native("all_to_all", "ncclAlltoAll", all_to_all),
      {grouped("all_to_all", exchange_with_all)});
  add(all, grouped("all_to_all_v", exchange_with_all));
  add(all, waits);
  add(all,
      native("broadcast", "ncclBroadcast", broadcast),
      {grouped("broadcast", send_from_root)},
      {"RING"});
  add(all,
      grouped_arrays("broadcast_list", "ncclBroadcast", broadcast_arrays),
      {packed("broadcast_list", "ncclBroadcast", broadcast)});
  add(all, native("gather", "ncclGather", gather), {grouped("gather", send_to_root)});
  add(all, grouped("gather_v", send_to_root));
  add(all, native("reduce", "ncclReduce", reduce), {}, {"RING"});
  add(all,
      grouped_arrays("reduce_list", "ncclReduce", reduce_arrays),
      {packed("reduce_list", "ncclReduce", reduce)});
  add(all, native("reduce_scatter", "ncclReduceScatter", reduce_scatter), {}, {"RING", "PAT"});
  add(all, reduces);
  add(all, native("scatter", "ncclScatter", scatter), {grouped("scatter", send_from_root)});
  add(all, grouped("scatter_v", send_from_root));
  add(all, grouped("send_recv", send_recv));
  return all;
}

}  // namespace

std::map<std::string, std::string> Forcing::environment() const {
  // The setting names this function only. NCCL has TREE only for AllReduce and has no PAT for
  // AllReduce. It refuses every function that is left without an algorithm, including other
  // functions that a case calls. NCCL before 2.24 does not know such prefixes, and nothing is
  // forced there.
  return {{"NCCL_ALGO", function + ":" + algorithm},
          {"NCCL_PROTO", function + ":" + protocol},
          {"NCCL_DEBUG", "INFO"},
          {"NCCL_DEBUG_SUBSYS", "TUNING"}};
}

std::map<std::string, std::string> Algorithm::environment() const {
  if (one_process) return {{one_process_variable, "1"}};
  if (registered) return {{register_variable, "1"}};
  return forcing ? forcing->environment() : std::map<std::string, std::string>();
}

const std::vector<Algorithm>& algorithms() {
  static const std::vector<Algorithm> all = make_algorithms();
  return all;
}

const Algorithm* find_algorithm(std::string_view operation, std::string_view name) {
  for (const Algorithm& each : algorithms()) {
    if (each.operation == operation && (name.empty() || each.name == name)) return &each;
  }
  return nullptr;
}

}  // namespace rankcheck::gpu::nccl

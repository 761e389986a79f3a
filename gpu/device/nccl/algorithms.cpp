#include "gpu/device/nccl/algorithms.hpp"

#include <array>
#include <cstdint>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::nccl {

namespace {

using Block = spec::Block;

std::byte* address_of(const Part& p, std::byte* buffer, const Block& block) {
  return buffer + block.offset * spec::info(p.call.type).bytes;
}

/// A function of NCCL, and its name.
#define RANKCHECK_NCCL_FUNCTION(name) &Functions::name, #name

/// Calls a function of NCCL for a run of elements. `others` are the arguments behind their type and
/// before the communicator.
template <class Function, class... Others>
void call(const Part& p,
          Function* Functions::*function,
          const char* name,
          const void* from,
          void* to,
          std::int64_t elements,
          Others... others) {
  const TypeWords words = words_of(p.call.type);
  const std::size_t count = spec::to_size(elements) * words.factor;
  Function* const found = p.nccl.operator->()->*function;
  p.nccl.check(found(from, to, count, words.type, others..., p.communicator, p.stream), name);
}

// NCCL's own functions.

void all_reduce(const Part& p) {
  call(p, RANKCHECK_NCCL_FUNCTION(ncclAllReduce), p.send, p.recv, p.call.count, p.op);
}

void all_gather(const Part& p) {
  call(p, RANKCHECK_NCCL_FUNCTION(ncclAllGather), p.send, p.recv, p.call.count);
}

void broadcast(const Part& p) {
  // NCCL ignores the send buffer on ranks other than the root.
  const void* const from = p.send == nullptr ? p.recv : p.send;
  call(p, RANKCHECK_NCCL_FUNCTION(ncclBroadcast), from, p.recv, p.call.count, p.call.root);
}

void reduce(const Part& p) {
  call(p, RANKCHECK_NCCL_FUNCTION(ncclReduce), p.send, p.recv, p.call.count, p.op, p.call.root);
}

void reduce_scatter(const Part& p) {
  call(p, RANKCHECK_NCCL_FUNCTION(ncclReduceScatter), p.send, p.recv, p.call.count, p.op);
}

void all_to_all(const Part& p) {
  call(p, RANKCHECK_NCCL_FUNCTION(ncclAlltoAll), p.send, p.recv, p.call.count);
}

void gather(const Part& p) {
  call(p, RANKCHECK_NCCL_FUNCTION(ncclGather), p.send, p.recv, p.call.count, p.call.root);
}

void scatter(const Part& p) {
  call(p, RANKCHECK_NCCL_FUNCTION(ncclScatter), p.send, p.recv, p.call.count, p.call.root);
}

/// A barrier is an all_reduce of one element whose result is not used.
void barrier(const Part& p) {
  p.nccl.check(
      p.nccl->ncclAllReduce(p.scratch, p.scratch, 1, ncclInt8, ncclSum, p.communicator, p.stream),
      "ncclAllReduce");
}

// Operations made of several calls in one group.

/// Calls ncclSend or ncclRecv.
template <class Function>
void pass(const Part& p,
          Function* Functions::*function,
          const char* name,
          std::byte* buffer,
          const Block& block,
          int partner) {
  const TypeWords words = words_of(p.call.type);
  const std::size_t count = spec::to_size(block.count) * words.factor;
  Function* const found = p.nccl.operator->()->*function;
  p.nccl.check(
      found(address_of(p, buffer, block), count, words.type, partner, p.communicator, p.stream),
      name);
}

/// Sends and receives blocks. `to` and `from` give the partner of a block from the block's number.
/// In place, a block whose source and destination are the same memory is left out.
template <class To, class From>
void exchange(const Part& p, int sends, To to, int receives, From from) {
  const auto& out = p.extents.send;
  const auto& in = p.extents.recv;
  const auto number = [](const std::vector<Block>& blocks, int i) -> const Block& {
    return blocks[blocks.size() == 1 ? 0 : spec::to_size(i)];
  };
  bool stays = false;
  if (sends > 0 && receives > 0) {
    const int own_out = out.size() == 1 ? 0 : p.rank;
    const int own_in = in.size() == 1 ? 0 : p.rank;
    stays =
        address_of(p, p.send, number(out, own_out)) == address_of(p, p.recv, number(in, own_in));
  }
  for (int i = 0; i < sends; ++i) {
    if (stays && to(i) == p.rank) continue;
    pass(p, RANKCHECK_NCCL_FUNCTION(ncclSend), p.send, number(out, i), to(i));
  }
  for (int i = 0; i < receives; ++i) {
    if (stays && from(i) == p.rank) continue;
    pass(p, RANKCHECK_NCCL_FUNCTION(ncclRecv), p.recv, number(in, i), from(i));
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
  for (int root = 0; root < p.call.ranks; ++root) {
    const Block& block = p.extents.recv[spec::to_size(root)];
    std::byte* const to = address_of(p, p.recv, block);
    const void* const from = root == p.rank ? p.send : to;
    call(p, RANKCHECK_NCCL_FUNCTION(ncclBroadcast), from, to, block.count, root);
  }
}

/// Reduces every block to the rank that gets it.
void reduce_blocks(const Part& p) {
  for (int root = 0; root < p.call.ranks; ++root) {
    const Block& block = p.extents.send[spec::to_size(root)];
    const void* const from = address_of(p, p.send, block);
    std::byte* const to = root == p.rank ? p.recv : nullptr;
    call(p, RANKCHECK_NCCL_FUNCTION(ncclReduce), from, to, block.count, p.op, root);
  }
}

// Operations on lists.

/// Calls visit(from, to, elements) for every array. Input and result of a rank have the same
/// layout. An address is null if the rank has no input or no result.
template <class Visit>
void for_each_array(const Part& p, const Visit& visit) {
  const bool has_input = !p.extents.send.empty();
  const bool has_result = !p.extents.recv.empty();
  for (const Block& array : has_input ? p.extents.send : p.extents.recv) {
    visit(has_input ? address_of(p, p.send, array) : nullptr,
          has_result ? address_of(p, p.recv, array) : nullptr,
          array.count);
  }
}

void all_reduce_arrays(const Part& p) {
  for_each_array(p, [&](const void* from, void* to, std::int64_t elements) {
    call(p, RANKCHECK_NCCL_FUNCTION(ncclAllReduce), from, to, elements, p.op);
  });
}

void reduce_arrays(const Part& p) {
  for_each_array(p, [&](const void* from, void* to, std::int64_t elements) {
    call(p, RANKCHECK_NCCL_FUNCTION(ncclReduce), from, to, elements, p.op, p.call.root);
  });
}

void broadcast_arrays(const Part& p) {
  for_each_array(p, [&](const void* from, void* to, std::int64_t elements) {
    const void* const given = from == nullptr ? to : from;
    call(p, RANKCHECK_NCCL_FUNCTION(ncclBroadcast), given, to, elements, p.call.root);
  });
}

#undef RANKCHECK_NCCL_FUNCTION

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

/// Another way to make a native call.
struct Variant {
  const char* name;
  /// Goes on with the summary behind the function's name.
  const char* how;
  /// The functions that it calls in addition.
  std::vector<std::string_view> functions;
  bool Algorithm::*flag;
};

std::vector<Variant> variants_of(const Algorithm& native) {
  return {
      // NCCL has its symmetric kernels only in windows.
      {"windows",
       " is called on memory of ncclMemAlloc that is registered as a symmetric window. The buffers "
       "are copied there and back.",
       {"ncclMemAlloc", "ncclMemFree", "ncclCommWindowRegister", "ncclCommWindowDeregister"},
       &Algorithm::windows},
      {"registered",
       " is called on memory of ncclMemAlloc that is registered by ncclCommRegister. The buffers "
       "are copied there and back.",
       {"ncclMemAlloc", "ncclMemFree", "ncclCommRegister", "ncclCommDeregister"},
       &Algorithm::registered},
      {"graph",
       " is captured into a CUDA graph, once or many times. The graph is launched three times, "
       "each time with other data in the same buffers.",
       {},
       &Algorithm::graph},
      {"aggregated",
       " is called in one group with another operation on the same communicator, and with the same "
       "operation with other data on another communicator.",
       {native.operation == "all_gather" ? "ncclAllReduce" : "ncclAllGather"},
       &Algorithm::aggregated},
  };
}

void add_variants(const Algorithm& native, std::vector<Algorithm>& all) {
  for (const Variant& each : variants_of(native)) {
    Algorithm& made = all.emplace_back(native);
    made.name = each.name;
    made.summary = std::string(native.functions.front()) + each.how;
    made.functions.insert(made.functions.end(), each.functions.begin(), each.functions.end());
    made.*each.flag = true;
  }
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
  if (plain.name == "native") add_variants(plain, all);
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

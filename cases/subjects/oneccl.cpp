/// A subject with the collectives of oneCCL on the host: one process for each rank.
// needs oneCCL
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <oneapi/ccl.hpp>
#include <rankcheck/subject.hpp>

namespace {

using rankcheck::Buffer;
using rankcheck::Call;
using rankcheck::Op;
using rankcheck::Type;

/// The communicator of all ranks.
std::optional<ccl::communicator> world;

/// Rank 0 writes the address of oneCCL's key-value store into the file that all processes share.
void set_up(const rankcheck::Me& me) {
  // Ranks that wait would spin otherwise, and there may be more ranks than cores.
  ::setenv("CCL_YIELD", "sleep", 0);
  ccl::init();
  std::shared_ptr<ccl::kvs> store;
  ccl::kvs::address_type address{};
  if (me.rank == 0) {
    store = ccl::create_main_kvs();
    address = store->get_address();
    const std::string unfinished = me.shared_file + ".new";
    std::ofstream(unfinished).write(address.data(), address.size());
    std::rename(unfinished.c_str(), me.shared_file.c_str());
  } else {
    while (!std::ifstream(me.shared_file).read(address.data(), address.size())) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    store = ccl::create_kvs(address);
  }
  world.emplace(ccl::create_communicator(me.world, me.rank, store));
}

/// Processes that are not in the group get a communicator that nobody uses.
ccl::communicator make_group(const std::vector<int>& ranks) {
  const int rank = world->rank();
  const bool is_member = std::count(ranks.begin(), ranks.end(), rank) > 0;
  return ccl::split_communicator(*world, is_member ? 0 : 1, rank);
}

const ccl::communicator& comm(const Call& call) {
  return call.group<ccl::communicator>();
}

ccl::datatype type(const Call& call) {
  switch (call.type) {
    case Type::int8:
      return ccl::datatype::int8;
    case Type::int32:
      return ccl::datatype::int32;
    case Type::int64:
      return ccl::datatype::int64;
    case Type::uint8:
      return ccl::datatype::uint8;
    case Type::uint32:
      return ccl::datatype::uint32;
    case Type::uint64:
      return ccl::datatype::uint64;
    case Type::f16:
      return ccl::datatype::float16;
    case Type::bf16:
      return ccl::datatype::bfloat16;
    case Type::f32:
      return ccl::datatype::float32;
    default:
      return ccl::datatype::float64;
  }
}

ccl::reduction op(const Call& call) {
  if (call.op == Op::prod) return ccl::reduction::prod;
  if (call.op == Op::min) return ccl::reduction::min;
  return call.op == Op::max ? ccl::reduction::max : ccl::reduction::sum;
}

std::vector<std::size_t> counts(const Buffer& buffer) {
  std::vector<std::size_t> all;
  for (const rankcheck::Block& block : buffer.blocks()) all.push_back(block.count);
  return all;
}

void all_gather_v(const Call& call, Buffer send, Buffer recv) {
  std::vector<void*> to;
  for (std::size_t i = 0; i < recv.size(); ++i) to.push_back(recv[i].data());
  ccl::allgatherv(send.data(), send.count(), to, counts(recv), type(call), comm(call)).wait();
}

void all_to_all_v(const Call& call, Buffer send, Buffer recv) {
  ccl::alltoallv(send.data(), counts(send), recv.data(), counts(recv), type(call), comm(call))
      .wait();
}

void all_reduce(const Call& call, Buffer send, Buffer recv) {
  ccl::allreduce(send.data(), recv.data(), call.count, type(call), op(call), comm(call)).wait();
}

void reduce(const Call& call, Buffer send, Buffer recv) {
  ccl::reduce(send.data(), recv.data(), call.count, type(call), op(call), call.root, comm(call))
      .wait();
}

void reduce_scatter(const Call& call, Buffer send, Buffer recv) {
  ccl::reduce_scatter(send.data(), recv.data(), recv.count(), type(call), op(call), comm(call))
      .wait();
}

void broadcast(const Call& call, Buffer send, Buffer recv) {
  ccl::broadcast(send.data(), recv.data(), call.count, type(call), call.root, comm(call)).wait();
}

void all_gather(const Call& call, Buffer send, Buffer recv) {
  ccl::allgather(send.data(), recv.data(), send.count(), type(call), comm(call)).wait();
}

void all_to_all(const Call& call, Buffer send, Buffer recv) {
  ccl::alltoall(send.data(), recv.data(), call.count, type(call), comm(call)).wait();
}

}  // namespace

// Without memory, this program may end by an exception.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  rankcheck::Subject subject("oneccl");
  const ccl::library_version version = ccl::get_library_version();
  const auto text = [](unsigned int number) { return std::to_string(number); };
  subject.version("oneCCL",
                  text(version.major) + '.' + text(version.minor) + '.' + text(version.update));
  subject.launch(rankcheck::processes()).setup(set_up).groups("sorted").group(make_group);
  subject.types("int8 int32 int64 uint8 uint32 uint64 f16 bf16 f32 f64");
  subject.barrier([](const Call& call) { ccl::barrier(comm(call)).wait(); });
  // oneCCL says in an error that it has no average on the host.
  const std::string ops = "sum prod min max";
  subject.all_reduce(ops, all_reduce).in_place();
  subject.reduce(ops, reduce).in_place();
  subject.reduce_scatter(ops, reduce_scatter);
  subject.broadcast(broadcast).in_place();
  subject.all_gather(all_gather);
  subject.all_gather_v(all_gather_v);
  subject.all_to_all(all_to_all);
  // oneCCL takes blocks without gaps between them here.
  subject.all_to_all_v(all_to_all_v).only("gap", "0");
  // There is no send_recv: ccl::send without a device ends the process by SIGSEGV.
  return subject.serve(argc, argv);
}

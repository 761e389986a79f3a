#include "gpu/device/nccl/runtime.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"

#include "tests/gpu/device/nccl/named.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::gpu::nccl {
namespace {

using harness::complaint_of;

const Library& stand_in() {
  static const Library library(named(RANKCHECK_STAND_IN_NCCL));
  return library;
}

/// Returns a world whose ranks are all in this process.
World world_of(int ranks) {
  World world{.ranks = ranks, .local = {}, .meet = {}};
  world.local.resize(static_cast<std::size_t>(ranks));
  std::iota(world.local.begin(), world.local.end(), 0);
  world.devices = ranks;
  world.meet = [](const std::string&, const std::string* value) { return *value; };
  return world;
}

/// A call of four ranks, and the library and the world that would make it.
struct Asked {
  std::string_view operation = "all_reduce";
  std::string_view algorithm = "native";
  spec::Type type = spec::Type::f32;
  spec::ReduceOp op = spec::ReduceOp::sum;
  int ranks = 4;
  bool in_place = false;
  std::vector<int> hosts = {};
  bool is_old = false;
  int devices = 4;
  int least_capability = World().least_capability;
  bool has_nvlink = true;
  bool reaches_peers = true;
  bool shares_devices = false;

  [[nodiscard]] std::string why_refused() const {
    static const Library old(named(RANKCHECK_STAND_IN_NCCL_OLD));
    World world = world_of(4);
    world.devices = devices;
    world.least_capability = least_capability;
    world.has_nvlink = has_nvlink;
    world.reaches_peers = reaches_peers;
    world.shares_devices = shares_devices;
    const spec::Call call{.ranks = ranks, .type = type, .op = op, .count = 8};
    return Runtime::why_refused(is_old ? old : stand_in(),
                                world,
                                {*find_algorithm(operation, algorithm),
                                 reference::contract_named(operation),
                                 call,
                                 world.local,
                                 in_place,
                                 0,
                                 hosts});
  }
};

struct Refusal {
  Asked asked;
  /// Empty if the call is taken. Dots stand for the rest of a long reason.
  std::string_view why;
};

const std::vector<int> two_hosts{0, 0, 1, 1};
constexpr spec::Type f8 = spec::Type::f8e5m2;

const std::vector<Refusal> refusals{
    // A current library has nearly all calls.
    {{}, ""},
    {{.operation = "all_to_all"}, ""},
    {{.operation = "all_to_all", .in_place = true}, "in_place: NCCL has no all_to_all in place"},
    {{.operation = "gather", .is_old = true}, "ncclGather: NCCL 2.17.3 has no such function"},
    {{.operation = "gather", .algorithm = "grouped", .is_old = true}, ""},
    {{.operation = "broadcast", .type = spec::Type::f8e4m3}, ""},
    {{.operation = "broadcast", .type = spec::Type::f8e4m3, .is_old = true},
     "type: 8-bit floats came with NCCL 2.24"},
    // The ranks of one process are on devices of their own.
    {{.algorithm = "one_process"}, ""},
    {{.algorithm = "one_process", .devices = 1},
     "algorithm: found 1 of the 4 devices that one process needs"},
    // NCCL cannot be forced everywhere.
    {{.operation = "all_gather", .algorithm = "pat_simple"}, "algorithm: NCCL has PAT only..."},
    {{.operation = "all_gather", .algorithm = "pat_simple", .shares_devices = true}, ""},
    {{.operation = "all_gather", .algorithm = "ring_ll128"}, ""},
    {{.operation = "all_gather", .algorithm = "ring_ll128", .shares_devices = true},
     "algorithm: LL128 is not safe between hosts..."},
    {{.operation = "all_gather", .algorithm = "ring_ll128", .is_old = true},
     "algorithm: the log of NCCL 2.17.3 does not name the algorithm that ran"},
    {{.operation = "all_gather", .algorithm = "ring_ll128", .ranks = 1}, "ranks: ..."},
    // Some algorithms are for one host only.
    {{.operation = "all_gather", .algorithm = "native", .hosts = two_hosts}, ""},
    {{.operation = "all_gather", .algorithm = "grouped", .hosts = two_hosts}, ""},
    {{.operation = "all_gather", .algorithm = "ring_simple", .hosts = two_hosts}, ""},
    {{.operation = "all_gather", .algorithm = "ring_ll", .hosts = two_hosts}, ""},
    {{.operation = "all_gather", .algorithm = "one_process", .hosts = two_hosts}, "hosts: ..."},
    {{.operation = "all_gather", .algorithm = "threads", .hosts = two_hosts}, "hosts: ..."},
    {{.operation = "all_gather", .algorithm = "windows", .hosts = two_hosts}, "hosts: ..."},
    {{.operation = "all_gather", .algorithm = "ring_ll128", .hosts = two_hosts}, "hosts: ..."},
    {{.operation = "all_gather", .algorithm = "pat_simple", .hosts = two_hosts},
     "algorithm: NCCL has PAT only..."},
    {{.operation = "all_gather", .algorithm = "pat_simple", .hosts = {0, 1, 2, 3}}, ""},
    {{.operation = "all_gather",
      .algorithm = "pat_simple",
      .hosts = {0, 1, 0, 2},
      .shares_devices = true},
     "algorithm: NCCL has PAT only..."},
    {{.operation = "all_gather", .hosts = {0, 1, 0, 2}, .devices = 2, .shares_devices = true},
     "hosts: NCCL takes one rank of a host on each device: ranks 0 and 2 of host 0..."},
    // Windows and registered memory.
    {{.algorithm = "windows"}, ""},
    {{.algorithm = "windows", .is_old = true}, "ncclMemAlloc: NCCL 2.17.3 has no such function"},
    {{.algorithm = "windows", .reaches_peers = false},
     "algorithm: symmetric windows need devices that reach each other's memory..."},
    {{.algorithm = "windows", .reaches_peers = false, .shares_devices = true},
     "algorithm: symmetric windows are between ranks of one host..."},
    {{.algorithm = "windows", .ranks = 1, .reaches_peers = false, .shares_devices = true},
     "ranks: with one rank, NCCL copies the data and uses no window"},
    {{.algorithm = "registered"}, ""},
    {{.algorithm = "registered", .hosts = two_hosts}, ""},
    {{.algorithm = "registered", .hosts = two_hosts, .is_old = true},
     "ncclMemAlloc: NCCL 2.17.3 has no such function"},
    {{.algorithm = "registered", .ranks = 1},
     "ranks: with one rank, NCCL copies the data and uses no registered memory"},
    // LL128 needs NVLink.
    {{.algorithm = "tree_ll128"}, ""},
    {{.algorithm = "tree_ll128", .has_nvlink = false},
     "algorithm: LL128 is safe only over NVLink..."},
    {{.algorithm = "tree_simple", .has_nvlink = false}, ""},
    {{.algorithm = "tree_ll", .has_nvlink = false}, ""},
    {{.algorithm = "native", .has_nvlink = false}, ""},
    {{.algorithm = "one_process", .has_nvlink = false}, ""},
    // Old devices move 8-bit floats and do not add them up.
    {{.type = f8, .least_capability = 89},
     "type: NCCL reduces 8-bit floats from compute capability 9.0 on"},
    {{.type = f8, .least_capability = 90}, ""},
    {{.operation = "all_gather", .type = f8, .least_capability = 89}, ""},
    {{.operation = "all_gather", .type = f8, .least_capability = 90}, ""}};

TEST(NcclRefusalsTest, SayWhatIsMissing) {
  for (std::size_t row = 0; row < refusals.size(); ++row) {
    const auto& [asked, why] = refusals[row];
    std::string got = asked.why_refused();
    if (why.ends_with("...")) got = got.substr(0, why.size() - 3) + "...";
    EXPECT_EQ(got, why) << "row " << row << ": " << asked.operation << " by " << asked.algorithm;
  }
}

TEST(NcclRefusalsTest, KeepPatFromReductionsThatScale) {
  Asked asked{.operation = "reduce_scatter", .algorithm = "pat_simple", .shares_devices = true};
  EXPECT_EQ(asked.why_refused(), "");
  for (const spec::ReduceOp op : {spec::ReduceOp::avg, spec::ReduceOp::premul_sum}) {
    asked.op = op;
    EXPECT_EQ(asked.why_refused(), "op: NCCL's PAT has neither avg nor premul_sum");
    asked.algorithm = "ring_simple";
    EXPECT_EQ(asked.why_refused(), "");
    asked.algorithm = "pat_simple";
  }
}

TEST(NcclAlgorithmsTest, AreWhatTheirEnvironmentSays) {
  for (const Algorithm& each : algorithms()) {
    const auto environment = each.environment();
    if (each.forcing) {
      const std::string function = each.forcing->function + ":";
      EXPECT_EQ(environment.at("NCCL_ALGO"), function + each.forcing->algorithm);
      EXPECT_EQ(environment.at("NCCL_PROTO"), function + each.forcing->protocol);
      EXPECT_EQ("nccl" + each.forcing->function, each.functions.front());
    } else {
      EXPECT_EQ(environment.empty(), !each.one_process && !each.registered) << each.name;
    }
  }
  EXPECT_EQ(find_algorithm("all_reduce", "")->name, "native");
  EXPECT_EQ(find_algorithm("all_reduce", "grouped"), nullptr);
}

/// Three ranks of this process, on devices of the host.
class NcclRuntimeTest : public testing::Test {
 protected:
  /// An all_reduce of one element by all ranks.
  [[nodiscard]] Request all_reduce(const char* algorithm) const {
    return {*find_algorithm("all_reduce", algorithm),
            reference::contract_named("all_reduce"),
            sum_,
            group_};
  }
  /// The call with an element that holds the number of its rank. Its buffers lie in memory of 64
  /// bytes per rank, at an odd place. Beside it, there is memory with other numbers.
  [[nodiscard]] GroupCall make_call(const Request& request) {
    devices_->begin();
    GroupCall made{request, {}};
    for (int rank = 0; rank < ranks_; ++rank) {
      const auto memory_with = [&](int number) {
        std::byte* const memory = devices_->allocate(rank, 64);
        devices_->write(rank, &number, memory + 20, sizeof(number));
        return memory;
      };
      std::byte* const memory = memory_with(rank);
      made.members.push_back(
          {.group_rank = rank,
           .extents = extents_of(request.contract, sum_, rank),
           .send = memory + 20,
           .recv = memory + 40,
           .place = {.memory = memory, .bytes = 64, .offset = 128, .window_bytes = 4096},
           .others = {memory_with(100 + rank), memory_with(100 + rank)}});
    }
    return made;
  }
  /// The result of each rank.
  [[nodiscard]] std::vector<int> results(const GroupCall& made) {
    std::vector<int> all;
    for (const Member& each : made.members) {
      devices_->read(each.group_rank, each.recv, &all.emplace_back(), sizeof(int));
    }
    return all;
  }
  /// Makes the call, and returns the result of each rank.
  [[nodiscard]] std::vector<int> results(const Request& request) {
    Runtime runtime(stand_in(), *devices_, world_);
    const GroupCall made = make_call(request);
    runtime.prepare(request);
    runtime.make_ready({&made, 1});
    runtime.perform({&made, 1});
    return results(made);
  }
  void plant(const char* fault) { ::setenv("RANKCHECK_STAND_IN", fault, 1); }
  void TearDown() override { ::unsetenv("RANKCHECK_STAND_IN"); }

  static constexpr int ranks_ = 3;
  const spec::Call sum_{
      .ranks = ranks_, .type = spec::Type::int32, .op = spec::ReduceOp::sum, .count = 1};
  const std::vector<int> group_{0, 1, 2};
  const std::unique_ptr<Devices> devices_ = make_host_devices(ranks_);
  World world_ = world_of(ranks_);
};

TEST_F(NcclRuntimeTest, ForgetsAGroupWhoseSplitFailed) {
  Runtime runtime(stand_in(), *devices_, world_);
  const spec::Call call{.ranks = 2};
  const std::vector<int> group{2, 0};
  const Request request{
      *find_algorithm("barrier", ""), reference::contract_named("barrier"), call, group};
  plant("no_split");
  EXPECT_THROW(runtime.prepare(request), Error);
  plant("");
  std::vector<Member> members{{.group_rank = 0, .extents = {}}, {.group_rank = 1, .extents = {}}};
  devices_->begin();
  runtime.prepare(request);
  const GroupCall made{request, members};
  runtime.perform({&made, 1});
  EXPECT_EQ(runtime.conclude(request, members), "by_all_reduce");
}

TEST_F(NcclRuntimeTest, CallsMayBeUnderWayTogether) {
  Runtime runtime(stand_in(), *devices_, world_);
  const GroupCall first = make_call(all_reduce("one_process"));
  GroupCall second = first;
  for (Member& each : second.members) each.recv += sizeof(int);
  runtime.prepare(first.request);
  runtime.start({&first, 1});
  runtime.start({&second, 1});
  runtime.finish();
  EXPECT_EQ(results(first), (std::vector{3, 3, 3}));
  EXPECT_EQ(results(second), (std::vector{3, 3, 3}));
}

TEST_F(NcclRuntimeTest, EachRankMayHaveAThread) {
  EXPECT_EQ(results(all_reduce("threads")), (std::vector{3, 3, 3}));
}

/// Nobody can end a thread that the library keeps.
TEST_F(NcclRuntimeTest, GivesUpWaitingForAThreadThatTheLibraryKeeps) {
  world_.patience = std::chrono::milliseconds(50);
  Runtime runtime(stand_in(), *devices_, world_);
  const GroupCall made = make_call(all_reduce("threads"));
  runtime.prepare(made.request);
  plant("stuck");
  EXPECT_THROW(runtime.perform({&made, 1}), Hang);
}

TEST_F(NcclRuntimeTest, CallsKeepTheirPlaceOnTheStream) {
  Runtime runtime(stand_in(), *devices_, world_);
  const GroupCall made = make_call(all_reduce("one_process"));
  runtime.prepare(made.request);
  const int late = 20;
  int kept = -1;
  devices_->pause(0);
  devices_->copy(0, &late, made.members[0].send, sizeof(late));
  runtime.perform({&made, 1},
                  [&] { devices_->copy(0, made.members[0].recv, &kept, sizeof(kept)); });
  EXPECT_EQ(kept, late + 1 + 2);
}

TEST_F(NcclRuntimeTest, GroupsCallAtTheSameTime) {
  Runtime runtime(stand_in(), *devices_, world_);
  const spec::Contract& contract = reference::contract_named("barrier");
  const Algorithm& algorithm = *find_algorithm("barrier", "");
  const spec::Call pair{.ranks = 2};
  const spec::Call alone{.ranks = 1};
  const std::vector<int> first{2, 0};
  const std::vector<int> second{1};
  std::vector<GroupCall> calls;
  calls.push_back({{algorithm, contract, pair, first},
                   {{.group_rank = 0, .extents = {}}, {.group_rank = 1, .extents = {}}}});
  calls.push_back({{algorithm, contract, alone, second}, {{.group_rank = 0, .extents = {}}}});
  devices_->begin();
  for (const GroupCall& each : calls) runtime.prepare(each.request);
  runtime.perform(calls);
  for (int slot = 0; slot < ranks_; ++slot) EXPECT_TRUE(devices_->is_done(slot));
}

/// A rank alone takes no algorithm that packs. It calls beside the groups that pack.
TEST_F(NcclRuntimeTest, GroupsThatPackCallBesideGroupsThatDoNot) {
  Runtime runtime(stand_in(), *devices_, world_);
  const spec::Contract& contract = reference::contract_named("all_reduce_list");
  const auto call_of = [](int members) {
    return spec::Call{.ranks = members,
                      .type = spec::Type::int32,
                      .op = spec::ReduceOp::sum,
                      .counts = {1, 2},
                      .gap = 1};
  };
  const std::array groups{std::vector<int>{2, 0}, std::vector<int>{1}};
  const std::array sums{call_of(2), call_of(1)};
  constexpr std::array algorithms{"packed", "grouped"};
  devices_->begin();
  std::vector<GroupCall> calls;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    GroupCall& call = calls.emplace_back(GroupCall{
        {*find_algorithm("all_reduce_list", algorithms[g]), contract, sums[g], groups[g]}, {}});
    for (int member = 0; member < sums[g].ranks; ++member) {
      const int rank = groups[g][static_cast<std::size_t>(member)];
      const std::array<int, 5> list{rank, -1, rank + 10, rank + 20, -1};
      std::byte* const memory = devices_->allocate(rank, 2 * sizeof(list));
      devices_->write(rank, list.data(), memory, sizeof(list));
      devices_->write(rank, list.data(), memory + sizeof(list), sizeof(list));
      call.members.push_back({.group_rank = member,
                              .extents = extents_of(contract, sums[g], member),
                              .send = memory,
                              .recv = memory + sizeof(list)});
    }
  }
  for (const GroupCall& each : calls) runtime.prepare(each.request);
  runtime.perform(calls);
  for (const GroupCall& call : calls) {
    const bool is_alone = call.members.size() == 1;
    const std::array<int, 5> expected =
        is_alone ? std::array<int, 5>{1, -1, 11, 21, -1} : std::array<int, 5>{2, -1, 22, 42, -1};
    for (const Member& each : call.members) {
      std::array<int, 5> got{};
      std::memcpy(got.data(), each.recv, sizeof(got));
      EXPECT_EQ(got, expected);
    }
  }
}

/// Sees the calls for windows and memory.
class NcclWindowsTest : public NcclRuntimeTest {
 protected:
  /// The successful calls for windows since this test began.
  [[nodiscard]] std::string window_calls() const { return all_calls().substr(calls_before_); }

  const Request windows_ = all_reduce("windows");
  const Request registered_ = all_reduce("registered");

 private:
  static std::string all_calls() {
    const auto calls = reinterpret_cast<const char* (*)()>(
        stand_in().loaded().symbol("rankcheck_nccl_window_calls"));
    return calls();
  }

  const std::size_t calls_before_ = all_calls().size();
};

TEST_F(NcclWindowsTest, AreOpenedForACallAndClosedBehindIt) {
  Runtime runtime(stand_in(), *devices_, world_);
  const GroupCall made = make_call(windows_);
  runtime.prepare(windows_);
  runtime.make_ready({&made, 1});
  const std::string opened = "alloc alloc alloc register register register ";
  EXPECT_EQ(window_calls(), opened);
  runtime.perform({&made, 1});
  EXPECT_EQ(window_calls(), opened + "deregister free deregister free deregister free ");
  EXPECT_EQ(results(made), (std::vector{3, 3, 3}));
  EXPECT_EQ(runtime.conclude(windows_, made.members), "windows");
}

TEST_F(NcclWindowsTest, MemoryIsRegisteredForACall) {
  EXPECT_EQ(results(registered_), (std::vector{3, 3, 3}));
  const std::string once = "comm_deregister free ";
  EXPECT_EQ(window_calls(),
            "alloc alloc alloc comm_register comm_register comm_register " + once + once + once);
}

TEST_F(NcclWindowsTest, MemoryIsMissedIfNcclRegistersNothing) {
  ::setenv("NCCL_LOCAL_REGISTER", "0", 1);
  EXPECT_THROW(static_cast<void>(results(registered_)), NoWindow);
  ::unsetenv("NCCL_LOCAL_REGISTER");
  EXPECT_EQ(window_calls(), "alloc alloc alloc free free free ");
}

TEST_F(NcclRuntimeTest, AGraphIsLaunchedWithOtherDataFirst) {
  EXPECT_EQ(results(all_reduce("graph")), (std::vector{3, 3, 3}));
  plant("kept_input");
  EXPECT_EQ(results(all_reduce("graph")), (std::vector{303, 303, 303}));
}

/// Every rank takes from its peers what they sent in the launch before.
TEST_F(NcclRuntimeTest, AGraphMayContainTheCallSeveralTimes) {
  Request request = all_reduce("graph");
  request.captured = 3;
  EXPECT_EQ(results(request), (std::vector{3, 3, 3}));
  plant("kept_flags");
  EXPECT_EQ(results(request), (std::vector{203, 203, 203}));
}

TEST_F(NcclRuntimeTest, AGroupLooksAtTheResultOfEachCommunicatorInItsTurn) {
  Request request = all_reduce("aggregated");
  EXPECT_EQ(results(request), (std::vector{3, 3, 3}));
  request.on_second = true;
  EXPECT_EQ(results(request), (std::vector{3, 3, 3}));
  plant("newest_communicator");
  EXPECT_EQ(results(request), (std::vector{3, 3, 2}));
  request.on_second = false;
  EXPECT_EQ(results(request), (std::vector{3, 3, 3}));
}

TEST_F(NcclRuntimeTest, AGroupLooksAtTheResultOfTheOtherOperation) {
  plant("operations_of_a_group");
  EXPECT_EQ(complaint_of<std::runtime_error>([&] { return results(all_reduce("aggregated")); }),
            "in the same group, ncclAllGather gave rank 2 the number 1001 at place 0, "
            "expected 1000");
}

/// NCCL registers nothing, and returns no error, if it does not support symmetric memory.
TEST_F(NcclWindowsTest, AreMissedIfNcclGivesNone) {
  Runtime runtime(stand_in(), *devices_, world_);
  const GroupCall made = make_call(windows_);
  runtime.prepare(windows_);
  plant("no_window");
  EXPECT_THROW(runtime.make_ready({&made, 1}), NoWindow);
  EXPECT_EQ(window_calls(), "alloc alloc alloc free free free ");
}

TEST_F(NcclWindowsTest, AreClosedWithTheRuntimeIfNobodyMadeTheCall) {
  {
    Runtime runtime(stand_in(), *devices_, world_);
    const GroupCall made = make_call(windows_);
    runtime.make_ready({&made, 1});
  }
  EXPECT_NE(window_calls().find("deregister free deregister free deregister free "),
            std::string::npos);
}

/// The kernels that hang still use the memory.
TEST_F(NcclWindowsTest, StayOpenIfACallHangs) {
  {
    world_.patience = std::chrono::milliseconds(50);
    Runtime runtime(stand_in(), *devices_, world_);
    const GroupCall made = make_call(windows_);
    runtime.make_ready({&made, 1});
    plant("hang");
    EXPECT_THROW(runtime.perform({&made, 1}), Hang);
  }
  EXPECT_EQ(window_calls(), "alloc alloc alloc register register register ");
}

/// Uses more groups than the runtime keeps: the same ranks in every order.
TEST(NcclGroupsTest, AreMoreThanTheRuntimeKeeps) {
  constexpr int ranks = 5;
  const auto devices = make_host_devices(ranks);
  Runtime runtime(stand_in(), *devices, world_of(ranks));
  const Algorithm& algorithm = *find_algorithm("broadcast", "native");
  const spec::Contract& contract = reference::contract_named("broadcast");
  std::vector<int> group(ranks);
  std::iota(group.begin(), group.end(), 0);
  do {
    const spec::Call call{.ranks = ranks, .root = 2, .type = spec::Type::int32, .count = 1};
    const Request request{algorithm, contract, call, group};
    devices->begin();
    std::vector<Member> members;
    for (int g = 0; g < ranks; ++g) {
      const int slot = runtime.slot_of(group[static_cast<std::size_t>(g)]);
      std::byte* const memory = devices->allocate(slot, sizeof(slot));
      devices->write(slot, &slot, memory, sizeof(slot));
      members.push_back({.group_rank = g, .extents = extents_of(contract, call, g)});
      members.back().send = g == call.root ? memory : nullptr;
      members.back().recv = memory;
    }
    runtime.forget_groups();
    runtime.prepare(request);
    const GroupCall made{request, members};
    runtime.perform({&made, 1});
    EXPECT_EQ(runtime.conclude(request, members), "native");
    for (const Member& each : members) {
      int got = -1;
      std::memcpy(&got, each.recv, sizeof(got));
      ASSERT_EQ(got, group[2]);
    }
  } while (std::next_permutation(group.begin(), group.end()));
}

}  // namespace
}  // namespace rankcheck::gpu::nccl

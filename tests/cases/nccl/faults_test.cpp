#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"

#include "tests/cases/planted_fault.hpp"

/// Tests that `rankcheck run --backend nccl` reports a library with faults; see
/// tests/gpu/device/nccl/stand_in.cpp.
namespace rankcheck {
namespace {

using tests::agrees;
using tests::crashed;
using tests::falsified;
using tests::hung;
using tests::PlantedRun;

/// The worker gives up before the time of `--timeout` is over, and names the call.
constexpr std::string_view soon_over = "--cases 20 --ranks 2..3 --timeout 2";

class FaultyLibraryOfNcclTest : public tests::CliTest {
 protected:
  /// Runs the program on the library with these faults.
  tests::Outcome run_with(const std::string& faults, const std::string& arguments) {
    return shell("RANKCHECK_STAND_IN=" + faults + " " + program_ + " " + arguments +
                 " --nccl-library " + harness::shell_quoted(RANKCHECK_STAND_IN_NCCL));
  }
};

class FaultyNcclTest : public FaultyLibraryOfNcclTest,
                       public testing::WithParamInterface<PlantedRun> {};

TEST_P(FaultyNcclTest, IsFoundAndShrinks) {
  const tests::Outcome outcome = run_with(GetParam().planted(), GetParam().arguments("nccl"));
  ASSERT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  GetParam().expect_found("nccl", outcome, report("out"));
}

INSTANTIATE_TEST_SUITE_P(
    Planted,
    FaultyNcclTest,
    testing::Values(
        // The first fault is one of all reductions, the second one of all broadcasts.
        PlantedRun{"drop_rank",
                   {{"drop_rank", "all_reduce", "native"},
                    {"drop_rank", "all_reduce", "threads"},
                    {"drop_rank", "all_reduce", "one_process"},
                    {"drop_rank", "all_reduce_list", "packed"},
                    {"wrong_root", "broadcast", "native"},
                    {"wrong_root", "broadcast_list", "packed"},
                    {"past_end",
                     "all_gather",
                     "native",
                     agrees,
                     falsified("1 bytes past the end of recv")}}},
        // The order of a group does not matter to a sum.
        PlantedRun{
            "flipped_bit",
            {{"flipped_bit", "all_reduce", "native"}, {"group_order", "all_gather", "native"}}},
        PlantedRun{"mean_for_sum",
                   {{"mean_for_sum", "reduce", "native"},
                    {"mean_for_sum", "reduce_list", "packed"},
                    {"error_code",
                     "all_reduce",
                     "native",
                     agrees,
                     falsified("ncclAllReduce: invalid argument")},
                    {"kept_input", "broadcast", "graph"},
                    {"symmetric_granularity",
                     "all_gather",
                     "windows",
                     agrees,
                     falsified("1 bytes past")}}},
        PlantedRun{
            "off_root",
            {{"off_root",
              "reduce",
              "native",
              agrees,
              falsified("of recv, which is no part of the output")},
             {"kept_flags", "all_reduce", "graph"},
             {"unaligned_window", "all_reduce", "windows"},
             {"operations_of_a_group", "scatter", "aggregated", agrees, falsified("")},
             {"other_path", "all_reduce", "tree_ll", agrees, falsified("AllReduce took NVLS/LL")}}},
        PlantedRun{"unscaled",
                   {{"unscaled", "reduce_scatter", "native"},
                    {"plan_not_launched",
                     "all_to_all",
                     "aggregated",
                     agrees,
                     falsified("in the same group")},
                    {"silent_log",
                     "all_gather",
                     "ring_simple",
                     agrees,
                     falsified("log shows no AllGather")},
                    {"no_wait",
                     "barrier",
                     "by_all_reduce",
                     "separates_ranks",
                     falsified("left before rank")}}},
        PlantedRun{"registered_memory", {{"registered_memory", "all_reduce", "registered"}}},
#ifndef __SANITIZE_THREAD__
        // These faults are data races, for which the thread sanitizer ends the worker.
        PlantedRun{"early", {{"early", "all_gather", "native", agrees, falsified("")}}},
        PlantedRun{"overtakes", {{"overtakes", "all_reduce", "native"}}},
        // Only a case that is pending has work behind the call, which the result does not wait for.
        PlantedRun{"early_for_stream",
                   {{"early_for_stream", "broadcast", "native", agrees, falsified("")}}},
#endif
        PlantedRun{"system_error",
                   {{"system_error",
                     "all_reduce",
                     "native",
                     agrees,
                     crashed("ncclAllReduce: unhandled system error")}}},
        PlantedRun{"async_error",
                   {{"async_error",
                     "all_reduce",
                     "native",
                     agrees,
                     crashed("ncclAllReduce: an asynchronous error")}}},
        PlantedRun{"abort",
                   {{"abort", "all_reduce", "native", agrees, crashed("died")}},
                   PlantedRun().options,
                   PlantedRun::default_replays},
        PlantedRun{"hang",
                   {{"hang",
                     "all_reduce",
                     "native",
                     agrees,
                     hung("ncclAllReduce did not finish in time")}},
                   soon_over},
        PlantedRun{"stuck",
                   {{"stuck",
                     "all_reduce",
                     "threads",
                     agrees,
                     hung("ncclAllReduce did not return in time")}},
                   soon_over},
        PlantedRun{"world_group",
                   {{"world_group", "all_reduce", "native", "groups_at_once"}},
                   // With other seeds, the rank alone launches a graph, and all wait for ever.
                   "--cases 20 --ranks 3..3 --seed 2 --timeout 5"},
        // One graph in eight has many calls.
        PlantedRun{"kept_input_of_many",
                   {{"kept_input_of_many", "all_gather", "graph"}},
                   "--cases 200 --ranks 2..3"},
        PlantedRun{"newest_communicator",
                   {{"newest_communicator", "all_reduce", "aggregated"}},
                   // With more ranks, communicators may be dropped and made anew in another order.
                   "--cases 20 --ranks 2..2"},
        PlantedRun{"bad_end",
                   {{"bad_end",
                     "gather",
                     "native",
                     agrees,
                     {.verdict = "crashed", .says = "after the last run: ", .has_case = false}}}}),
    tests::name_of_run);

/// Faults that only one algorithm shows.
TEST_F(FaultyLibraryOfNcclTest, ShowsFaultsThatNativeCallsDoNot) {
  const tests::Outcome outcome = run_with(
      "unaligned_window,symmetric_granularity,registered_memory,kept_input,kept_flags,"
      "kept_input_of_many,plan_not_launched,operations_of_a_group,newest_communicator",
      "run --backend nccl --algorithm native --cases 20 --ranks 2..3 "
      "--property agrees_with_reference --report out "
      "--operation all_reduce,all_gather,broadcast,all_to_all,scatter");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

using CommunicatorsOfNcclTest = tests::CliTest;

/// The second of two communicators makes the call under test if the seed is odd.
TEST_F(CommunicatorsOfNcclTest, AreLookedAtInTurn) {
  const auto replayed = [this](std::string_view fault, int seed) {
    return shell("RANKCHECK_STAND_IN=" + std::string(fault) + " " + program_ +
                 " replay --times 1 --nccl-library " +
                 harness::shell_quoted(RANKCHECK_STAND_IN_NCCL) +
                 R"( '{"operation":"all_reduce","backend":"nccl","algorithm":"aggregated",)"
                 R"("ranks":2,"count":2,"type":"int32","op":"sum","input":"exact","data_seed":)" +
                 std::to_string(seed) + "}'");
  };
  for (const int seed : {1, 2}) {
    const tests::Outcome right = replayed("", seed);
    EXPECT_EQ(right.status, 0) << right.out << right.err;
  }
  EXPECT_EQ(replayed("newest_communicator", 2).status, 0);
  const tests::Outcome wrong = replayed("newest_communicator", 1);
  EXPECT_EQ(wrong.status, 1) << wrong.out << wrong.err;
  EXPECT_NE(wrong.out.find("differs from the reference"), std::string::npos) << wrong.out;
}

using HostsOfNcclTest = tests::CliTest;

TEST_F(HostsOfNcclTest, ShowFaultsBetweenHosts) {
  const std::string options =
      " run --backend nccl --operation all_reduce --algorithm native --cases 20 "
      "--property agrees_with_reference --replays 1 --nccl-library " +
      harness::shell_quoted(RANKCHECK_STAND_IN_NCCL);
  const std::string planted = "RANKCHECK_STAND_IN=between_hosts " + program_ + options;
  EXPECT_EQ(shell(planted + " --ranks 3 --report one").status, 0);
  const tests::Outcome outcome = shell(planted + " --hosts 0,1,0 --report several");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  const nlohmann::json finding = report("several").at("findings").at(0);
  EXPECT_EQ(finding.at("verdict"), "falsified") << finding;
  EXPECT_FALSE(finding.at("minimal").at("hosts").empty()) << finding;
}

using PinnedForNcclTest = tests::CliTest;

/// NCCL before 2.29.7 has this published defect. Few generated cases would show it.
TEST_F(PinnedForNcclTest, FindTheTailThatASingleRankLoses) {
  const std::string options =
      " run --backend nccl --operation all_reduce --algorithm native --cases 1 --ranks 1 "
      "--property agrees_with_reference --replays 1 --nccl-library " +
      harness::shell_quoted(RANKCHECK_STAND_IN_NCCL) + " --report ";
  EXPECT_EQ(shell(program_ + options + "right").status, 0);
  EXPECT_EQ(shell("RANKCHECK_STAND_IN=one_rank_tail " + program_ + options + "wrong").status, 1);
  int found = 0;
  const nlohmann::json findings = report("wrong").at("findings");
  for (const nlohmann::json& each : findings) {
    const bool is_pinned = each.at("id").get<std::string>().find("/one_rank_") != std::string::npos;
    EXPECT_EQ(each.at("verdict") == "falsified", is_pinned) << each;
    found += is_pinned ? 1 : 0;
  }
  EXPECT_EQ(found, 2);
}

}  // namespace
}  // namespace rankcheck

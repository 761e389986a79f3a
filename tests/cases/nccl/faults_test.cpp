#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/planted_fault.hpp"

/// Tests that `rankcheck run --backend nccl` reports a library with faults; see
/// tests/gpu/device/nccl/stand_in.cpp.
namespace rankcheck {
namespace {

using tests::crashed;
using tests::falsified;
using tests::fault;
using tests::hung;
using tests::Outcome;
using tests::planted_run;
using tests::PlantedRun;

/// The worker gives up before the time of `--timeout` is over, and names the call.
constexpr std::string_view soon_over = "--cases 20 --ranks 2..3 --timeout 2";

class FaultyLibraryOfNcclTest : public tests::CliTest {
 protected:
  /// Runs the program on the library with these faults. Expects the exit status.
  Outcome run_with(const std::string& faults, const std::string& arguments, int status) {
    return with("RANKCHECK_STAND_IN=" + faults,
                arguments + " --nccl-library " + harness::shell_quoted(RANKCHECK_STAND_IN_NCCL),
                status);
  }
};

class FaultyNcclTest : public FaultyLibraryOfNcclTest,
                       public testing::WithParamInterface<PlantedRun> {};

TEST_P(FaultyNcclTest, IsFoundAndShrinks) {
  const Outcome outcome = run_with(GetParam().planted(), GetParam().arguments("nccl"), 1);
  GetParam().expect_found("nccl", outcome, report("out"));
}

INSTANTIATE_TEST_SUITE_P(
    Planted,
    FaultyNcclTest,
    testing::Values(
        // The first fault is one of all reductions, the second one of all broadcasts.
        planted_run(
            {fault("drop_rank", "all_reduce/native"),
             fault("drop_rank", "all_reduce/threads"),
             fault("drop_rank", "all_reduce/one_process"),
             fault("drop_rank", "all_reduce_list/packed"),
             fault("wrong_root", "broadcast/native"),
             fault("wrong_root", "broadcast_list/packed"),
             fault("past_end", "all_gather/native", falsified("1 bytes past the end of recv"))}),
        // The order of a group does not matter to a sum.
        planted_run({fault("flipped_bit", "all_reduce/native"),
                     fault("group_order", "all_gather/native")}),
        planted_run(
            {fault("mean_for_sum", "reduce/native"),
             fault("mean_for_sum", "reduce_list/packed"),
             fault("error_code", "all_reduce/native", falsified("ncclAllReduce: invalid argument")),
             fault("kept_input", "broadcast/graph"),
             fault("symmetric_granularity", "all_gather/windows", falsified("1 bytes past"))}),
        planted_run(
            {fault(
                 "off_root", "reduce/native", falsified("of recv, which is no part of the output")),
             fault("kept_flags", "all_reduce/graph"),
             fault("unaligned_window", "all_reduce/windows"),
             fault("operations_of_a_group", "scatter/aggregated", falsified("")),
             fault("other_path", "all_reduce/tree_ll", falsified("AllReduce took NVLS/LL"))}),
        planted_run(
            {fault("unscaled", "reduce_scatter/native"),
             fault("plan_not_launched", "all_to_all/aggregated", falsified("in the same group")),
             fault("silent_log", "all_gather/ring_simple", falsified("log shows no AllGather")),
             fault("no_wait",
                   "barrier/by_all_reduce/separates_ranks",
                   falsified("left before rank"))}),
        planted_run({fault("registered_memory", "all_reduce/registered")}),
#ifndef __SANITIZE_THREAD__
        // These faults are data races, for which the thread sanitizer ends the worker.
        planted_run({fault("early", "all_gather/native", falsified(""))}),
        planted_run({fault("overtakes", "all_reduce/native")}),
        // Only a case that is pending has work behind the call, which the result does not wait for.
        planted_run({fault("early_for_stream", "broadcast/native", falsified(""))}),
#endif
        planted_run({fault("system_error",
                           "all_reduce/native",
                           crashed("ncclAllReduce: unhandled system error"))}),
        planted_run({fault(
            "async_error", "all_reduce/native", crashed("ncclAllReduce: an asynchronous error"))}),
        planted_run({fault("abort", "all_reduce/native", crashed("died"))},
                    PlantedRun().options,
                    PlantedRun::default_replays),
        planted_run(
            {fault("hang", "all_reduce/native", hung("ncclAllReduce did not finish in time"))},
            soon_over),
        planted_run(
            {fault("stuck", "all_reduce/threads", hung("ncclAllReduce did not return in time"))},
            soon_over),
        // With other seeds, the rank alone launches a graph, and all wait for ever.
        planted_run({fault("world_group", "all_reduce/native/groups_at_once")},
                    "--cases 20 --ranks 3..3 --seed 2 --timeout 5"),
        // One graph in eight has many calls.
        planted_run({fault("kept_input_of_many", "all_gather/graph")}, "--cases 200 --ranks 2..3"),
        // With more ranks, communicators may be dropped and made anew in another order.
        planted_run({fault("newest_communicator", "all_reduce/aggregated")},
                    "--cases 20 --ranks 2..2"),
        planted_run(
            {fault("bad_end",
                   "gather/native",
                   {.verdict = "crashed", .says = "after the last run: ", .has_case = false})})),
    tests::name_of_run);

/// Faults that only one algorithm shows.
TEST_F(FaultyLibraryOfNcclTest, ShowsFaultsThatNativeCallsDoNot) {
  run_with(
      "unaligned_window,symmetric_granularity,registered_memory,kept_input,kept_flags,"
      "kept_input_of_many,plan_not_launched,operations_of_a_group,newest_communicator",
      "run --backend nccl --algorithm native --cases 20 --ranks 2..3 "
      "--property agrees_with_reference --report out "
      "--operation all_reduce,all_gather,broadcast,all_to_all,scatter",
      0);
}

/// A reduction is wrong if the call before on its communicator was one of another function.
TEST_F(FaultyLibraryOfNcclTest, ShowsAFaultOnlyBehindOtherCalls) {
  const std::string run =
      "run all --backend nccl --jobs 1 --algorithm native --operation all_reduce --ranks 2..3 "
      "--cases 20 --overwrite --report out --property ";
  run_with("behind_other", run + "agrees_with_reference", 0);
  run_with("behind_other", run + "repeats_with_other_data", 0);
  run_with("behind_other", run + "is_independent_of_history", 1);
  const nlohmann::json smallest = findings("out").at(0).at("minimal");
  EXPECT_LE(smallest.at("ranks"), 2) << smallest;
  EXPECT_EQ(smallest.at("earlier").size(), 1U) << smallest;
}

/// The second of two communicators makes the call under test if the seed is odd.
TEST_F(FaultyLibraryOfNcclTest, HasCommunicatorsThatAreLookedAtInTurn) {
  const auto replay = [this](const std::string& faults, int seed, int status) {
    return run_with(
        faults,
        R"(replay --times 1 '{"operation":"all_reduce","backend":"nccl","algorithm":"aggregated",)"
        R"("ranks":2,"count":2,"type":"int32","op":"sum","input":"exact","data_seed":)" +
            std::to_string(seed) + "}'",
        status);
  };
  replay("", 1, 0);
  replay("", 2, 0);
  replay("newest_communicator", 2, 0);
  EXPECT_TRUE(has(replay("newest_communicator", 1, 1).out, "differs from the reference"));
}

const std::string native_sums =
    "run --backend nccl --operation all_reduce --algorithm native --property agrees_with_reference "
    "--replays 1 ";

TEST_F(FaultyLibraryOfNcclTest, ShowsFaultsBetweenHosts) {
  run_with("between_hosts", native_sums + "--cases 20 --ranks 3 --report one", 0);
  run_with("between_hosts", native_sums + "--cases 20 --hosts 0,1,0 --report several", 1);
  const nlohmann::json finding = findings("several").at(0);
  EXPECT_EQ(finding.at("verdict"), "falsified") << finding;
  EXPECT_FALSE(finding.at("minimal").at("hosts").empty()) << finding;
}

/// NCCL before 2.29.7 has this published defect. Few generated cases would show it.
TEST_F(FaultyLibraryOfNcclTest, LosesTheTailOfASingleRankInPinnedCases) {
  run_with("", native_sums + "--cases 1 --ranks 1 --report right", 0);
  run_with("one_rank_tail", native_sums + "--cases 1 --ranks 1 --report wrong", 1);
  int found = 0;
  for (const nlohmann::json& each : findings("wrong")) {
    const bool is_pinned = each.at("id").get<std::string>().find("/one_rank_") != std::string::npos;
    EXPECT_EQ(each.at("verdict") == "falsified", is_pinned) << each;
    found += is_pinned ? 1 : 0;
  }
  EXPECT_EQ(found, 2);
}

}  // namespace
}  // namespace rankcheck

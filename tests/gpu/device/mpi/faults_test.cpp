#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cases/backends/mpi.hpp"
#include "tests/cases/planted_fault.hpp"

/// Tests that `rankcheck run --backend mpi` reports an MPI library with faults; see faults.cpp.
/// Faults are planted together if they are in different functions, or if the unit that finds one
/// does not call the function of the other.
namespace rankcheck {
namespace {

using tests::falsified;
using tests::fault;
using tests::Outcome;
using tests::planted_run;
using tests::PlantedRun;

constexpr std::string_view on_10_cases = "--cases 10 --ranks 2..3";
constexpr std::string_view on_2_ranks = "--cases 10 --ranks 2..2";
constexpr tests::Told left_early = falsified("left before rank");
constexpr tests::Told died = tests::crashed("rank 1 died; rank 1 entered stage 0 (all_reduce)");

/// Installs the program and a worker that preloads faults.
class FaultyLibraryTest : public tests::CliTest {
 protected:
  void SetUp() override {
    const std::string why = cases::mpi_backend().why_unavailable();
    if (!why.empty()) GTEST_SKIP() << why;
    install();
  }

  /// Lets the worker preload the faults that these words name.
  void plant(const std::string& names) {
    write_script("bin/rankcheck-worker-mpi",
                 "LD_PRELOAD='" RANKCHECK_MPI_FAULTS "' RANKCHECK_PLANTED=" + names +
                     " exec '" RANKCHECK_BINARY_DIR "/rankcheck-worker-mpi'\n");
  }
};

class FaultyMpiTest : public FaultyLibraryTest, public testing::WithParamInterface<PlantedRun> {};

TEST_P(FaultyMpiTest, IsFoundAndShrinks) {
  plant(GetParam().planted());
  const Outcome outcome = rankcheck(GetParam().arguments("mpi"), 1);
  GetParam().expect_found("mpi", outcome, report("out"));
}

INSTANTIATE_TEST_SUITE_P(
    Planted,
    FaultyMpiTest,
    testing::Values(
        planted_run(
            {fault("flipped_bit", "all_reduce/blocking"),
             fault("flipped_bit", "all_reduce_list/packed"),
             fault("flipped_bit", "reduce_list/one_by_one"),
             fault("wrong_root", "broadcast/blocking"),
             fault("wrong_root", "broadcast_list/packed"),
             fault("past_end", "all_gather/blocking", falsified("1 bytes past the end of recv")),
             fault("past_scratch", "halo_replace/exchanged", falsified("a write past")),
             fault("no_waitall", "all_reduce_list/nonblocking"),
             fault("no_waitall", "reduce_list/nonblocking"),
             fault("no_waitall", "broadcast_list/nonblocking"),
             fault("old_data_again", "all_reduce/persistent"),
             fault("short_ring", "all_reduce/libnbc_ring"),
             fault("no_barrier", "barrier/blocking/separates_ranks", left_early)},
            on_10_cases),
        planted_run(
            {fault("error_code", "all_reduce/blocking", falsified("MPI_Allreduce: MPI_ERR_OTHER")),
             fault("mixed_requests", "all_reduce/nonblocking"),
             fault("mixed_requests", "send_recv/nonblocking"),
             fault("mixed_requests", "broadcast/nonblocking"),
             fault("old_data_at_the_third_start", "all_reduce/persistent"),
             fault("second_barrier", "barrier/nonblocking/separates_ranks", left_early),
             fault("third_barrier", "barrier/persistent/separates_ranks", left_early)},
            on_10_cases),
        planted_run(
            {fault("other_call",
                   "all_reduce/blocking",
                   falsified("several forms of MPI_Allreduce were called")),
             fault("other_call",
                   "all_reduce_list/one_by_one",
                   falsified("one_by_one: MPI_Iallreduce was called")),
             fault("flat_type", "gather_axis/datatypes"),
             fault("flat_type", "all_gather_axis/datatypes"),
             fault("later_barrier", "barrier/two_communicators/separates_ranks", left_early)},
            on_10_cases),
        // Only the root's next calls of some functions wait for the thread of this fault.
        planted_run({fault("late_reader", "broadcast/blocking")}, on_10_cases),
        planted_run({fault("world_group", "all_reduce/blocking/groups_at_once")},
                    "--cases 10 --ranks 3..3"),
        planted_run({fault("one_context", "all_reduce/two_communicators")},
                    on_2_ranks,
                    PlantedRun::default_replays),
        planted_run({fault("short_on_second", "all_reduce/two_communicators")}, on_2_ranks),
        planted_run({fault("abort", "all_reduce/blocking", died)}, on_10_cases),
        planted_run({fault("exit", "all_reduce/blocking", died)}, on_10_cases),
        planted_run({fault("kill", "all_reduce/blocking", died)},
                    on_10_cases,
                    PlantedRun::default_replays),
        planted_run({fault("hang",
                           "all_reduce/blocking",
                           tests::hung("rank 1 entered stage 0 (all_reduce)"))},
                    "--cases 10 --ranks 2..3 --timeout 1",
                    PlantedRun::default_replays),
        planted_run(
            {fault("bad_end",
                   "gather/blocking",
                   {.verdict = "crashed", .says = "after the last run: ", .has_case = false})},
            on_10_cases)),
    tests::name_of_run);

/// Faults of algorithms that the library rarely chooses.
TEST_F(FaultyLibraryTest, IsFoundOnlyIfTheAlgorithmIsForced) {
  plant("short_ring,one_context,short_on_second,other_order");
  passes(
      "run --backend mpi --algorithm nonblocking --operation all_reduce,gather "
      "--property agrees_with_reference --cases 10 --ranks 2..3 --report out");
}

/// Faults that show only in algorithms of which the usual call knows nothing. Most need more than
/// one element.
class FaultyPathTest : public FaultyLibraryTest, public testing::WithParamInterface<PlantedRun> {};

TEST_P(FaultyPathTest, IsFoundOnlyByItsAlgorithm) {
  plant(GetParam().planted());
  std::string usual;
  for (const tests::Fault& each : GetParam().faults)
    usual += " --unit " + std::string(each.operation) + "/blocking/mpi/agrees_with_reference";
  const Outcome outcome = rankcheck(GetParam().arguments("mpi") + usual);
  ASSERT_LE(outcome.status, 1) << outcome.out << outcome.err;
  const nlohmann::json found = report("out");
  if (GetParam().name == "torn_copy" &&
      tests::find(found, PlantedRun::unit(GetParam().faults.front(), "mpi")) == nullptr) {
    GTEST_SKIP() << "the MPI library or the machine lacks over_cma";
  }
  ASSERT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  for (const tests::Fault& each : GetParam().faults) {
    SCOPED_TRACE(std::string(each.name) + " in " + std::string(each.algorithm));
    const nlohmann::json* const finding = tests::find(found, PlantedRun::unit(each, "mpi"));
    ASSERT_NE(finding, nullptr) << outcome.out;
    expect_told(*finding, each.told);
    EXPECT_LE(finding->at("minimal").at("ranks"), 2) << *finding;
    tests::Fault by_usual = each;
    by_usual.algorithm = "blocking";
    const nlohmann::json* const usual_one = tests::find(found, PlantedRun::unit(by_usual, "mpi"));
    ASSERT_NE(usual_one, nullptr) << outcome.out;
    EXPECT_EQ(usual_one->at("verdict"), "passed") << *usual_one;
  }
}

constexpr tests::Told has_several{
    .verdict = "falsified", .says = "", .ranks_max = 2, .has_case = false};

INSTANTIATE_TEST_SUITE_P(
    Planted,
    FaultyPathTest,
    testing::Values(
        planted_run({fault("torn_copy", "broadcast/over_cma", has_several)}),
        planted_run({fault("joined_parts", "broadcast/struct", has_several),
                     fault("one_displacement", "all_to_all_v/typed", has_several),
                     fault("one_displacement", "all_to_all_v/typed_nonblocking", has_several)}),
        // Parts of other types are vectors.
        planted_run({fault("other_order", "gather/indexed", has_several),
                     fault("short_vector", "scatter/vector", has_several)}),
        // C's own types.
        planted_run({fault("wrong_int", "all_reduce/c_types", falsified("differs"))},
                    "--cases 10 --ranks 2..3 --type int32")),
    tests::name_of_run);

/// A fault that shows only if a call is repeated: memory changes under an address, or ranks run
/// ahead.
TEST_F(FaultyLibraryTest, IsFoundOnlyInRepeatedCalls) {
  // One of them is in MPI_Bcast, the other one in MPI_Ibcast.
  plant("stale_pages,newest_message");
  for (const std::string algorithm : {"blocking", "nonblocking"}) {
    const std::string begin =
        R"(replay --times 1 '{"operation":"broadcast","backend":"mpi","ranks":2,)"
        R"("count":1,"type":"int32","input":"general","late":1,)"
        R"("property":"repeats_with_other_data","algorithm":")" +
        algorithm + R"(","repeat":)";
    passes(begin + "1}'");
    EXPECT_TRUE(has(fails(begin + "8}'").out, "result of call"));
  }
}

/// A request of another function is under way, or a call writes into the memory of an earlier one.
TEST_F(FaultyLibraryTest, IsFoundOnlyBehindOtherCalls) {
  plant("late_write,other_request");
  const std::string run =
      "run --backend mpi --operation broadcast --ranks 2..3 --report out --cases ";
  passes(run + "10 --algorithm blocking,nonblocking --property agrees_with_reference");
  passes(run +
         "10 --algorithm blocking,nonblocking --property repeats_with_other_data --overwrite");
  const auto smallest = [&](const std::string& algorithm, const std::string& says) {
    const Outcome outcome = fails(
        run + "200 --property is_independent_of_history --overwrite --algorithm " + algorithm);
    const nlohmann::json finding = findings("out").at(0);
    EXPECT_TRUE(has(finding.at("reason").get<std::string>(), says)) << outcome.out;
    return finding.at("minimal");
  };
  plant("late_write");
  const nlohmann::json late = smallest("blocking", "after its end");
  EXPECT_EQ(late.at("earlier").size(), 1U) << late;
  EXPECT_TRUE(begins(late.at("earlier").at(0).at("operation").get<std::string>(), "all_reduce"));
  plant("other_request");
  const nlohmann::json mixed = smallest("nonblocking", "differs from the reference");
  EXPECT_LE(mixed.at("earlier").size(), 2U) << mixed;
  EXPECT_EQ(mixed.at("earlier").at(0).at("overlaps"), true) << mixed;
}

/// A communicator that is made anew has a message of the one before it.
TEST_F(FaultyLibraryTest, IsFoundWhenACommunicatorIsMadeAnew) {
  plant("stale_communicator");
  const std::string run =
      "run --backend mpi --operation broadcast --algorithm blocking --ranks 2 --report out ";
  passes(run + "--cases 20 --property agrees_with_reference");
  const Outcome outcome =
      fails(run + "--cases 200 --property is_independent_of_history --overwrite");
  const nlohmann::json smallest = findings("out").at(0).at("minimal");
  EXPECT_EQ(smallest.at("earlier").size(), 1U) << smallest;
  EXPECT_EQ(smallest.at("earlier").at(0).at("frees"), true) << smallest;
}

TEST_F(FaultyLibraryTest, IsFoundWhenTheCallOnItsCommunicatorIsUnderTest) {
  plant("short_on_second");
  const std::string begin =
      R"(replay --times 1 '{"operation":"all_reduce","backend":"mpi","ranks":2,"count":2,)"
      R"("type":"int32","op":"sum","input":"exact","algorithm":"two_communicators",)"
      R"("data_seed":)";
  passes(begin + "2}'");
  EXPECT_TRUE(has(fails(begin + "1}'").out, "differs from the reference"));
}

/// A fault that shows only if elements lie apart.
TEST_F(FaultyLibraryTest, IsFoundInStridedCases) {
  plant("flat_type");
  const std::string begin =
      R"(replay --times 1 '{"operation":"scatter","backend":"mpi","algorithm":"blocking",)"
      R"("ranks":2,"count":2,"type":"f32")";
  passes(begin + "}'");
  EXPECT_TRUE(has(fails(begin + R"(,"recv_stride":2}')").out,
                  "memory behind element 0 of recv was written"));
}

}  // namespace
}  // namespace rankcheck

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

using tests::agrees;
using tests::falsified;
using tests::Fault;
using tests::PlantedRun;

constexpr std::string_view on_10_cases = "--cases 10 --ranks 2..3";
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
  const tests::Outcome outcome = rankcheck(GetParam().arguments("mpi"));
  ASSERT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  GetParam().expect_found("mpi", outcome, report("out"));
}

INSTANTIATE_TEST_SUITE_P(
    Planted,
    FaultyMpiTest,
    testing::Values(
        PlantedRun{
            "results",
            {{"flipped_bit", "all_reduce", "blocking"},
             {"flipped_bit", "all_reduce_list", "packed"},
             {"flipped_bit", "reduce_list", "one_by_one"},
             {"wrong_root", "broadcast", "blocking"},
             {"wrong_root", "broadcast_list", "packed"},
             {"past_end",
              "all_gather",
              "blocking",
              agrees,
              falsified("1 bytes past the end of recv")},
             {"past_scratch", "halo_replace", "exchanged", agrees, falsified("a write past")},
             {"no_waitall", "all_reduce_list", "nonblocking"},
             {"no_waitall", "reduce_list", "nonblocking"},
             {"no_waitall", "broadcast_list", "nonblocking"},
             {"old_data_again", "all_reduce", "persistent"},
             {"short_ring", "all_reduce", "libnbc_ring"},
             {"no_barrier", "barrier", "blocking", "separates_ranks", left_early}},
            on_10_cases},
        PlantedRun{"requests",
                   {{"error_code",
                     "all_reduce",
                     "blocking",
                     agrees,
                     falsified("MPI_Allreduce: MPI_ERR_OTHER")},
                    {"mixed_requests", "all_reduce", "nonblocking"},
                    {"mixed_requests", "send_recv", "nonblocking"},
                    {"mixed_requests", "broadcast", "nonblocking"},
                    {"old_data_at_the_third_start", "all_reduce", "persistent"},
                    {"second_barrier", "barrier", "nonblocking", "separates_ranks", left_early},
                    {"third_barrier", "barrier", "persistent", "separates_ranks", left_early}},
                   on_10_cases},
        PlantedRun{
            "calls",
            {{"other_call",
              "all_reduce",
              "blocking",
              agrees,
              falsified("several forms of MPI_Allreduce were called")},
             {"other_call",
              "all_reduce_list",
              "one_by_one",
              agrees,
              falsified("one_by_one: MPI_Iallreduce was called")},
             {"flat_type", "gather_axis", "datatypes"},
             {"flat_type", "all_gather_axis", "datatypes"},
             {"later_barrier", "barrier", "two_communicators", "separates_ranks", left_early}},
            on_10_cases},
        // Only the root's next calls of some functions wait for the thread of this fault.
        PlantedRun{"late_reader", {{"late_reader", "broadcast", "blocking"}}, on_10_cases},
        PlantedRun{"world_group",
                   {{"world_group", "all_reduce", "blocking", "groups_at_once"}},
                   "--cases 10 --ranks 3..3"},
        PlantedRun{"one_context",
                   {{"one_context", "all_reduce", "two_communicators"}},
                   "--cases 10 --ranks 2..2",
                   PlantedRun::default_replays},
        PlantedRun{"short_on_second",
                   {{"short_on_second", "all_reduce", "two_communicators"}},
                   "--cases 10 --ranks 2..2"},
        PlantedRun{"abort", {{"abort", "all_reduce", "blocking", agrees, died}}, on_10_cases},
        PlantedRun{"exit", {{"exit", "all_reduce", "blocking", agrees, died}}, on_10_cases},
        PlantedRun{"kill",
                   {{"kill", "all_reduce", "blocking", agrees, died}},
                   on_10_cases,
                   PlantedRun::default_replays},
        PlantedRun{"hang",
                   {{"hang",
                     "all_reduce",
                     "blocking",
                     agrees,
                     tests::hung("rank 1 entered stage 0 (all_reduce)")}},
                   "--cases 10 --ranks 2..3 --timeout 1",
                   PlantedRun::default_replays},
        PlantedRun{"bad_end",
                   {{"bad_end",
                     "gather",
                     "blocking",
                     agrees,
                     {.verdict = "crashed", .says = "after the last run: ", .has_case = false}}},
                   on_10_cases}),
    tests::name_of_run);

/// Faults of algorithms that the library rarely chooses.
TEST_F(FaultyLibraryTest, IsFoundOnlyIfTheAlgorithmIsForced) {
  plant("short_ring,one_context,short_on_second,other_order");
  const tests::Outcome outcome = rankcheck(
      "run --backend mpi --algorithm nonblocking --operation all_reduce,gather "
      "--property agrees_with_reference --cases 10 --ranks 2..3 --report out");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

/// Faults that show only in algorithms of which the usual call knows nothing, with more than one
/// element.
class FaultyPathTest : public FaultyLibraryTest, public testing::WithParamInterface<PlantedRun> {};

TEST_P(FaultyPathTest, IsFoundOnlyByItsAlgorithm) {
  plant(GetParam().planted());
  std::string usual;
  for (const Fault& each : GetParam().faults)
    usual += " --unit " + std::string(each.operation) + "/blocking/mpi/agrees_with_reference";
  const tests::Outcome outcome = rankcheck(GetParam().arguments("mpi") + usual);
  ASSERT_LE(outcome.status, 1) << outcome.out << outcome.err;
  const nlohmann::json found = report("out");
  if (GetParam().name == "copies" &&
      tests::find(found, PlantedRun::unit(GetParam().faults.front(), "mpi")) == nullptr) {
    GTEST_SKIP() << "the MPI library or the machine lacks over_cma";
  }
  ASSERT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  for (const Fault& each : GetParam().faults) {
    SCOPED_TRACE(std::string(each.name) + " in " + std::string(each.algorithm));
    const nlohmann::json* const finding = tests::find(found, PlantedRun::unit(each, "mpi"));
    ASSERT_NE(finding, nullptr) << outcome.out;
    expect_told(*finding, each.told);
    EXPECT_LE(finding->at("minimal").at("ranks"), 2) << *finding;
    Fault by_usual = each;
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
        PlantedRun{"copies", {{"torn_copy", "broadcast", "over_cma", agrees, has_several}}},
        PlantedRun{
            "paths",
            {{"joined_parts", "broadcast", "struct", agrees, has_several},
             {"one_displacement", "all_to_all_v", "typed", agrees, has_several},
             {"one_displacement", "all_to_all_v", "typed_nonblocking", agrees, has_several}}},
        // Parts of other types are vectors.
        PlantedRun{"parts",
                   {{"other_order", "gather", "indexed", agrees, has_several},
                    {"short_vector", "scatter", "vector", agrees, has_several}}}),
    tests::name_of_run);

/// A fault of C's own types.
TEST_F(FaultyLibraryTest, IsFoundOnlyUnderTheNameOfItsType) {
  const PlantedRun run{
      "types", {{"wrong_int", "all_reduce", "c_types"}}, "--cases 10 --ranks 2..3 --type int32"};
  plant(run.planted());
  const tests::Outcome outcome =
      rankcheck(run.arguments("mpi") + " --unit all_reduce/blocking/mpi/agrees_with_reference");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  const nlohmann::json found = report("out");
  EXPECT_EQ(tests::find(found, "all_reduce/blocking/mpi/agrees_with_reference")->at("verdict"),
            "passed");
  expect_told(*tests::find(found, "all_reduce/c_types/mpi/agrees_with_reference"),
              falsified("differs"));
}

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
    const tests::Outcome once = rankcheck(begin + "1}'");
    EXPECT_EQ(once.status, 0) << once.out << once.err;
    const tests::Outcome outcome = rankcheck(begin + "8}'");
    EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
    EXPECT_NE(outcome.out.find("result of call"), std::string::npos) << outcome.out;
  }
}

TEST_F(FaultyLibraryTest, IsFoundWhenTheCallOnItsCommunicatorIsUnderTest) {
  plant("short_on_second");
  const std::string begin =
      R"(replay --times 1 '{"operation":"all_reduce","backend":"mpi","ranks":2,"count":2,)"
      R"("type":"int32","op":"sum","input":"exact","algorithm":"two_communicators",)"
      R"("data_seed":)";
  const tests::Outcome on_first = rankcheck(begin + "2}'");
  EXPECT_EQ(on_first.status, 0) << on_first.out << on_first.err;
  const tests::Outcome on_second = rankcheck(begin + "1}'");
  EXPECT_EQ(on_second.status, 1) << on_second.out << on_second.err;
  EXPECT_NE(on_second.out.find("differs from the reference"), std::string::npos) << on_second.out;
}

/// A fault that shows only if elements lie apart.
TEST_F(FaultyLibraryTest, IsFoundInStridedCases) {
  plant("flat_type");
  const std::string begin =
      R"(replay --times 1 '{"operation":"scatter","backend":"mpi","algorithm":"blocking",)"
      R"("ranks":2,"count":2,"type":"f32")";
  EXPECT_EQ(rankcheck(begin + "}'").status, 0);
  const tests::Outcome outcome = rankcheck(begin + R"(,"recv_stride":2}')");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("memory behind element 0 of recv was written"), std::string::npos)
      << outcome.out;
}

}  // namespace
}  // namespace rankcheck

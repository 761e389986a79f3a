#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "harness/files.hpp"

#include "cases/backends/mpi.hpp"
#include "tests/cases/planted_fault.hpp"

/// Tests that `rankcheck run --backend mpi` reports an MPI library with a fault; see faults.cpp.
namespace rankcheck {
namespace {

struct Fault {
  std::string_view name;
  std::string_view operation;
  std::string_view verdict;
  /// A part of the finding's reason.
  std::string_view says;
  std::string_view property = "agrees_with_reference";
  std::string_view algorithm = "blocking";
  std::string_view ranks = "2..3";
};

/// Prints a parameter for GoogleTest.
[[maybe_unused]] void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

/// Installs the program and a worker that preloads the fault.
class FaultyMpiTest : public tests::CliTest, public testing::WithParamInterface<Fault> {
 protected:
  void SetUp() override {
    const std::string why = cases::mpi_backend().why_unavailable();
    if (!why.empty()) GTEST_SKIP() << why;
    install();
    const std::filesystem::path worker = folder_.path() / "bin" / "rankcheck-worker-mpi";
    harness::write_file(worker,
                        "#!/bin/sh\nLD_PRELOAD='" RANKCHECK_MPI_FAULTS "' RANKCHECK_PLANTED=" +
                            std::string(GetParam().name) +
                            " exec '" RANKCHECK_BINARY_DIR "/rankcheck-worker-mpi'\n");
    std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
  }
};

TEST_P(FaultyMpiTest, IsFoundAndShrinks) {
  const tests::Outcome outcome = rankcheck(
      "run --backend mpi --algorithm " + std::string(GetParam().algorithm) + " --operation " +
      std::string(GetParam().operation) + " --property " + std::string(GetParam().property) +
      " --cases 10 --ranks " + std::string(GetParam().ranks) + " --timeout 0.5 --report out");
  ASSERT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  expect_found(outcome,
               report("out"),
               {.verdict = GetParam().verdict,
                .says = GetParam().says,
                .ranks_max = 3,
                .has_case = GetParam().name != "bad_end"});
}

INSTANTIATE_TEST_SUITE_P(
    Planted,
    FaultyMpiTest,
    testing::Values(
        Fault{"flipped_bit", "all_reduce", "falsified", "differs from the reference"},
        Fault{"error_code", "all_reduce", "falsified", "MPI_Allreduce: MPI_ERR_OTHER"},
        Fault{
            "other_call", "all_reduce", "falsified", "several forms of MPI_Allreduce were called"},
        Fault{"other_call",
              "all_reduce_list",
              "falsified",
              "one_by_one: MPI_Iallreduce was called",
              "agrees_with_reference",
              "one_by_one"},
        Fault{"flipped_bit",
              "all_reduce_list",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "packed"},
        Fault{"abort", "all_reduce", "crashed", "rank 1 died; rank 1 entered stage 0 (all_reduce)"},
        Fault{"exit", "all_reduce", "crashed", "rank 1 died; rank 1 entered stage 0 (all_reduce)"},
        Fault{"kill", "all_reduce", "crashed", "rank 1 died; rank 1 entered stage 0 (all_reduce)"},
        Fault{"hang", "all_reduce", "hung", "rank 1 entered stage 0 (all_reduce)"},
        Fault{"wrong_root", "broadcast", "falsified", "differs from the reference"},
        Fault{"past_end", "all_gather", "falsified", "1 bytes past the end of recv"},
        Fault{"past_scratch",
              "halo_replace",
              "falsified",
              "a write past",
              "agrees_with_reference",
              "exchanged"},
        Fault{"no_barrier", "barrier", "falsified", "left before rank", "separates_ranks"},
        Fault{"second_barrier",
              "barrier",
              "falsified",
              "left before rank",
              "separates_ranks",
              "nonblocking"},
        Fault{"later_barrier",
              "barrier",
              "falsified",
              "left before rank",
              "separates_ranks",
              "two_communicators"},
        Fault{"third_barrier",
              "barrier",
              "falsified",
              "left before rank",
              "separates_ranks",
              "persistent"},
        Fault{"mixed_requests",
              "all_reduce",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "nonblocking"},
        Fault{"no_waitall",
              "all_reduce_list",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "nonblocking"},
        Fault{"no_waitall",
              "reduce_list",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "nonblocking"},
        Fault{"no_waitall",
              "broadcast_list",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "nonblocking"},
        Fault{"flipped_bit",
              "reduce_list",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "one_by_one"},
        Fault{"wrong_root",
              "broadcast_list",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "packed"},
        Fault{"mixed_requests",
              "send_recv",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "nonblocking"},
        Fault{"mixed_requests",
              "broadcast",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "nonblocking"},
        Fault{"flat_type",
              "gather_axis",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "datatypes"},
        Fault{"flat_type",
              "all_gather_axis",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "datatypes"},
        Fault{"world_group",
              "all_reduce",
              "falsified",
              "differs from the reference",
              "groups_at_once",
              "blocking",
              "3..3"},
        Fault{"late_reader", "broadcast", "falsified", "differs from the reference"},
        Fault{"old_data_again",
              "all_reduce",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "persistent"},
        Fault{"old_data_at_the_third_start",
              "all_reduce",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "persistent"},
        Fault{"short_ring",
              "all_reduce",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "libnbc_ring"},
        Fault{"one_context",
              "all_reduce",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "two_communicators",
              "2..2"},
        Fault{"short_on_second",
              "all_reduce",
              "falsified",
              "differs from the reference",
              "agrees_with_reference",
              "two_communicators",
              "2..2"},
        Fault{"bad_end", "gather", "crashed", "after the last run: "}),
    [](const auto& instance) {
      return std::string(instance.param.name) + "_in_" + std::string(instance.param.operation);
    });

/// A fault of one algorithm that the library rarely chooses.
class FaultyAlgorithmTest : public FaultyMpiTest {};

TEST_P(FaultyAlgorithmTest, IsFoundOnlyIfTheAlgorithmIsForced) {
  const tests::Outcome outcome = rankcheck(
      "run --backend mpi --algorithm nonblocking --operation " + std::string(GetParam().operation) +
      " --property agrees_with_reference --cases 10 --ranks 2..3 --report out");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(Planted,
                         FaultyAlgorithmTest,
                         testing::Values(Fault{"short_ring", "all_reduce", "", ""},
                                         Fault{"one_context", "all_reduce", "", ""},
                                         Fault{"short_on_second", "all_reduce", "", ""},
                                         Fault{"other_order", "gather", "", ""}),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// A fault that shows only in algorithms of which the usual call knows nothing, with more than one
/// element.
class FaultyPathTest : public FaultyMpiTest {};

TEST_P(FaultyPathTest, IsFoundOnlyByItsAlgorithm) {
  const std::string algorithm(GetParam().algorithm);
  const tests::Outcome listed =
      rankcheck("list --backend mpi --operation " + std::string(GetParam().operation));
  if (listed.out.find(algorithm) == std::string::npos)
    GTEST_SKIP() << "the MPI library or the machine has no " << algorithm;
  const std::string end = " --operation " + std::string(GetParam().operation) +
                          " --property agrees_with_reference --cases 20 --ranks 2..3 --report ";
  EXPECT_EQ(rankcheck("run --backend mpi --algorithm blocking" + end + "usual").status, 0);
  const tests::Outcome outcome =
      rankcheck("run --backend mpi --algorithm " + algorithm + end + "out");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  const nlohmann::json finding = report("out").at("findings").at(0);
  EXPECT_EQ(finding.at("verdict"), "falsified") << finding;
  EXPECT_LE(finding.at("minimal").at("ranks"), 2) << finding;
}

INSTANTIATE_TEST_SUITE_P(
    Planted,
    FaultyPathTest,
    testing::Values(
        Fault{"torn_copy", "broadcast", "", "", "agrees_with_reference", "over_cma"},
        Fault{"other_order", "gather", "", "", "agrees_with_reference", "indexed"},
        Fault{"short_vector", "scatter", "", "", "agrees_with_reference", "vector"},
        Fault{"joined_parts", "broadcast", "", "", "agrees_with_reference", "struct"},
        Fault{"one_displacement", "all_to_all_v", "", "", "agrees_with_reference", "typed"},
        Fault{"one_displacement",
              "all_to_all_v",
              "",
              "",
              "agrees_with_reference",
              "typed_nonblocking"}),
    [](const auto& instance) {
      return std::string(instance.param.name) + "_in_" + std::string(instance.param.algorithm);
    });

/// A fault of C's own types.
class FaultyTypeTest : public FaultyMpiTest {};

TEST_P(FaultyTypeTest, IsFoundOnlyUnderItsName) {
  const std::string end =
      " --operation all_reduce --type int32 --property agrees_with_reference --cases 10 "
      "--ranks 2..3 --report ";
  EXPECT_EQ(rankcheck("run --backend mpi --algorithm blocking" + end + "usual").status, 0);
  const tests::Outcome outcome = rankcheck("run --backend mpi --algorithm c_types" + end + "out");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  expect_found(outcome, report("out"), {.verdict = "falsified", .says = "differs"});
}

INSTANTIATE_TEST_SUITE_P(Planted,
                         FaultyTypeTest,
                         testing::Values(Fault{"wrong_int", "all_reduce", "", ""}),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// A fault that shows only if a call is repeated: memory changes under an address, or ranks run
/// ahead.
class FaultyRepeatTest : public FaultyMpiTest {};

TEST_P(FaultyRepeatTest, IsFoundOnlyInRepeatedCalls) {
  const std::string begin =
      R"(replay --times 1 '{"operation":"broadcast","backend":"mpi","ranks":2,)"
      R"("count":1,"type":"int32","input":"general","late":1,)"
      R"("property":"repeats_with_other_data","algorithm":")" +
      std::string(GetParam().algorithm) + R"(","repeat":)";
  const tests::Outcome once = rankcheck(begin + "1}'");
  EXPECT_EQ(once.status, 0) << once.out << once.err;
  const tests::Outcome outcome = rankcheck(begin + "8}'");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("result of call"), std::string::npos) << outcome.out;
}

INSTANTIATE_TEST_SUITE_P(
    Planted,
    FaultyRepeatTest,
    testing::Values(Fault{"stale_pages", "broadcast", "", "", "", "blocking"},
                    Fault{"newest_message", "broadcast", "", "", "", "nonblocking"}),
    [](const auto& instance) { return std::string(instance.param.name); });

/// A fault of the second communicator only.
class FaultyCommunicatorTest : public FaultyMpiTest {};

TEST_P(FaultyCommunicatorTest, IsFoundWhenItsCallIsUnderTest) {
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

INSTANTIATE_TEST_SUITE_P(Planted,
                         FaultyCommunicatorTest,
                         testing::Values(Fault{"short_on_second", "all_reduce", "", ""}),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// A fault that shows only if elements lie apart.
class FaultyExtentTest : public FaultyMpiTest {};

TEST_P(FaultyExtentTest, IsFoundInStridedCases) {
  const std::string begin =
      R"(replay --times 1 '{"operation":"scatter","backend":"mpi","algorithm":"blocking",)"
      R"("ranks":2,"count":2,"type":"f32")";
  EXPECT_EQ(rankcheck(begin + "}'").status, 0);
  const tests::Outcome outcome = rankcheck(begin + R"(,"recv_stride":2}')");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.out.find("memory behind element 0 of recv was written"), std::string::npos)
      << outcome.out;
}

INSTANTIATE_TEST_SUITE_P(Planted,
                         FaultyExtentTest,
                         testing::Values(Fault{"flat_type", "scatter", "", ""}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace rankcheck

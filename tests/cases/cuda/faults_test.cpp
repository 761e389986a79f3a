#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/cases/cuda/on_stand_in.hpp"
#include "tests/cases/planted_fault.hpp"

/// Tests that `rankcheck run --backend cuda` reports devices with a fault.
/// tests/gpu/device/cuda/stand_in/ plants the faults.
namespace rankcheck {
namespace {

struct Fault {
  std::string_view name;
  std::string_view operation;
  std::string_view algorithm;
  /// A part of the finding's reason.
  std::string_view says;
  std::string_view property = "agrees_with_reference";
  std::string_view verdict = "falsified";
  /// Whether only cases that are `pending` show the fault.
  bool is_pending = false;
};

/// Prints a parameter for GoogleTest.
[[maybe_unused]] void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

class FaultyCudaTest : public tests::OnStandIn, public testing::WithParamInterface<Fault> {
 protected:
  tests::Outcome run() {
    const Fault& fault = GetParam();
    return shell("RANKCHECK_STAND_IN=" + std::string(fault.name) + " " + program_ +
                 " run ci --backend cuda --operation " + std::string(fault.operation) +
                 " --algorithm " + std::string(fault.algorithm) + " --property " +
                 std::string(fault.property) + " --cases 40 --ranks 2..3 --report out");
  }
};

using FaultsOfGraphsTest = tests::OnStandIn;
using FaultsOfGroupsTest = tests::OnStandIn;

TEST_P(FaultyCudaTest, IsFound) {
  const tests::Outcome outcome = run();
  ASSERT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  tests::expect_found(outcome,
                      report("out"),
                      {.verdict = GetParam().verdict,
                       .says = GetParam().says,
                       .ranks_max = 3,
                       .has_case = false,
                       .is_pending = GetParam().is_pending});
}

INSTANTIATE_TEST_SUITE_P(
    Planted,
    FaultyCudaTest,
    testing::Values(
        Fault{"deaf_wait", "all_reduce", "ring", "differs from the reference"},
        Fault{"early_return", "all_gather", "ring", "differs from the reference"},
        Fault{"short_copy", "broadcast", "chain", "differs from the reference"},
        Fault{"shared_memory", "all_to_all", "pairwise", "memory outside the buffers was written"},
        Fault{"long_copy", "broadcast", "chain", "memory outside the buffers was written"},
        Fault{"lost_block", "all_reduce", "ring", "differs from the reference"},
        Fault{"early_event", "all_reduce", "ring", "differs from the reference"},
        Fault{"overtakes", "all_reduce", "ring", "differs from the reference"},
        Fault{"scaled_transform", "propagate", "fft", "differs from the reference"},
        Fault{"lost_replay", "all_reduce", "ring", "differs from the first", "is_deterministic"},
        Fault{"lost_replay",
              "broadcast",
              "chain",
              "differs from the reference",
              "repeats_with_other_data"},
        Fault{"old_data",
              "broadcast",
              "chain",
              "differs from the reference",
              "repeats_with_other_data"},
        // The old addresses are in the previous graph. A process that replays only this case has no
        // previous graph, so the finding is flaky. What the previous graph overwrites depends on
        // its case.
        Fault{"old_addresses",
              "all_reduce",
              "ring",
              "falsified in 0 of 5 replays",
              "is_deterministic",
              "flaky"},
        Fault{"loose_graph", "all_reduce", "ring", "differs from the first", "is_deterministic"},
        // Only in a case that is pending is work on the stream before the launch, and behind it.
        // The result is copied before the inputs arrive.
        Fault{.name = "launch_overtakes",
              .operation = "all_reduce",
              .algorithm = "ring",
              .says = "memory outside the buffers was written",
              .property = "is_deterministic",
              .is_pending = true},
        Fault{.name = "overtaken_launch",
              .operation = "all_reduce",
              .algorithm = "ring",
              .says = "differs from the first",
              .property = "is_deterministic",
              .is_pending = true},
        Fault{"deaf_wait", "barrier", "central", "left before rank", "separates_ranks"},
        Fault{.name = "illegal_address",
              .operation = "all_reduce",
              .algorithm = "ring",
              .says = "an illegal memory access was encountered",
              .verdict = "crashed"}),
    [](const auto& instance) {
      return std::string(instance.param.name) + "_" + std::string(instance.param.operation);
    });

/// The test above finds these faults with graphs enabled.
TEST_F(FaultsOfGraphsTest, AreThoseThatAreGoneWithoutThem) {
  const auto run = [this](const std::string& fault, const std::string& property) {
    return shell("RANKCHECK_CUDA_GRAPHS=0 RANKCHECK_STAND_IN=" + fault + " " + program_ +
                 " run ci --backend cuda --operation all_reduce --algorithm ring --property " +
                 property + " --cases 40 --ranks 2..3 --report " + fault);
  };
  for (const std::string fault : {"lost_replay", "loose_graph"}) {
    const tests::Outcome outcome = run(fault, "is_deterministic");
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  }
  EXPECT_EQ(run("deaf_wait", "agrees_with_reference").status, 1);
}

/// tests/gpu/plan/planted_merge.cpp has the fault.
TEST_F(FaultsOfGroupsTest, InTheCommunicatorOfTheWorldAreFound) {
  const std::string arguments =
      " run ci --backend cuda --operation all_gather --algorithm ring --property groups_at_once "
      "--cases 40 --ranks 2..4 --report ";
  const tests::Outcome right = shell(program_ + arguments + "right");
  EXPECT_EQ(right.status, 0) << right.out << right.err;
  const std::filesystem::path worker = folder_.path() / "bin" / "rankcheck-worker-cuda";
  std::filesystem::remove(worker);
  std::filesystem::create_symlink(RANKCHECK_PLANTED_CUDA, worker);
  const tests::Outcome wrong = shell(program_ + arguments + "wrong");
  ASSERT_EQ(wrong.status, 1) << wrong.out << wrong.err;
  tests::expect_found(wrong, report("wrong"), {.verdict = "falsified", .says = "", .ranks_max = 3});
}

TEST_F(FaultsOfGraphsTest, AreLookedForOnlyAsAskedFor) {
  const tests::Outcome doctor = shell("RANKCHECK_CUDA_GRAPHS=0 " + program_ + " doctor");
  EXPECT_NE(doctor.out.find("cuda_graphs: none"), std::string::npos) << doctor.out;
  const tests::Outcome outcome =
      shell("RANKCHECK_CUDA_GRAPHS=off " + program_ + " run smoke --backend cuda --report r");
  EXPECT_EQ(outcome.status, 2) << outcome.out;
  EXPECT_NE(outcome.err.find("RANKCHECK_CUDA_GRAPHS: got off, expected 0 or 1"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace rankcheck

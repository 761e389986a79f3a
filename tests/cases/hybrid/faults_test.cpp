#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "harness/files.hpp"

#include "cases/backends/hybrid.hpp"
#include "tests/cases/planted_fault.hpp"

/// Tests that `rankcheck run --backend hybrid` reports faults of the worker, and of the MPI library
/// below it. tests/gpu/device/hybrid/planted_members.cpp and tests/gpu/device/mpi/faults.cpp
/// plant them.
namespace rankcheck::hybrid_tests {
namespace {

struct Fault {
  std::string_view name;
  std::string_view operation;
  std::string_view verdict;
  /// A part of the finding's reason.
  std::string_view says;
  int ranks_max = 3;
  std::string_view property = "agrees_with_reference";
  std::string_view options = "--ranks 2..3 --devices-per-process 2 --timeout 0.5";
  std::string_view algorithm = "staged";
};

/// Prints a parameter for GoogleTest.
[[maybe_unused]] void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

/// Installs the program, and a worker that has the faults of placements and preloads those of MPI.
class FaultyHybridTest : public tests::CliTest, public testing::WithParamInterface<Fault> {
 protected:
  void SetUp() override {
    const std::string why = cases::hybrid_backend().why_unavailable();
    if (!why.empty()) GTEST_SKIP() << why;
    install();
    const std::filesystem::path worker = folder_.path() / "bin" / "rankcheck-worker-hybrid";
    harness::write_file(worker,
                        "#!/bin/sh\nLD_PRELOAD='" RANKCHECK_MPI_FAULTS "' RANKCHECK_PLANTED=" +
                            std::string(GetParam().name) +
                            " exec '" RANKCHECK_PLANTED_HYBRID "' \"$@\"\n");
    std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
  }
};

TEST_P(FaultyHybridTest, IsFoundAndShrinks) {
  const tests::Outcome outcome = rankcheck(
      "run --backend hybrid --algorithm " + std::string(GetParam().algorithm) + " --operation " +
      std::string(GetParam().operation) + " --property " + std::string(GetParam().property) +
      " --cases 40 " + std::string(GetParam().options) + " --report out");
  ASSERT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  expect_found(
      outcome,
      report("out"),
      {.verdict = GetParam().verdict, .says = GetParam().says, .ranks_max = GetParam().ranks_max});
}

INSTANTIATE_TEST_SUITE_P(
    Planted,
    FaultyHybridTest,
    testing::Values(
        Fault{"reversed_devices", "all_gather", "falsified", "memory outside the buffers", 2},
        Fault{.name = "places_of_world",
              .operation = "all_gather",
              .verdict = "falsified",
              .says = "memory outside the buffers",
              .options = "--ranks 2..3 --devices-per-process 3"},
        Fault{.name = "even_shares",
              .operation = "all_gather",
              .verdict = "crashed",
              .says = "rank 3 died",
              .ranks_max = 4,
              .options = "--ranks 4..4 --devices-per-process 3"},
        Fault{"flipped_bit", "all_reduce", "falsified", "differs from the reference"},
        Fault{.name = "flipped_bit",
              .operation = "all_gather_v",
              .verdict = "falsified",
              .says = "; stage 0 ran direct: ",
              .algorithm = "direct"},
        Fault{.name = "kill",
              .operation = "broadcast_list",
              .verdict = "crashed",
              .says = "died",
              .algorithm = "direct"},
        Fault{.name = "reversed_in_second_group",
              .operation = "all_gather",
              .verdict = "falsified",
              .says = "memory outside the buffers",
              .ranks_max = 4,
              .property = "groups_at_once",
              .options = "--ranks 3..4 --devices-per-process 4"},
        Fault{"overtaken_staging", "all_gather", "falsified", "differs from the reference"},
        Fault{"kill", "all_reduce", "crashed", "died"},
        Fault{"hang", "all_reduce", "hung", "entered stage 0 (all_reduce)"},
        Fault{.name = "no_signals",
              .operation = "barrier",
              .verdict = "falsified",
              .says = "left before rank",
              .property = "separates_ranks"}),
    [](const auto& instance) {
      return std::string(instance.param.name) + "_in_" + std::string(instance.param.operation);
    });

}  // namespace
}  // namespace rankcheck::hybrid_tests

#include "cases/reconstruct/command.hpp"

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "cases/reconstruct/simulate.hpp"
#include "cases/reconstruct/solvers.hpp"
#include "tests/cases/reconstruct/scan.hpp"
#include "tests/gpu/device/guarded/cluster.hpp"
#include "tests/gpu/ptycho/devices.hpp"
#include "tests/harness/sample.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

constexpr int ranks = 3;

/// The command on devices whose memory only the cluster can touch, and on simulated ones.
class ReconstructOnGuardedDevices : public testing::Test {
 protected:
  ReconstructOnGuardedDevices() {
    // The object is larger than what ranks exchange at a time.
    write_dataset(
        scan_,
        simulate({.positions = 13, .detector = 9, .probe = 7, .modes = 2, .object = 70, .step = 2}),
        "small",
        false);
  }

  /// Runs the command; what its checkpoint has.
  Result run(gpu::Cluster& cluster, Options options) {
    options.file = scan_;
    options.output = folder_.path() / "out.cxi";
    options.checkpoint = folder_.path() / "state.cxi";
    options.course.save_every = 1;
    options.progress = "lines";
    testing::internal::CaptureStdout();
    const Interrupt interrupt;
    if (is_interrupted_) std::raise(SIGINT);
    const int status = reconstruct_on(cluster, options, interrupt);
    const std::string out = testing::internal::GetCapturedStdout();
    EXPECT_EQ(status, status_held) << out;
    return read_result(options.checkpoint, read_dataset(scan_));
  }

  void expect_same(const Options& options) {
    gpu::GuardedCluster guarded(ranks);
    gpu::GuardedMemory unused;
    gpu::Devices simulated(ranks, &unused);
    const Result got = run(guarded, options);
    const Result expected = run(simulated, options);
    EXPECT_EQ(got.iterations, expected.iterations);
    EXPECT_EQ(got.costs, expected.costs);
    EXPECT_EQ(got.state.object, expected.state.object);
    EXPECT_EQ(got.state.probe, expected.state.probe);
    EXPECT_EQ(got.state.memory, expected.state.memory);
  }

  harness::TemporaryFolder folder_;
  std::filesystem::path scan_ = folder_.path() / "scan.cxi";
  bool is_interrupted_ = false;
};

TEST_F(ReconstructOnGuardedDevices, StepsWithEverySolverAndChecksThem) {
  for (const Solver& solver : solvers()) {
    for (const std::string layout : {"replicated", "tiles"}) {
      SCOPED_TRACE(std::string(solver.name) + ' ' + layout);
      expect_same({.solver = std::string(solver.name),
                   .layout = layout,
                   .course = {.iterations = 2, .check_every = 1},
                   .batches = solver.batches == 1 ? 1 : 3});
    }
  }
}

TEST_F(ReconstructOnGuardedDevices, GoesBackToTheIterationBeforeWhenInterrupted) {
  is_interrupted_ = true;
  for (const std::string layout : {"replicated", "tiles"}) {
    expect_same({.layout = layout, .course = {.iterations = 2}, .batches = 3});
  }
}

TEST_F(ReconstructOnGuardedDevices, FindsAProbeToStartFrom) {
  write(scan_, small_scan());
  expect_same({.course = {.iterations = 1}});
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct

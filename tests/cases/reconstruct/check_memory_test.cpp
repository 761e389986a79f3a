#include <cstdint>
#include <fstream>

#include <gtest/gtest.h>
#include <malloc.h>

#include "reference/registry.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/cluster.hpp"

#include "cases/reconstruct/check.hpp"
#include "cases/reconstruct/simulate.hpp"
#include "cases/reconstruct/solvers.hpp"
#include "tests/memory.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

/// Returns the memory that a check takes, in bytes, as the system counts it.
double measured_bytes(const Solver& solver, const Problem& problem, int modes) {
  const State state = starting_state(problem.data, modes, false);
  ::malloc_trim(0);
  // Resets the system's peak.
  std::ofstream("/proc/self/clear_refs") << 5;
  const double before = tests::status_bytes("VmRSS:");
  static_cast<void>(
      solver.check(problem, {.before = state, .after = state, .batch = 0, .cost = 0}));
  return tests::status_bytes("VmHWM:") - before;
}

/// check_bytes() counts the reference's arrays for every solver, but no arrays of the object's
/// size.
TEST(CheckBytesTest, AreMoreThanAnyReferenceTakesButNotTwiceAsMuch) {
  if (tests::has_sanitizer) GTEST_SKIP() << "sanitizers take memory of their own";
  const Dataset data = simulate({.positions = 12, .detector = 64, .probe = 64, .step = 9});
  gpu::sim::SimCluster cluster{reference::contract_named, gpu::algorithm_for};
  cluster.begin(1, {}, {});
  for (const Solver& solver : solvers()) {
    const int batches = solver.batches == 1 ? 1 : 2;
    const Problem problem{.data = data, .cluster = cluster, .batches = batches};
    constexpr int modes = 2;
    const double counted = check_bytes(data, modes, batches);
    const double measured = measured_bytes(solver, problem, modes);
    EXPECT_LT(measured, counted) << solver.name;
    EXPECT_GT(measured, counted / 2) << solver.name;
  }
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct

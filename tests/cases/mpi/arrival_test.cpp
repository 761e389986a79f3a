#include "cases/workers/arrival.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "harness/case/input.hpp"

#include "cases/backends/mpi.hpp"

namespace rankcheck {
namespace {

/// Returns a barrier of two ranks in which rank 1 is 2 ms late.
harness::Case late_barrier() {
  harness::Case c;
  c.operation = "barrier";
  c.algorithm = "blocking";
  c.property = "separates_ranks";
  c.ranks = 2;
  const auto has_late_rank_1 = [&] {
    const harness::CounterHash common(c.data_seed, 2);
    return common(1) % 4 == 0 && common(2) % 2 == 1;
  };
  while (!has_late_rank_1()) ++c.data_seed;
  return c;
}

/// A barrier that does not wait is detected only if a rank is late.
TEST(MpiArrivalTest, IsLateAtSomeBarriers) {
  const harness::BackendEntry mpi = cases::mpi_backend();
  if (const std::string why = mpi.why_unavailable(); !why.empty()) GTEST_SKIP() << why;
  const auto backend = mpi.open({.ranks_max = 2});
  const std::vector<harness::Case> stages{late_barrier()};
  harness::Observation observation;
  // Rank 1 must be late in every run. Without the delay, it would arrive earlier at least once,
  // even on a busy machine.
  for (int run = 0; run < 9; ++run) {
    const std::int64_t begin_ns = cases::now_ns();
    backend->run(stages, observation);
    ASSERT_EQ(observation.status, harness::RunStatus::completed) << observation.reason;
    EXPECT_GE(observation.stages[0].stamps[1].entered - begin_ns, 2'000'000) << run;
  }
}

}  // namespace
}  // namespace rankcheck

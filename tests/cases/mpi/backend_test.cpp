#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/case/image.hpp"
#include "harness/case/input.hpp"

#include "cases/backends/mpi.hpp"
#include "cases/workers/arrival.hpp"

/// Calls of the backend mpi on two ranks, without the program.
namespace rankcheck {
namespace {

using harness::Case;

class MpiBackendTest : public testing::Test {
 protected:
  void SetUp() override {
    const harness::BackendEntry mpi = cases::mpi_backend();
    if (const std::string why = mpi.why_unavailable(); !why.empty()) GTEST_SKIP() << why;
    backend_ = mpi.open({.ranks_max = 2});
  }

  const harness::StageOutcome& run(const Case& c) {
    EXPECT_EQ(backend_->why_refused(c), "");
    backend_->run({&c, 1}, observation_);
    EXPECT_EQ(observation_.status, harness::RunStatus::completed) << observation_.reason;
    return observation_.stages.at(0);
  }

  std::unique_ptr<harness::Backend> backend_;
  harness::Observation observation_;
};

/// Returns a barrier of two ranks in which rank 1 is 2 ms late.
Case late_barrier() {
  Case c = harness::case_from_text(
      R"({"operation":"barrier","algorithm":"blocking","property":"separates_ranks","ranks":2})");
  const auto has_late_rank_1 = [&] {
    const harness::CounterHash common(c.data_seed, 2);
    return common(1) % 4 == 0 && common(2) % 2 == 1;
  };
  while (!has_late_rank_1()) ++c.data_seed;
  return c;
}

/// A barrier that does not wait is detected only if a rank is late. Without the delay, rank 1 would
/// arrive earlier at least once, even on a busy machine.
TEST_F(MpiBackendTest, IsLateAtSomeBarriers) {
  const Case barrier = late_barrier();
  for (int k = 0; k < 9; ++k) {
    const std::int64_t begin_ns = cases::now_ns();
    EXPECT_GE(run(barrier).stamps.at(1).entered - begin_ns, 2'000'000) << k;
  }
}

/// Processes derive the inputs of other cases. Those that a user gave travel with the run.
TEST_F(MpiBackendTest, GivenInputsReachTheRanks) {
  Case c = harness::case_from_text(
      R"({"operation":"all_reduce","backend":"mpi","ranks":2,"count":1,"op":"sum"})");
  c.input = harness::InputKind::given;
  auto given = std::make_shared<harness::GivenInputs>();
  for (const float value : {1.25F, 40.0F}) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    given->send.emplace_back(bytes.begin(), bytes.end());
  }
  c.given = given;
  const harness::StageOutcome& outcome = run(c);
  for (int rank = 0; rank < 2; ++rank) {
    harness::ImageLayout layout;
    lay_out(
        reference::contract_named("all_reduce"), c, rank, harness::ResultPlace::own_block, layout);
    float sum = 0;
    std::memcpy(&sum, outcome.images.at(spec::to_size(rank)).data() + layout.recv, sizeof sum);
    EXPECT_EQ(sum, 41.25F);
  }
}

}  // namespace
}  // namespace rankcheck

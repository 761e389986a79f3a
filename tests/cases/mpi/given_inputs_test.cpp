#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/case/image.hpp"

#include "cases/backends/mpi.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck {
namespace {

/// Processes derive the inputs of other cases. Those that a user gave travel with the run.
TEST(MpiGivenInputsTest, ReachTheRanks) {
  const harness::BackendEntry mpi = cases::mpi_backend();
  if (const std::string why = mpi.why_unavailable(); !why.empty()) GTEST_SKIP() << why;
  const auto backend = mpi.open({.ranks_max = 2});
  harness::Case c;
  c.operation = "all_reduce";
  c.backend = "mpi";
  c.ranks = 2;
  c.count = 1;
  c.input = harness::InputKind::given;
  cases::collective(c).op = spec::ReduceOp::sum;
  auto given = std::make_shared<harness::GivenInputs>();
  for (const float value : {1.25F, 40.0F}) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    given->send.emplace_back(bytes.begin(), bytes.end());
  }
  c.given = given;
  ASSERT_EQ(backend->why_refused(c), "");
  harness::Observation observation;
  backend->run(std::span(&c, 1), observation);
  ASSERT_EQ(observation.status, harness::RunStatus::completed) << observation.reason;
  for (int rank = 0; rank < 2; ++rank) {
    harness::ImageLayout layout;
    lay_out(
        reference::contract_named("all_reduce"), c, rank, harness::ResultPlace::own_block, layout);
    float sum = 0;
    std::memcpy(
        &sum, observation.stages[0].images[spec::to_size(rank)].data() + layout.recv, sizeof sum);
    EXPECT_EQ(sum, 41.25F);
  }
}

}  // namespace
}  // namespace rankcheck

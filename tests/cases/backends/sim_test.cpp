#include "cases/backends/sim.hpp"

#include <string>

#include <gtest/gtest.h>

#include "gpu/collectives/registry.hpp"

namespace rankcheck::cases {
namespace {

/// Runs an operator on two ranks. Rank 1's device allocates 24 bytes of scratch memory, and one
/// byte is written at offset `at` of this memory.
harness::Observation run_with_write(std::ptrdiff_t at) {
  const harness::Case c = harness::case_from_text(
      R"({"operation":"insert","ranks":2,"counts":[1,1],"rows":2,"cols":2,"window":1,)"
      R"("detector":1})");
  SimBackend backend(
      gpu::implementations(), {}, {}, [&](const harness::Case&, const OperatorCall& call) {
        call.make();
        call.cluster.allocate(1, 24)[at] = std::byte{};
      });
  harness::Observation observation;
  backend.run({&c, 1}, observation);
  return observation;
}

TEST(SimBackendTest, SeesWritesOutsideOfADevicesMemory) {
  EXPECT_EQ(run_with_write(23).status, harness::RunStatus::completed);
  const harness::Observation behind = run_with_write(24);
  EXPECT_EQ(behind.status, harness::RunStatus::failed);
  EXPECT_EQ(behind.reason, "rank 1: a write past 24 bytes of scratch memory");
  const harness::Observation before = run_with_write(-1);
  EXPECT_EQ(before.status, harness::RunStatus::failed);
  EXPECT_EQ(before.reason, "rank 1: a write before 24 bytes of scratch memory");
}

}  // namespace
}  // namespace rankcheck::cases

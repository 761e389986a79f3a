#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/gather.hpp"

namespace rankcheck::gpu::gather_v {

plan::Algorithm direct() {
  return {
      .name = "direct",
      .summary =
          "each rank puts its block to the root: one step, least traffic, the root's link is "
          "shared",
      .refuses = plan::refuses_nothing,
      .plan = plan::direct_gather,
  };
}

}  // namespace rankcheck::gpu::gather_v

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/gather.hpp"

namespace rankcheck::gpu::scatter_v {

plan::Algorithm direct() {
  return {
      .name = "direct",
      .summary =
          "the root puts each rank's block: one step, least traffic, the root's link is shared",
      .refuses = plan::refuses_nothing,
      .plan = plan::direct_scatter,
  };
}

}  // namespace rankcheck::gpu::scatter_v

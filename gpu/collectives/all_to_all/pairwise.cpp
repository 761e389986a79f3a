#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/all_to_all.hpp"

namespace rankcheck::gpu::all_to_all {

plan::Algorithm pairwise() {
  return {
      .name = "pairwise",
      .summary =
          "Each rank sends one block to each other rank, at growing distances: n-1 steps, least "
          "traffic.",
      .plan = plan::pairwise_all_to_all};
}

}  // namespace rankcheck::gpu::all_to_all

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/reduce_scatter.hpp"

namespace rankcheck::gpu::all_reduce {

plan::Algorithm ring() {
  return {
      .name = "ring",
      .summary =
          "A ring reduce-scatter is followed by a ring all-gather: 2(n-1) steps, least traffic, "
          "for large messages.",
      .plan = plan::all_reduce<plan::ring_reduce_scatter, plan::ring_all_gather>};
}

}  // namespace rankcheck::gpu::all_reduce

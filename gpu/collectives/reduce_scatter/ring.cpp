#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/reduce_scatter.hpp"

namespace rankcheck::gpu::reduce_scatter {

plan::Algorithm ring() {
  return {
      .name = "ring",
      .summary =
          "Partial sums of blocks travel around the ring: n-1 steps, least traffic, two slots of "
          "scratch memory.",
      .plan = plan::reduce_scatter<plan::ring_reduce_scatter>};
}

}  // namespace rankcheck::gpu::reduce_scatter

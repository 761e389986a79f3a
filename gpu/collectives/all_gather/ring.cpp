#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/all_gather.hpp"

namespace rankcheck::gpu::all_gather {

plan::Algorithm ring() {
  return {.name = "ring",
          .summary =
              "Blocks travel around the ring: n-1 steps, each block is sent once over each link.",
          .plan = plan::all_gather<plan::ring_all_gather>};
}

}  // namespace rankcheck::gpu::all_gather

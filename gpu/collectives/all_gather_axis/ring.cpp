#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/axis.hpp"

namespace rankcheck::gpu::all_gather_axis {

plan::Algorithm ring() {
  return {.name = "ring",
          .summary = "Arrays travel around the ring, and each rank then copies their strips.",
          .refuses = plan::refuses_in_place,
          .plan = plan::ring_all_gather_axis};
}

}  // namespace rankcheck::gpu::all_gather_axis

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/all_gather.hpp"

namespace rankcheck::gpu::all_gather {

plan::Algorithm ring() {
  return {
      .name = "ring",
      .summary = "blocks travel around the ring: n-1 steps, every block sent once over every link",
      .refuses = plan::refuses_nothing,
      .plan = plan::all_gather<plan::ring_all_gather>,
  };
}

}  // namespace rankcheck::gpu::all_gather

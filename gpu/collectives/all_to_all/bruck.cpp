#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/all_to_all.hpp"

namespace rankcheck::gpu::all_to_all {

plan::Algorithm bruck() {
  return {
      .name = "bruck",
      .summary =
          "Each rank sends half of all blocks over doubling distances: log2(n) steps, log2(n)/2 "
          "times the traffic.",
      .plan = plan::bruck_all_to_all};
}

}  // namespace rankcheck::gpu::all_to_all

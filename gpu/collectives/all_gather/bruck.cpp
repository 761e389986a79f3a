#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/all_gather.hpp"

namespace rankcheck::gpu::all_gather {

plan::Algorithm bruck() {
  return {
      .name = "bruck",
      .summary =
          "Each rank sends all blocks that it has over doubling distances: log2(n) steps, any n.",
      .plan = plan::all_gather<plan::bruck_all_gather>};
}

}  // namespace rankcheck::gpu::all_gather

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/all_gather.hpp"

namespace rankcheck::gpu::all_gather {

plan::Algorithm direct() {
  return {.name = "direct",
          .summary = "Each rank writes its block to every other rank: one step.",
          .plan = plan::all_gather<plan::direct_all_gather>};
}

}  // namespace rankcheck::gpu::all_gather

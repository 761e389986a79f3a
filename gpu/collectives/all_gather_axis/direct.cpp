#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/axis.hpp"

namespace rankcheck::gpu::all_gather_axis {

plan::Algorithm direct() {
  return {.name = "direct",
          .summary = "Each rank writes its strips to their places on every other rank: one step.",
          .refuses = plan::refuses_in_place,
          .plan = plan::direct_all_gather_axis};
}

}  // namespace rankcheck::gpu::all_gather_axis

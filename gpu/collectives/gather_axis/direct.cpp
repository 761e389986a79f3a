#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/axis.hpp"

namespace rankcheck::gpu::gather_axis {

plan::Algorithm direct() {
  return {.name = "direct",
          .summary = "Each rank writes its strips to their places on the root: one step.",
          .refuses = plan::refuses_in_place,
          .plan = plan::direct_gather_axis};
}

}  // namespace rankcheck::gpu::gather_axis

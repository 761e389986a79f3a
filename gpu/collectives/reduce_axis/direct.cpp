#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/axis.hpp"

namespace rankcheck::gpu::reduce_axis {

plan::Algorithm direct() {
  return {.name = "direct",
          .summary = "The root reads the rows of all ranks from their memory and combines them.",
          .refuses = plan::refuses_in_place,
          .plan = plan::direct_reduce_axis,
          .keeps_order = plan::always_keeps_order};
}

}  // namespace rankcheck::gpu::reduce_axis

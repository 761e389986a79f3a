#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/axis.hpp"

namespace rankcheck::gpu::reduce_axis {

plan::Algorithm rows_first() {
  return {.name = "rows_first",
          .summary = "Each rank combines its rows, and partial results move up a binomial tree.",
          .refuses = plan::refuses_in_place,
          .plan = plan::rows_first_reduce_axis};
}

}  // namespace rankcheck::gpu::reduce_axis

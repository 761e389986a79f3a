#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/axis.hpp"

namespace rankcheck::gpu::gather_axis {

plan::Algorithm binomial() {
  return {.name = "binomial",
          .summary = "Arrays move up a binomial tree, and the root then copies their strips.",
          .refuses = plan::refuses_in_place,
          .plan = plan::binomial_gather_axis};
}

}  // namespace rankcheck::gpu::gather_axis

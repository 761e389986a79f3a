#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/reduce_scatter.hpp"

namespace rankcheck::gpu::reduce_scatter {

plan::Algorithm recursive_halving() {
  return {
      .name = "recursive_halving",
      .summary =
          "Pairs exchange halves: log2(n) steps, with one more step and extra traffic if n is not "
          "a power of two.",
      .plan = plan::reduce_scatter<plan::recursive_halving_reduce_scatter>};
}

}  // namespace rankcheck::gpu::reduce_scatter

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/reduce_scatter.hpp"

namespace rankcheck::gpu::reduce_scatter_v {

plan::Algorithm recursive_halving() {
  return {
      .name = "recursive_halving",
      .summary =
          "pairs exchange halves: log2(n) steps, one more and extra traffic where n is no power of "
          "two",
      .refuses = plan::refuses_nothing,
      .plan = plan::reduce_scatter<plan::recursive_halving_reduce_scatter>,
  };
}

}  // namespace rankcheck::gpu::reduce_scatter_v

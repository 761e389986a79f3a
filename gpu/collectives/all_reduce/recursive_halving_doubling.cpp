#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/reduce_scatter.hpp"

namespace rankcheck::gpu::all_reduce {

plan::Algorithm recursive_halving_doubling() {
  return {.name = "recursive_halving_doubling",
          .summary =
              "Recursive halving is followed by an all-gather over doubling distances: 2 log2(n) "
              "steps, any n.",
          .plan = plan::all_reduce<plan::recursive_halving_reduce_scatter, plan::bruck_all_gather>};
}

}  // namespace rankcheck::gpu::all_reduce

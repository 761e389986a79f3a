#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/list.hpp"

namespace rankcheck::gpu::all_reduce_list {

plan::Algorithm one_by_one() {
  return {.name = "one_by_one",
          .summary = "The arrays are reduced one after another, without copies.",
          .plan = plan::one_by_one<plan::ring_all_reduce_array>};
}

}  // namespace rankcheck::gpu::all_reduce_list

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/list.hpp"

namespace rankcheck::gpu::reduce_list {

plan::Algorithm one_by_one() {
  return {.name = "one_by_one",
          .summary = "The arrays are reduced one after another, without copies.",
          .plan = plan::one_by_one<plan::tree_reduce_array>,
          .keeps_order = plan::keeps_order_from_root};
}

}  // namespace rankcheck::gpu::reduce_list

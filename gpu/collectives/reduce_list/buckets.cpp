#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/list.hpp"

namespace rankcheck::gpu::reduce_list {

plan::Algorithm buckets() {
  return {
      .name = "buckets",
      .summary =
          "The arrays are copied into packs of equal size, which arrays may straddle. The packs "
          "are reduced one after another.",
      .plan = plan::buckets<plan::tree_reduce_array>,
      .in_chunks = true,
      .keeps_order = plan::keeps_order_from_root};
}

}  // namespace rankcheck::gpu::reduce_list

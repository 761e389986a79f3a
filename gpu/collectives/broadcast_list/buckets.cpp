#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/list.hpp"

namespace rankcheck::gpu::broadcast_list {

plan::Algorithm buckets() {
  return {
      .name = "buckets",
      .summary =
          "The arrays are copied into packs of equal size, which arrays may straddle. The packs "
          "are broadcast one after another.",
      .plan = plan::buckets<plan::tree_broadcast_array>,
      .in_chunks = true};
}

}  // namespace rankcheck::gpu::broadcast_list

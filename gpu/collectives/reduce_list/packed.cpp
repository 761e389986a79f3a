#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/list.hpp"

namespace rankcheck::gpu::reduce_list {

plan::Algorithm packed() {
  return {.name = "packed",
          .summary = "The arrays are copied into one pack, which is reduced at once and unpacked.",
          .plan = plan::packed<plan::tree_reduce_array>,
          .keeps_order = plan::keeps_order_from_root};
}

}  // namespace rankcheck::gpu::reduce_list

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/list.hpp"

namespace rankcheck::gpu::broadcast_list {

plan::Algorithm packed() {
  return {
      .name = "packed",
      .summary = "The arrays are copied into one pack, which is broadcast at once and unpacked.",
      .plan = plan::packed<plan::tree_broadcast_array>};
}

}  // namespace rankcheck::gpu::broadcast_list

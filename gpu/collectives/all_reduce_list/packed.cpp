#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/list.hpp"

namespace rankcheck::gpu::all_reduce_list {

plan::Algorithm packed() {
  return {.name = "packed",
          .summary = "The arrays are copied into one pack, which is reduced at once and unpacked.",
          .plan = plan::packed<plan::ring_all_reduce_array>};
}

}  // namespace rankcheck::gpu::all_reduce_list

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/list.hpp"

namespace rankcheck::gpu::broadcast_list {

plan::Algorithm one_by_one() {
  return {.name = "one_by_one",
          .summary = "The arrays are broadcast one after another, without copies.",
          .plan = plan::one_by_one<plan::tree_broadcast_array>};
}

}  // namespace rankcheck::gpu::broadcast_list

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/gather.hpp"

namespace rankcheck::gpu::gather {

plan::Algorithm direct() {
  return {
      .name = "direct",
      .summary =
          "Each rank writes its block to the root: one step, least traffic, all messages share the "
          "root's link.",
      .plan = plan::direct_gather};
}

}  // namespace rankcheck::gpu::gather

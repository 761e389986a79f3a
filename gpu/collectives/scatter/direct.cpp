#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/gather.hpp"

namespace rankcheck::gpu::scatter {

plan::Algorithm direct() {
  return {.name = "direct",
          .summary =
              "The root writes each rank's block: one step, least traffic, all messages share the "
              "root's link.",
          .plan = plan::direct_scatter};
}

}  // namespace rankcheck::gpu::scatter

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/reduce_scatter.hpp"

namespace rankcheck::gpu::reduce_scatter {

plan::Algorithm direct() {
  return {.name = "direct",
          .summary = "Each rank reduces its block from all peers' memory: one step.",
          .plan = plan::reduce_scatter<plan::direct_reduce_scatter>,
          .keeps_order = plan::always_keeps_order};
}

}  // namespace rankcheck::gpu::reduce_scatter

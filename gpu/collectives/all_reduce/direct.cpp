#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/reduce_scatter.hpp"

namespace rankcheck::gpu::all_reduce {

plan::Algorithm direct() {
  return {.name = "direct",
          .summary =
              "Each rank reduces its part from all peers' memory and writes it to all ranks: two "
              "steps.",
          .plan = plan::all_reduce<plan::reduce_scatter_from_peers, plan::direct_all_gather>,
          .keeps_order = plan::always_keeps_order};
}

}  // namespace rankcheck::gpu::all_reduce

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/tree.hpp"

namespace rankcheck::gpu::all_reduce {

namespace {

/// In place, a rank's memory is overwritten only after it was read, because the rank's result
/// depends on its own input.
void plan_binomial_tree(plan::Builder& builder) {
  plan::reduce_along_tree(builder, 0, plan::whole_send(builder), builder.recv(0));
  plan::broadcast_along_tree(builder, 0, plan::whole_recv(builder));
}

}  // namespace

plan::Algorithm binomial_tree() {
  return {.name = "binomial_tree",
          .summary =
              "Data is reduced up a binomial tree, then broadcast down: 2 log2(n) steps of whole "
              "messages, for small ones.",
          .plan = plan_binomial_tree,
          .keeps_order = plan::always_keeps_order};
}

}  // namespace rankcheck::gpu::all_reduce

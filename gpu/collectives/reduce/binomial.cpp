#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/tree.hpp"

namespace rankcheck::gpu::reduce {

namespace {

void plan_binomial(plan::Builder& builder) {
  const int root = builder.call().root;
  plan::reduce_along_tree(builder, root, plan::whole_send(builder), builder.recv(root));
}

}  // namespace

plan::Algorithm binomial() {
  return {.name = "binomial",
          .summary = "Partial results move up a binomial tree: log2(n) steps of whole messages.",
          .plan = plan_binomial,
          .keeps_order = plan::keeps_order_from_root};
}

}  // namespace rankcheck::gpu::reduce

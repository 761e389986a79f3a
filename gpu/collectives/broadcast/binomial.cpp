#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/tree.hpp"

namespace rankcheck::gpu::broadcast {

namespace {

void plan_binomial(plan::Builder& builder) {
  const int root = builder.call().root;
  plan::broadcast_along_tree(builder, root, plan::broadcast_message(builder));
  builder.copy(builder.recv(root), builder.send(root));
}

}  // namespace

plan::Algorithm binomial() {
  return {
      .name = "binomial",
      .summary =
          "The message travels down a binomial tree: log2(n) steps of whole messages, for small "
          "ones.",
      .plan = plan_binomial};
}

}  // namespace rankcheck::gpu::broadcast

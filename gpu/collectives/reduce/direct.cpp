#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/communication_round.hpp"
#include "gpu/plan/patterns/reduce_scatter.hpp"

namespace rankcheck::gpu::reduce {

namespace {

void plan_direct(plan::Builder& builder) {
  const int root = builder.call().root;
  plan::reduce_from_peers(builder, builder.recv(root), plan::whole_send(builder), 0);
  plan::wait_for_ranks(builder, root, root + 1);
}

}  // namespace

plan::Algorithm direct() {
  return {
      .name = "direct",
      .summary =
          "The root reduces from all peers' memory: one step, all messages share the root's link.",
      .plan = plan_direct,
      .keeps_order = plan::always_keeps_order};
}

}  // namespace rankcheck::gpu::reduce

#include "gpu/plan/patterns/by_host.hpp"

#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::broadcast {

namespace {

void plan_by_host(plan::Builder& builder) {
  const int root = builder.call().root;
  plan::broadcast_along(
      builder, plan::tree_by_host(builder, root), plan::broadcast_message(builder));
  builder.copy(builder.recv(root), builder.send(root));
}

}  // namespace

plan::Algorithm by_host() {
  return {.name = "by_host",
          .summary = "The message travels to one rank of each host, then within each host.",
          .plan = plan_by_host};
}

}  // namespace rankcheck::gpu::broadcast

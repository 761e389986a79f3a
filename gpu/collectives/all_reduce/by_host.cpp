#include "gpu/plan/patterns/by_host.hpp"

#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::all_reduce {

namespace {

void plan_by_host(plan::Builder& builder) {
  const std::vector<plan::Edge> edges = plan::tree_by_host(builder, 0);
  plan::reduce_along(builder, edges, 0, plan::whole_send(builder), builder.recv(0));
  plan::broadcast_along(builder, edges, plan::whole_recv(builder));
}

}  // namespace

plan::Algorithm by_host() {
  return {
      .name = "by_host",
      .summary =
          "Data is reduced within each host, then between the first ranks of the hosts, and it is "
          "broadcast the same way back.",
      .plan = plan_by_host};
}

}  // namespace rankcheck::gpu::all_reduce

#include "gpu/plan/patterns/by_host.hpp"

#include "gpu/plan/algorithm.hpp"

namespace rankcheck::gpu::reduce {

namespace {

void plan_by_host(plan::Builder& builder) {
  const int root = builder.call().root;
  plan::reduce_along(builder,
                     plan::tree_by_host(builder, root),
                     root,
                     plan::whole_send(builder),
                     builder.recv(root));
}

}  // namespace

plan::Algorithm by_host() {
  return {.name = "by_host",
          .summary =
              "Partial results are combined within each host, then between one rank of each host.",
          .plan = plan_by_host};
}

}  // namespace rankcheck::gpu::reduce

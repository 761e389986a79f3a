#include <cstddef>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/algorithm.hpp"
#include "gpu/plan/patterns/all_gather.hpp"
#include "gpu/plan/patterns/tree.hpp"

namespace rankcheck::gpu::broadcast {

namespace {

/// The message has one part for each rank. After the scatter, an inner rank of the tree already
/// holds the parts of the ranks below it. The ring skips these parts, so that no byte reaches a
/// rank twice and no byte reaches the root.
void plan_scatter_all_gather(plan::Builder& builder) {
  const int n = builder.ranks();
  const int root = builder.call().root;
  const plan::Place part_of = plan::parts_of(builder, plan::broadcast_message(builder));
  plan::scatter_along_tree(builder, root, part_of);

  std::vector<int> held(spec::to_size(n), n);
  for (const plan::Edge& edge : plan::binomial_tree(n, root)) {
    held[spec::to_size(edge.child)] = edge.size;
  }
  const plan::Place missing = [&](int rank, int block) {
    const bool holds = (block - rank + n) % n < held[spec::to_size(rank)];
    return holds ? plan::Range{} : part_of(rank, block);
  };
  plan::ring_all_gather(builder, part_of, missing);
  builder.copy(builder.recv(root), builder.send(root));
}

}  // namespace

plan::Algorithm scatter_all_gather() {
  return {.name = "scatter_all_gather",
          .summary =
              "A scatter down a binomial tree is followed by a ring all-gather: least traffic, for "
              "large messages.",
          .plan = plan_scatter_all_gather};
}

}  // namespace rankcheck::gpu::broadcast

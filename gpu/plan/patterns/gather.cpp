#include "gpu/plan/patterns/gather.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/patterns/communication_round.hpp"
#include "gpu/plan/patterns/tree.hpp"

namespace rankcheck::gpu::plan {

namespace {

/// The places of the blocks:
/// - at the root: in the root's array of all blocks
/// - at the block's own rank: in that rank's buffer of one block
/// - elsewhere: in scratch memory, one block after the other in the tree's order.
Place staged(Builder& builder, const Place& at_root, const Place& at_owner) {
  const int n = builder.ranks();
  const int root = builder.call().root;
  // elements[p]: the number of elements in all blocks of the first p ranks, counted from the root.
  std::vector<std::int64_t> elements{0};
  for (int p = 0; p < n; ++p) {
    elements.push_back(elements.back() + at_root(root, (root + p) % n).count);
  }
  const auto before = [n, root, elements](int rank) {
    return elements[spec::to_size((rank - root + n) % n)];
  };
  std::vector<Range> scratch(spec::to_size(n));
  for (const Edge& edge : binomial_tree(n, root)) {
    const int last = (edge.child - root + n) % n + edge.size;
    const std::int64_t size = elements[spec::to_size(last)] - before(edge.child);
    const std::int64_t own = at_owner(edge.child, edge.child).count;
    scratch[spec::to_size(edge.child)] = builder.scratch(edge.child, size - own);
  }
  return [=](int rank, int block) {
    if (rank == root) return at_root(rank, block);
    if (rank == block) return at_owner(rank, block);
    const std::int64_t count = at_root(root, block).count;
    const std::int64_t offset = before(block) - before(rank) - at_owner(rank, rank).count;
    return part(scratch[spec::to_size(rank)], offset, count);
  };
}

}  // namespace

void direct_gather(Builder& builder) {
  CommunicationRound round(builder);
  for (int r = 0; r < builder.ranks(); ++r) {
    round.put(builder.recv(builder.call().root, r), builder.send(r));
  }
  round.close();
}

void direct_scatter(Builder& builder) {
  CommunicationRound round(builder);
  for (int r = 0; r < builder.ranks(); ++r) {
    round.put(builder.recv(r), builder.send(builder.call().root, r));
  }
  round.close();
}

void binomial_gather(Builder& builder) {
  const int root = builder.call().root;
  builder.copy(builder.recv(root, root), builder.send(root));
  gather_blocks_along_tree(builder, recv_blocks(builder), whole_send(builder));
}

void gather_blocks_along_tree(Builder& builder, const Place& at_root, const Place& at_owner) {
  gather_along_tree(builder, builder.call().root, staged(builder, at_root, at_owner));
}

void binomial_scatter(Builder& builder) {
  const int root = builder.call().root;
  scatter_along_tree(builder, root, staged(builder, send_blocks(builder), whole_recv(builder)));
  builder.copy(builder.recv(root), builder.send(root, root));
}

}  // namespace rankcheck::gpu::plan

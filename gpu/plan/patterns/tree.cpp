#include "gpu/plan/patterns/tree.hpp"

#include <algorithm>
#include <bit>

#include "gpu/plan/patterns/communication_round.hpp"
#include "gpu/plan/patterns/partials.hpp"

namespace rankcheck::gpu::plan {

namespace {

/// The edges of the tree, from the leaves to the root.
std::vector<Edge> inward(int ranks, int root) {
  std::vector<Edge> edges = binomial_tree(ranks, root);
  std::reverse(edges.begin(), edges.end());
  return edges;
}

}  // namespace

std::vector<Edge> binomial_tree(int ranks, int root) {
  std::vector<Edge> edges;
  const auto outermost = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks - 1)));
  for (int distance = outermost; distance > 0; distance /= 2) {
    for (int position = 0; position + distance < ranks; position += 2 * distance) {
      const int child = position + distance;
      edges.push_back({.parent = (root + position) % ranks,
                       .child = (root + child) % ranks,
                       .size = std::min(distance, ranks - child)});
    }
  }
  return edges;
}

void broadcast_along(Builder& builder, const std::vector<Edge>& edges, const Place& place) {
  for (const Edge& edge : edges) {
    builder.wait(edge.child, builder.send_to(place(edge.child, 0), place(edge.parent, 0)));
  }
}

void broadcast_along_tree(Builder& builder, int root, const Place& place) {
  broadcast_along(builder, binomial_tree(builder.ranks(), root), place);
}

void reduce_along(
    Builder& builder, const std::vector<Edge>& edges, int root, const Place& in, const Range& out) {
  Partials partials(builder, in, 1);
  for (auto edge = edges.rbegin(); edge != edges.rend(); ++edge) {
    partials.send(edge->child, edge->parent, 0, 1);
  }
  partials.deliver(out, root, 0);
}

void reduce_along_tree(Builder& builder, int root, const Place& in, const Range& out) {
  reduce_along(builder, binomial_tree(builder.ranks(), root), root, in, out);
}

void scatter_along_tree(Builder& builder, int root, const Place& place) {
  CommunicationRound round(builder);
  for (const Edge& edge : binomial_tree(builder.ranks(), root)) {
    round.put(place, edge.parent, edge.child, {edge.child, edge.size});
    round.close();
  }
}

void gather_along_tree(Builder& builder, int root, const Place& place) {
  CommunicationRound round(builder);
  for (const Edge& edge : inward(builder.ranks(), root)) {
    round.put(place, edge.child, edge.parent, {edge.child, edge.size});
    round.close();
  }
}

}  // namespace rankcheck::gpu::plan

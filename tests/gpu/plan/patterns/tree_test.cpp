#include "gpu/plan/patterns/tree.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "reference/registry.hpp"

#include "gpu/plan/patterns/by_host.hpp"

namespace rankcheck::gpu::plan {

namespace {

using Row = std::array<int, 3>;

std::vector<Row> rows(const std::vector<Edge>& edges) {
  std::vector<Row> result;
  for (const Edge& edge : edges) result.push_back({edge.parent, edge.child, edge.size});
  return result;
}

TEST(BinomialTreeTest, HasNoEdgeForOneRank) {
  EXPECT_TRUE(binomial_tree(1, 0).empty());
}

TEST(BinomialTreeTest, GoesOutwardsFromTheRoot) {
  EXPECT_EQ(rows(binomial_tree(5, 0)),
            (std::vector<Row>{{0, 4, 1}, {0, 2, 2}, {0, 1, 1}, {2, 3, 1}}));
}

TEST(BinomialTreeTest, TurnsWithItsRoot) {
  EXPECT_EQ(rows(binomial_tree(3, 2)), (std::vector<Row>{{2, 1, 1}, {2, 0, 1}}));
}

using Pair = std::array<int, 2>;

/// Returns parent and child of each edge.
std::vector<Pair> tree(const std::vector<int>& hosts, int ranks, int root) {
  const spec::Call call{.ranks = ranks, .root = root, .count = 1};
  Plan plan;
  Builder builder;
  builder.begin(plan, reference::contract_named("broadcast"), call, {.hosts = hosts});
  std::vector<Pair> rows;
  for (const Edge& edge : tree_by_host(builder, root)) rows.push_back({edge.parent, edge.child});
  return rows;
}

TEST(TreeByHostTest, IsBinomialOnOneHost) {
  EXPECT_EQ(tree({}, 4, 0), (std::vector<Pair>{{0, 2}, {0, 1}, {2, 3}}));
}

TEST(TreeByHostTest, ReachesOneRankOfEachHostFirst) {
  EXPECT_EQ(tree({0, 1, 0, 1, 2}, 5, 0), (std::vector<Pair>{{0, 4}, {0, 1}, {0, 2}, {1, 3}}));
}

TEST(TreeByHostTest, StartsAtARootThatIsNotTheFirstOfItsHost) {
  EXPECT_EQ(tree({0, 0, 1, 0}, 4, 1), (std::vector<Pair>{{1, 2}, {1, 0}, {1, 3}}));
}

}  // namespace

}  // namespace rankcheck::gpu::plan

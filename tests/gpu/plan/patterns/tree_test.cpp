#include "gpu/plan/patterns/tree.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

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

}  // namespace

}  // namespace rankcheck::gpu::plan

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/registry.hpp"

namespace rankcheck::reference {
namespace {

using Points = std::vector<std::pair<double, double>>;

/// Returns the owners that a partition's reference gives to positions that rank 0 of `ranks` holds.
std::vector<int> owners_of(const std::string& kind, std::size_t ranks, const Points& points) {
  Setting in;
  in.counts.assign(ranks, 0);
  in.counts[0] = in.positions = static_cast<std::int64_t>(points.size());
  in.make(spec::Array::positions);
  for (std::size_t i = 0; i < points.size(); ++i) {
    in[spec::Array::positions].values[2 * i] = points[i].first;
    in[spec::Array::positions].values[2 * i + 1] = points[i].second;
  }
  Setting out = in;
  for (const PtychoOperator& each : ptycho()) {
    if (each.contract.name == "partition_" + kind) each.reference(in, out);
  }
  std::vector<int> owners;
  for (const auto& owner : out[spec::Array::owners].values) {
    owners.push_back(static_cast<int>(owner.real()));
  }
  return owners;
}

using Owners = std::vector<int>;

const Points corners{{500, 500}, {500, 504}, {504, 500}, {504, 504}};

TEST(PartitionTest, quadrants_of_four_are_the_corners) {
  EXPECT_EQ(owners_of("quadrants", 4, corners), (Owners{0, 1, 2, 3}));
}

TEST(PartitionTest, quadrants_leave_no_odd_rank_empty) {
  EXPECT_EQ(owners_of("quadrants", 3, corners), (Owners{0, 1, 2, 2}));
  EXPECT_EQ(owners_of("quadrants", 1, corners), (Owners{0, 0, 0, 0}));
}

TEST(PartitionTest, an_edge_belongs_to_the_stripe_below) {
  EXPECT_EQ(owners_of("stripes", 3, {{0, 0}, {1, 0}, {2, 0}, {3, 0}}), (Owners{0, 0, 1, 2}));
}

TEST(PartitionTest, scans_around_zero_are_cut_like_others) {
  EXPECT_EQ(owners_of("stripes", 2, {{-1, 0}, {0, 0}, {0.25, 0}, {1, 0}}), (Owners{0, 0, 1, 1}));
}

TEST(PartitionTest, equal_stripes_give_the_rest_to_the_first_ranks) {
  EXPECT_EQ(owners_of("equal_stripes", 3, {{3, 0}, {0, 0}, {2, 0}, {1, 0}}), (Owners{2, 0, 1, 0}));
}

TEST(PartitionTest, ties_are_cut_in_order) {
  EXPECT_EQ(owners_of("equal_stripes", 2, {{1, 1}, {1, 1}, {1, 1}}), (Owners{0, 0, 1}));
}

TEST(PartitionTest, a_grid_has_no_more_columns_than_rows) {
  EXPECT_EQ(owners_of("grid", 6, {{0, 0}, {3, 0}, {6, 4}}), (Owners{0, 2, 5}));
}

TEST(PartitionTest, compact_clusters_are_cut_along_the_longer_side) {
  EXPECT_EQ(owners_of("compact", 2, {{0, 0}, {0, 10}, {1, 1}, {1, 9}}), (Owners{0, 1, 0, 1}));
}

TEST(PartitionTest, interlaced_positions_go_round) {
  EXPECT_EQ(owners_of("interlaced", 3, corners), (Owners{0, 1, 2, 0}));
}

TEST(PartitionTest, more_ranks_than_positions_get_one_each) {
  EXPECT_EQ(owners_of("equal_stripes", 5, {{2, 0}, {1, 0}}), (Owners{1, 0}));
  EXPECT_EQ(owners_of("compact", 3, {{2, 0}, {1, 0}}), (Owners{1, 0}));
}

}  // namespace
}  // namespace rankcheck::reference

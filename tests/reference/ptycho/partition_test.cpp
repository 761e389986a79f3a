#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/print.hpp"
#include "tests/reference/ptycho/outputs.hpp"

/// Partitions of scan positions, and the exchange of positions and frames with their owners.
namespace rankcheck::reference {
namespace {

/// Rows and columns of scan positions.
using Points = std::vector<std::pair<double, double>>;
using Owners = std::vector<int>;

const Points four_corners{{500, 500}, {500, 504}, {504, 500}, {504, 504}};

/// A partition of positions that rank 0 of `ranks` holds.
struct Partition {
  Operator by;
  std::size_t ranks;
  Points points;
  Owners owners;
};

struct Example {
  std::string_view shows;
  Partition partition;

  friend void PrintTo(const Example& each, std::ostream* out) { *out << each.shows; }
};

const std::vector<Example> examples{
    {"compact: clusters are cut along the longer side",
     {partition_compact::reference, 2, {{0, 0}, {0, 10}, {1, 1}, {1, 9}}, {0, 1, 0, 1}}},
    {"compact: more ranks than positions get one each",
     {partition_compact::reference, 3, {{2, 0}, {1, 0}}, {1, 0}}},
    // The two smallest rows are the second and the last position.
    {"consecutive: shares keep the order of the positions",
     {partition_consecutive::reference, 2, {{5, 0}, {1, 0}, {4, 0}, {2, 0}}, {0, 0, 1, 1}}},
    {"consecutive: the first of three ranks gets one of four positions more",
     {partition_consecutive::reference, 3, four_corners, {0, 0, 1, 2}}},
    {"consecutive: the first two of three ranks get one of five positions more",
     {partition_consecutive::reference,
      3,
      {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}},
      {0, 0, 1, 1, 2}}},
    {"consecutive: more ranks than positions get one each as long as there are any",
     {partition_consecutive::reference, 4, {{2, 0}, {1, 0}}, {0, 1}}},
    {"consecutive: a single rank gets all positions",
     {partition_consecutive::reference, 1, four_corners, {0, 0, 0, 0}}},
    {"consecutive: no positions have no owners", {partition_consecutive::reference, 3, {}, {}}},
    {"equal stripes: the first ranks get the rest",
     {partition_equal_stripes::reference, 3, {{3, 0}, {0, 0}, {2, 0}, {1, 0}}, {2, 0, 1, 0}}},
    {"equal stripes: ties are cut in order",
     {partition_equal_stripes::reference, 2, {{1, 1}, {1, 1}, {1, 1}}, {0, 0, 1}}},
    {"equal stripes: more ranks than positions get one each",
     {partition_equal_stripes::reference, 5, {{2, 0}, {1, 0}}, {1, 0}}},
    // Six ranks have three rows of two columns.
    {"grid: no more columns than rows",
     {partition_grid::reference, 6, {{0, 0}, {3, 0}, {6, 4}}, {0, 2, 5}}},
    {"grid: a prime number of ranks has one column",
     {partition_grid::reference, 5, {{0, 0}, {0, 4}, {2, 0}, {5, 4}}, {0, 0, 1, 4}}},
    {"interlaced: positions go round",
     {partition_interlaced::reference, 3, four_corners, {0, 1, 2, 0}}},
    {"quadrants: quadrants of four are the corners",
     {partition_quadrants::reference, 4, four_corners, {0, 1, 2, 3}}},
    {"quadrants: no odd rank is left empty",
     {partition_quadrants::reference, 3, four_corners, {0, 1, 2, 2}}},
    {"quadrants: a single rank is not left empty",
     {partition_quadrants::reference, 1, four_corners, {0, 0, 0, 0}}},
    // The first outputs of SplitMix64 from 0 begin with e220, 6e78, 06c4, f88b and 1b39, as its
    // author's program prints. So the order is 2, 4, 1 for rank 0, and 0, 3 for rank 1.
    {"random: positions are ordered by their hash",
     {partition_random::reference, 2, {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 4}}, {1, 0, 0, 1, 0}}},
    {"random: where a position lies does not matter",
     {partition_random::reference, 2, {{9, 4}, {-3, 1}, {5, 2}, {7, 3}, {7, 3}}, {1, 0, 0, 1, 0}}},
    {"stripes: an edge belongs to the stripe below",
     {partition_stripes::reference, 3, {{0, 0}, {1, 0}, {2, 0}, {3, 0}}, {0, 0, 1, 2}}},
    {"stripes: scans around zero are cut like others",
     {partition_stripes::reference, 2, {{-1, 0}, {0, 0}, {0.25, 0}, {1, 0}}, {0, 0, 1, 1}}}};

class PartitionTest : public testing::TestWithParam<Example> {};

INSTANTIATE_TEST_SUITE_P(ByHand, PartitionTest, testing::ValuesIn(examples), tests::printed_name);

TEST_P(PartitionTest, GivesPositionsTheseOwners) {
  const auto& [by, ranks, points, expected] = GetParam().partition;
  std::vector<std::int64_t> counts(ranks, 0);
  counts[0] = std::ssize(points);
  Values positions;
  for (const auto& [row, col] : points) {
    positions.emplace_back(row);
    positions.emplace_back(col);
  }
  const OperatorArrays in = arrays_of({}, counts, {{Array::positions, positions}});
  const OperatorArrays out = outputs_of(by, in);
  Owners owners;
  for (const Value& owner : out[Array::owners].values) {
    owners.push_back(static_cast<int>(owner.real()));
  }
  EXPECT_EQ(owners, expected);
}

/// Three positions of three ranks: rank 0 has two of them, and rank 2 has one. Rank 2 owns the
/// first and the last position, and rank 0 owns the other.
OperatorArrays scan_of(const Given& given) {
  OperatorArrays in = arrays_of({.window = 1, .detector = 1}, {2, 0, 1}, given);
  in.make(Array::owners).values = {2, 0, 2};
  return in;
}

const Given scan{{Array::positions, {1, 2, 3, 4, 5, 6}}, {Array::frames, {7, 8, 9}}};

TEST(RedistributeTest, PositionsAndFramesGoToTheirOwnersAndZerosFollow) {
  const OperatorArrays out = outputs_of(redistribute::reference, scan_of(scan));
  EXPECT_EQ(out[Array::shard_positions].values,
            (Values{3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 5, 6, 0, 0}));
  EXPECT_EQ(out[Array::shard_frames].values, (Values{8, 0, 0, 0, 0, 0, 7, 9, 0}));
}

TEST(RedistributeTest, AFrameGoesAsAWhole) {
  const OperatorArrays in = arrays_of(
      {.window = 2, .detector = 2},
      {1, 1},
      {{Array::owners, {1, 1}}, {Array::positions, {}}, {Array::frames, {1, 2, 3, 4, 5, 6, 7, 8}}});
  EXPECT_EQ(outputs_of(redistribute::reference, in)[Array::shard_frames].values,
            (Values{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(RedistributeTest, ErrorsOfFramesGoWithThem) {
  OperatorArrays in = scan_of(scan);
  in[Array::frames].errors = {0.5, 0.25, 2};
  EXPECT_EQ(outputs_of(redistribute::reference, in)[Array::shard_frames].errors,
            (Errors{0.25, 0, 0, 0, 0, 0, 0.5, 2, 0}));
}

/// Behind a rank's own positions, a shard holds 99, which has no meaning.
const Given shards{
    {Array::shard_positions, {3, 4, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 1, 2, 5, 6, 99, 99}},
    {Array::shard_frames, {8, 99, 99, 99, 99, 99, 7, 9, 99}}};

TEST(FuseTest, PositionsAndFramesComeBackInTheirOrder) {
  const OperatorArrays out = outputs_of(fuse::reference, scan_of(shards));
  expect_values(out, {{Array::positions, {1, 2, 3, 4, 5, 6}}, {Array::frames, {7, 8, 9}}});
}

TEST(FuseTest, AFrameComesBackAsAWhole) {
  const OperatorArrays in = arrays_of({.window = 2, .detector = 2},
                                      {0, 1},
                                      {{Array::owners, {1}},
                                       {Array::shard_positions, {}},
                                       {Array::shard_frames, {99, 99, 99, 99, 1, 2, 3, 4}}});
  EXPECT_EQ(outputs_of(fuse::reference, in)[Array::frames].values, (Values{1, 2, 3, 4}));
}

TEST(FuseTest, ErrorsOfFramesComeBackWithThem) {
  OperatorArrays in = scan_of(shards);
  in[Array::shard_frames].errors = {0.25, 9, 9, 9, 9, 9, 0.5, 2, 9};
  EXPECT_EQ(outputs_of(fuse::reference, in)[Array::frames].errors, (Errors{0.5, 0.25, 2}));
}

}  // namespace
}  // namespace rankcheck::reference

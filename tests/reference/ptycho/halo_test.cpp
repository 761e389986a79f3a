#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

/// Exchanges of halos.
namespace rankcheck::reference {
namespace {

/// The pixels of all ranks, with their halos.
using Tiles = std::vector<double>;

/// Four rows of one column with a halo of one row. Rank r's tile has counts[r] rows.
constexpr spec::Scene column{.rows = 4, .cols = 1, .window = 1, .detector = 1, .halo = 1};

Tiles exchanged(Operator operation,
                const std::vector<std::int64_t>& counts,
                const Tiles& tiles,
                const spec::Scene& scene = column) {
  const OperatorArrays in =
      arrays_of(scene, counts, {{Array::tile, Values(tiles.begin(), tiles.end())}});
  const OperatorArrays out = outputs_of(operation, in);
  Tiles values;
  for (const Value& value : out[Array::tile].values) values.push_back(value.real());
  return values;
}

/// Exchanges two rows of three columns between four ranks, with a halo of one pixel. Ranks 0 and 1
/// own the first row, and ranks 2 and 3 the second row. Ranks 0 and 2 own the first column, and
/// ranks 1 and 3 the other two columns. With the halo, ranks 0 and 2 hold the first two columns of
/// both rows, and ranks 1 and 3 hold all pixels.
Tiles exchanged_in_a_grid(Operator operation, const Tiles& tiles) {
  return exchanged(operation,
                   {1, 2, 1, 2},
                   tiles,
                   {.rows = 2, .cols = 3, .window = 1, .detector = 1, .tile_cols = 2, .halo = 1});
}

/// Two ranks with tiles of two rows: rank 0 holds rows 0 to 2 and rank 1 rows 1 to 3.
const Tiles of_two{1, 2, 3, 10, 20, 30};
/// The tiles are row 0, row 1, and rows 2 and 3. The ranks hold rows 0 to 1, 0 to 2, and 1 to 3.
const Tiles of_three{1, 2, 10, 20, 30, 200, 300, 400};
const Tiles of_grid{1,    2,    3,    4,                  // rank 0: two rows of two columns
                    10,   20,   30,   40,   50,   60,     // rank 1: two rows of three columns
                    100,  200,  300,  400,                // rank 2
                    1000, 2000, 3000, 4000, 5000, 6000};  // rank 3

TEST(HaloAccumulateTest, AddsTheCopies) {
  EXPECT_EQ(exchanged(halo_accumulate::reference, {2, 2}, of_two), (Tiles{1, 12, 23, 12, 23, 30}));
  EXPECT_EQ(exchanged(halo_accumulate::reference, {1, 1, 2}, of_three),
            (Tiles{11, 222, 11, 222, 330, 222, 330, 400}));
  // Pixel (1, 0) has the copies 3, 40, 300 and 4000. Ranks 1 and 3 alone hold the last column.
  EXPECT_EQ(exchanged_in_a_grid(halo_accumulate::reference, of_grid),
            (Tiles{1111, 2222, 4343, 5454,              //
                   1111, 2222, 3030, 4343, 5454, 6060,  //
                   1111, 2222, 4343, 5454,              //
                   1111, 2222, 3030, 4343, 5454, 6060}));
}

TEST(HaloReplaceTest, TakesTheOwnersCopy) {
  EXPECT_EQ(exchanged(halo_replace::reference, {2, 2}, of_two), (Tiles{1, 2, 20, 2, 20, 30}));
  EXPECT_EQ(exchanged(halo_replace::reference, {1, 1, 2}, of_three),
            (Tiles{1, 20, 1, 20, 300, 20, 300, 400}));
  // The owners' copies are 1 of rank 0, 20 and 30 of rank 1, 300 of rank 2, and 5000 and 6000 of
  // rank 3.
  EXPECT_EQ(exchanged_in_a_grid(halo_replace::reference, of_grid),
            (Tiles{1, 20, 300, 5000,              //
                   1, 20, 30,  300,  5000, 6000,  //
                   1, 20, 300, 5000,              //
                   1, 20, 30,  300,  5000, 6000}));
}

TEST(HaloBlendTest, RampsFromOneTileToTheOther) {
  // The weights are 2 and 1 in row 1, and 1 and 2 in row 2.
  EXPECT_EQ(exchanged(halo_blend::reference, {2, 2}, {1, 3, 6, 9, 12, 30}),
            (Tiles{1, 5, 10, 5, 10, 30}));
  // It treats neighbours alike.
  EXPECT_EQ(exchanged(halo_blend::reference, {2, 2}, {30, 12, 9, 6, 3, 1}),
            (Tiles{30, 10, 5, 10, 5, 1}));
  // The weights are 2 and 3 in row 0, 1, 2 and 1 in row 1, and 1 and 2 in row 2.
  EXPECT_EQ(exchanged(halo_blend::reference, {1, 1, 2}, {5, 4, 10, 6, 3, 12, 9, 1}),
            (Tiles{8, 7, 8, 7, 7, 7, 7, 1}));
}

TEST(HaloBlendTest, RampsAlongTheColumnsOfAGridOfTiles) {
  // No edge between tiles ends a box in the rows, so all row ramps are 3. The boxes of ranks 0 and
  // 2 end behind column 1, so their column ramps are 2 and 1. The column ramps of ranks 1 and 3 are
  // 3. So the weights are 6 and 9 in column 0, and 3 and 9 in column 1.
  //   (0, 0): (6 * 5 + 9 * 10) / 30 = 4     (1, 0): (6 * 15 + 9 * 10) / 30 = 6
  //   (0, 1): (3 * 8 + 9 * 16) / 24 = 7     (1, 1): (3 * 8 + 9 * 8) / 24 = 4
  //   (0, 2): (9 * 3 + 9 * 5) / 18 = 4      (1, 2): (9 * 1 + 9 * 3) / 18 = 2
  const Tiles tiles{5,  8,  0,  0,          // rank 0: two rows of two columns
                    10, 16, 3,  0,  0, 1,   // rank 1: two rows of three columns
                    0,  0,  15, 8,          // rank 2
                    0,  0,  5,  10, 8, 3};  // rank 3
  EXPECT_EQ(exchanged_in_a_grid(halo_blend::reference, tiles), (Tiles{4, 7, 6, 4,        //
                                                                      4, 7, 4, 6, 4, 2,  //
                                                                      4, 7, 6, 4,        //
                                                                      4, 7, 4, 6, 4, 2}));
}

}  // namespace
}  // namespace rankcheck::reference

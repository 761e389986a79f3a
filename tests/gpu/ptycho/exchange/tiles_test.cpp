#include "gpu/ptycho/exchange/tiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "gpu/ptycho/exchange/object_shares.hpp"

#include "tests/gpu/ptycho/devices.hpp"

namespace rankcheck::gpu {
namespace {

using spec::Box;

constexpr spec::Scene tiled{.rows = 5, .cols = 6, .window = 2, .detector = 2};
constexpr Box whole{.rows = 5, .cols = 6};

/// Four tiles that all hold the pixel (2, 2), and a rank without a tile.
const std::vector<Box> corners{{.row = 0, .col = 0, .rows = 3, .cols = 3},
                               {.row = 0, .col = 2, .rows = 3, .cols = 4},
                               {},
                               {.row = 2, .col = 0, .rows = 3, .cols = 4},
                               {.row = 2, .col = 2, .rows = 3, .cols = 4}};

/// Fills each rank's array with its number of `values` and adds the arrays up. Returns each rank's
/// sums.
std::vector<std::vector<double>> sums_of(const std::vector<Box>& held,
                                         const std::vector<double>& values) {
  Devices devices(static_cast<int>(held.size()));
  ObjectShares shares(devices, tiled, held);
  std::vector<double*> in;
  std::vector<double*> out;
  for (std::size_t r = 0; r < held.size(); ++r) {
    const auto pixels = spec::to_size(held[r].pixels());
    in.push_back(devices.put(static_cast<int>(r), std::vector<double>(pixels, values[r])));
    out.push_back(devices.put(static_cast<int>(r), std::vector<double>(pixels)));
  }
  shares.sum(in, out);
  std::vector<std::vector<double>> sums;
  for (std::size_t r = 0; r < held.size(); ++r) {
    sums.push_back(devices.read_array(static_cast<int>(r), out[r], held[r].pixels()));
  }
  return sums;
}

/// Expects that every copy of every pixel holds its holders' values, added in rank order.
void expect_sums(const std::vector<Box>& held, const std::vector<double>& values) {
  SCOPED_TRACE(testing::PrintToString(values));
  const auto sums = sums_of(held, values);
  for (std::size_t r = 0; r < held.size(); ++r) {
    for (std::int64_t i = 0; i < held[r].pixels(); ++i) {
      const std::int64_t row = held[r].row + i / held[r].cols;
      const std::int64_t col = held[r].col + i % held[r].cols;
      double expected = 0;
      for (std::size_t q = 0; q < held.size(); ++q) {
        if (held[q].has(row, col)) expected += values[q];
      }
      EXPECT_EQ(sums[r][spec::to_size(i)], expected)
          << "rank " << r << ", row " << row << ", column " << col;
    }
  }
}

TEST(TilesTest, CopiesOfAPixelAreSummedOverItsHoldersInRankOrder) {
  expect_sums(corners, {1, 10, 100, 1000, 10000});
  expect_sums(corners, {1, 0x1p60, 0, -0x1p60, 1});
  expect_sums(whole_objects(tiled, 3), {1, 10, 100});
  expect_sums({corners[1]}, {7});
  expect_sums({{}, {}}, {1, 2});
}

TEST(TilesTest, EveryPixelCountsOnceOnTheLowestRank) {
  Devices devices(static_cast<int>(corners.size()));
  ObjectShares shares(devices, tiled, corners);
  std::vector<int> counts(spec::to_size(whole.pixels()));
  for (int rank = 0; rank < devices.ranks(); ++rank) {
    const Box& box = corners[spec::to_size(rank)];
    const auto counted = devices.read_array(rank, shares.counted(rank), box.pixels());
    for (std::int64_t i = 0; i < box.pixels(); ++i) {
      const std::int64_t pixel = (box.row + i / box.cols) * whole.cols + box.col + i % box.cols;
      counts[spec::to_size(pixel)] += counted[spec::to_size(i)];
    }
  }
  EXPECT_EQ(counts, std::vector<int>(counts.size(), 1));
  EXPECT_EQ(devices.read_array(1, shares.counted(1), 12),
            (std::vector<std::uint8_t>{0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1}));
}

TEST(TilesTest, ABoxHoldsTheBilinearNeighboursOfItsWindowsInTheObject) {
  const std::array inside{1.5F, 0.0F, 0.25F, 2.75F};
  EXPECT_EQ(box_of_windows<float>(tiled, inside), (Box{.row = 0, .col = 0, .rows = 4, .cols = 5}));
  const std::array beyond{-0.5, 4.5, 3.0, 5.0};
  EXPECT_EQ(box_of_windows<double>(tiled, beyond), (Box{.row = 0, .col = 4, .rows = 5, .cols = 2}));
  const std::array beside{0.0, 9.0};
  EXPECT_EQ(box_of_windows<double>(tiled, beside).pixels(), 0);
  EXPECT_EQ(box_of_windows<float>(tiled, {}), Box{});
}

/// Whether a box holds the object's rows from a window's first row to the row behind the window.
bool has_footprint(const Box& box, double corner) {
  const auto first = static_cast<std::int64_t>(std::floor(corner));
  for (std::int64_t row = std::max<std::int64_t>(first, 0);
       row <= std::min<std::int64_t>(first + tiled.window, tiled.rows - 1);
       ++row) {
    if (!box.has(row, box.col)) return false;
  }
  return true;
}

TEST(TilesTest, BoxesHoldTheFootprintsOfAllWindows) {
  constexpr int steps = 4;
  for (int i = -3 * steps; i <= tiled.rows * steps; ++i) {
    for (int k = -3 * steps; k <= tiled.rows * steps; ++k) {
      const double first = static_cast<double>(i) / steps;
      const double second = static_cast<double>(k) / steps;
      const std::array positions{first, 1.5, second, 1.5};
      const Box box = box_of_windows<double>(tiled, positions);
      EXPECT_TRUE(has_footprint(box, first) && has_footprint(box, second))
          << "rows " << first << " and " << second;
    }
  }
}

TEST(TilesTest, EveryRankLearnsAllBoxes) {
  Devices devices(static_cast<int>(corners.size()));
  EXPECT_EQ(gather_boxes(devices, corners), corners);
}

TEST(TilesTest, PositionsMoveWithoutRounding) {
  Devices devices(1);
  float* const moved = devices.put(0, std::vector<float>(2));
  const float* const positions = devices.put(0, std::vector<float>{2.1F, 700.3F});
  move_positions(devices, 0, 1, {.row = 2, .col = 700}, positions, moved);
  EXPECT_EQ(devices.read_array(0, moved, 2), (std::vector<float>{2.1F - 2, 700.3F - 700}));
}

TEST(TilesTest, AWholeObjectHasTheLowestHoldersPixels) {
  const std::vector<Box> held{{.row = 1, .col = 1, .rows = 2, .cols = 2},
                              {.row = 1, .col = 2, .rows = 1, .cols = 2}};
  Devices devices(2);
  std::vector<Complex<double>*> tiles;
  std::vector<Complex<double>*> objects;
  for (int rank = 0; rank < 2; ++rank) {
    const double value = rank + 1;
    tiles.push_back(devices.put(rank, std::vector<Complex<double>>(4, {value, -value})));
    objects.push_back(devices.put(rank, std::vector<Complex<double>>(30, {9, 0})));
  }
  assemble(devices, tiled, held, tiles, objects);
  for (int rank = 0; rank < 2; ++rank) {
    const auto object = devices.read_array(rank, objects[spec::to_size(rank)], 30);
    std::vector<double> second_row;
    for (std::size_t col = 0; col < 6; ++col) second_row.push_back(object[6 + col].re);
    EXPECT_EQ(second_row, (std::vector<double>{9, 1, 1, 2, 9, 9})) << "rank " << rank;
  }
}

}  // namespace
}  // namespace rankcheck::gpu

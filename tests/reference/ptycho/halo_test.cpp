#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/registry.hpp"

namespace rankcheck::reference {
namespace {

/// Exchanges four rows of one column in two tiles of two rows. With the halo, rank 0 holds rows 0
/// to 2 and rank 1 rows 1 to 3.
std::vector<double> exchanged(const std::string& kind, const std::vector<double>& tiles) {
  Setting in;
  in.scene = {.rows = 4, .cols = 1, .window = 1, .detector = 1, .halo = 1};
  in.counts = {2, 2};
  in.make(spec::Array::tile);
  for (std::size_t i = 0; i < tiles.size(); ++i) in[spec::Array::tile].values[i] = tiles[i];
  Setting out = in;
  for (const PtychoOperator& each : ptycho()) {
    if (each.contract.name == "halo_" + kind) each.reference(in, out);
  }
  std::vector<double> values;
  for (const auto& value : out[spec::Array::tile].values) values.push_back(value.real());
  return values;
}

using Tiles = std::vector<double>;

TEST(HaloTest, accumulate_adds_the_copies) {
  EXPECT_EQ(exchanged("accumulate", {1, 2, 3, 10, 20, 30}), (Tiles{1, 12, 23, 12, 23, 30}));
}

TEST(HaloTest, replace_takes_the_owners_copy) {
  EXPECT_EQ(exchanged("replace", {1, 2, 3, 10, 20, 30}), (Tiles{1, 2, 20, 2, 20, 30}));
}

TEST(HaloTest, blend_ramps_from_one_tile_to_the_other) {
  // The weights are 2 and 1 in row 1, and 1 and 2 in row 2.
  EXPECT_EQ(exchanged("blend", {1, 3, 6, 9, 12, 30}), (Tiles{1, 5, 10, 5, 10, 30}));
}

TEST(HaloTest, blend_treats_neighbours_alike) {
  EXPECT_EQ(exchanged("blend", {30, 12, 9, 6, 3, 1}), (Tiles{30, 10, 5, 10, 5, 1}));
}

}  // namespace
}  // namespace rankcheck::reference

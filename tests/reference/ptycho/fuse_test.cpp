#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::fuse {
namespace {

using spec::Array;

/// Three positions of three ranks: rank 0 has two of them, and rank 2 has one. Rank 2 owns the
/// first and the last position, and rank 0 owns the other. Behind a rank's own positions, a shard
/// holds 99, which has no meaning.
OperatorArrays shards() {
  OperatorArrays in = empty_arrays({.window = 1, .detector = 1}, {2, 0, 1});
  in.make(Array::owners).values = {2, 0, 2};
  in.make(Array::shard_positions).values = {
      3, 4, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 1, 2, 5, 6, 99, 99};
  in.make(Array::shard_frames).values = {8, 99, 99, 99, 99, 99, 7, 9, 99};
  return in;
}

TEST(FuseTest, PositionsComeBackInTheirOrder) {
  EXPECT_EQ(outputs_of(reference, shards())[Array::positions].values, (Values{1, 2, 3, 4, 5, 6}));
}

TEST(FuseTest, FramesComeBackWithTheirPositions) {
  EXPECT_EQ(outputs_of(reference, shards())[Array::frames].values, (Values{7, 8, 9}));
}

TEST(FuseTest, AFrameComesBackAsAWhole) {
  OperatorArrays in = empty_arrays({.window = 2, .detector = 2}, {0, 1});
  in.make(Array::owners).values = {1};
  in.make(Array::shard_positions);
  in.make(Array::shard_frames).values = {99, 99, 99, 99, 1, 2, 3, 4};
  EXPECT_EQ(outputs_of(reference, in)[Array::frames].values, (Values{1, 2, 3, 4}));
}

TEST(FuseTest, ErrorsOfFramesComeBackWithThem) {
  OperatorArrays in = shards();
  in[Array::shard_frames].errors = {0.25, 9, 9, 9, 9, 9, 0.5, 2, 9};
  EXPECT_EQ(outputs_of(reference, in)[Array::frames].errors, (std::vector<double>{0.5, 0.25, 2}));
}

}  // namespace
}  // namespace rankcheck::reference::fuse

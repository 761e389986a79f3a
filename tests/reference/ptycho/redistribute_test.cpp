#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::redistribute {
namespace {

using spec::Array;

/// Three positions of three ranks: rank 0 has two of them, and rank 2 has one. Rank 2 owns the
/// first and the last position, and rank 0 owns the other.
OperatorArrays scan() {
  OperatorArrays in = empty_arrays({.window = 1, .detector = 1}, {2, 0, 1});
  in.make(Array::owners).values = {2, 0, 2};
  in.make(Array::positions).values = {1, 2, 3, 4, 5, 6};
  in.make(Array::frames).values = {7, 8, 9};
  return in;
}

TEST(RedistributeTest, PositionsGoToTheirOwnersAndZerosFollow) {
  EXPECT_EQ(outputs_of(reference, scan())[Array::shard_positions].values,
            (Values{3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 5, 6, 0, 0}));
}

TEST(RedistributeTest, FramesGoToTheOwnersOfTheirPositions) {
  EXPECT_EQ(outputs_of(reference, scan())[Array::shard_frames].values,
            (Values{8, 0, 0, 0, 0, 0, 7, 9, 0}));
}

TEST(RedistributeTest, AFrameGoesAsAWhole) {
  OperatorArrays in = empty_arrays({.window = 2, .detector = 2}, {1, 1});
  in.make(Array::owners).values = {1, 1};
  in.make(Array::positions);
  in.make(Array::frames).values = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(outputs_of(reference, in)[Array::shard_frames].values,
            (Values{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(RedistributeTest, ErrorsOfFramesGoWithThem) {
  OperatorArrays in = scan();
  in[Array::frames].errors = {0.5, 0.25, 2};
  EXPECT_EQ(outputs_of(reference, in)[Array::shard_frames].errors,
            (std::vector<double>{0.25, 0, 0, 0, 0, 0, 0.5, 2, 0}));
}

}  // namespace
}  // namespace rankcheck::reference::redistribute

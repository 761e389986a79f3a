#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::probe_preconditioner {
namespace {

using spec::Array;

TEST(ProbePreconditionerTest, SumsTheSquaredMagnitudesOfAllPositions) {
  // Between the pixels there is 1 + 2i, with 5. On the second pixel there is 4i, with 16.
  OperatorArrays in = empty_arrays({.rows = 1, .cols = 2, .window = 1, .detector = 1}, {1, 1});
  in.make(Array::object).values = {2, 4i};
  in.make(Array::positions).values = {0, 0.5, 0, 1};
  EXPECT_EQ(outputs_of(reference, in)[Array::probe_weight].values, Values{21});
}

TEST(ProbePreconditionerTest, APixelOfTheWindowSeesItsPixelsOfTheObject) {
  // 1 + 4, 4 + 9, 16 + 25 and 25 + 36, with windows in the middle of frames.
  OperatorArrays in = empty_arrays({.rows = 2, .cols = 3, .window = 2, .detector = 4}, {2, 0});
  in.make(Array::object).values = {1, 2i, 3, 4, 5, 6i};
  in.make(Array::positions).values = {0, 0, 0, 1};
  EXPECT_EQ(outputs_of(reference, in)[Array::probe_weight].values, (Values{5, 13, 41, 61}));
}

TEST(ProbePreconditionerTest, NothingIsSeenOutsideTheObject) {
  OperatorArrays in = empty_arrays({.rows = 1, .cols = 1, .window = 2, .detector = 2}, {1});
  in.make(Array::object).values = {3i};
  in.make(Array::positions).values = {-1, 0};
  EXPECT_EQ(outputs_of(reference, in)[Array::probe_weight].values, (Values{0, 0, 9, 0}));
}

TEST(ProbePreconditionerTest, TheErrorOfTheObjectIsSquaredWithIt) {
  OperatorArrays in = empty_arrays({.rows = 1, .cols = 1, .window = 1, .detector = 1}, {2});
  in.make(Array::object).values = {3};
  in[Array::object].errors = {0.5};
  in.make(Array::positions);
  expect_bound(outputs_of(reference, in)[Array::probe_weight].errors[0], 2 * (3.5 * 3.5 - 3 * 3));
}

}  // namespace
}  // namespace rankcheck::reference::probe_preconditioner

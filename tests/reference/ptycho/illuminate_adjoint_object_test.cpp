#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/lit_row.hpp"
#include "tests/reference/ptycho/lit_window.hpp"
#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::illuminate_adjoint_object {
namespace {

using spec::Array;

TEST(IlluminateAdjointObjectTest, ModesComeBackWithTheConjugateProbe) {
  OperatorArrays in = lit_row();
  in[Array::probe].values = {2, 1i};
  in[Array::waves].values[frame_middle] = 1;
  in[Array::waves].values[frame_size + frame_middle] = 1;
  const OperatorArrays out = outputs_of(reference, in);
  EXPECT_EQ(out[Array::object].values, (Values{0.75 * (2.0 - 1i), 0.25 * (2.0 - 1i)}));
}

TEST(IlluminateAdjointObjectTest, WhatLiesAroundTheWindowIsDropped) {
  OperatorArrays in = lit_row();
  in[Array::probe].values = {2, 1i};
  in[Array::waves].values[0] = 1;
  const OperatorArrays out = outputs_of(reference, in);
  EXPECT_EQ(out[Array::object].values, (Values{0, 0}));
}

TEST(IlluminateAdjointObjectTest, EachPixelOfTheWindowGoesToItsPlaceInTheObject) {
  // Waves times the conjugate probe are 4, 8, -4i and -8. Three quarters stay in their row, and one
  // quarter goes to the next row.
  OperatorArrays in = lit_window();
  in[Array::waves].values = {4, 4, 4, 8};
  EXPECT_EQ(outputs_of(reference, in)[Array::object].values,
            (Values{0, 3, 6, 0, 1.0 - 3i, 2 - 6, 0, -1i, -2}));
}

}  // namespace
}  // namespace rankcheck::reference::illuminate_adjoint_object

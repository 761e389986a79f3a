#include <gtest/gtest.h>

#include "reference/ptycho/illuminate_adjoint_object/reference.hpp"

#include "tests/reference/ptycho/lit_row.hpp"
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

}  // namespace
}  // namespace rankcheck::reference::illuminate_adjoint_object

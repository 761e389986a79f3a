#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/lit_row.hpp"
#include "tests/reference/ptycho/lit_window.hpp"
#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::illuminate_adjoint_probe {
namespace {

using spec::Array;

TEST(IlluminateAdjointProbeTest, PositionsAreSummedWithTheConjugateWindow) {
  OperatorArrays in = lit_row();
  in[Array::waves].values[frame_middle] = 1;
  in[Array::waves].values[2 * frame_size + frame_middle] = 1i;
  const OperatorArrays out = outputs_of(reference, in);
  EXPECT_EQ(out[Array::probe].values, (Values{3.0 + 2i, 0}));
}

TEST(IlluminateAdjointProbeTest, PositionsOfAVaryingProbeStayApart) {
  OperatorArrays in = lit_row(true);
  in[Array::waves].values[frame_middle] = 1;
  in[Array::waves].values[2 * frame_size + frame_middle] = 1i;
  const OperatorArrays out = outputs_of(reference, in);
  EXPECT_EQ(out[Array::probe].values, (Values{3.0 - 2i, 0, 4i, 0}));
}

TEST(IlluminateAdjointProbeTest, EachPixelOfTheWindowGoesToItsPixelOfTheProbe) {
  // The patch is 11, 15, 15 + i and 20.
  OperatorArrays in = lit_window();
  in[Array::waves].values = {4, 4, 4, 8};
  EXPECT_EQ(outputs_of(reference, in)[Array::probe].values, (Values{44, 60, 60.0 - 4i, 160}));
}

}  // namespace
}  // namespace rankcheck::reference::illuminate_adjoint_probe

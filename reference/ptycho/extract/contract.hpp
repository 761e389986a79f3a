#pragma once

#include "reference/spec/operator.hpp"

namespace rankcheck::reference::extract {

/// Every position's window of the object, with bilinear interpolation between pixels. The window's
/// corner is s = (i + f, j + g), with i and j whole. Pixels outside the object count as zero, and
/// the patch is zero around the window. The bits of a patch do not depend on the other positions,
/// on their order or their number. The same numbers are rounded in the same way.
inline spec::Contract contract() {
  return {.name = "extract",
          .summary = "Extracts the window of the object at every scan position.",
          .formula =
              "patch[p, q] = (1-f)(1-g) o[i+p, j+q] + (1-f) g o[i+p, j+q+1] + "
              "f (1-g) o[i+p+1, j+q] + f g o[i+p+1, j+q+1]",
          .source = "tike operators.Patch.fwd",
          .part = spec::OperatorTraits{.inputs = {spec::Array::object, spec::Array::positions},
                                       .outputs = {spec::Array::patches},
                                       .linear_in = {spec::Array::object},
                                       .exact_on_whole_numbers = true}};
}

}  // namespace rankcheck::reference::extract

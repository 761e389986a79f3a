#include "cases/ptycho/illumination_properties.hpp"

#include <cmath>
#include <complex>
#include <cstddef>
#include <vector>

#include "reference/ptycho/window.hpp"

#include "harness/properties/is_deterministic.hpp"

#include "cases/families/ptycho/symmetry.hpp"
#include "cases/ptycho/comparisons.hpp"
#include "cases/ptycho/operator_properties.hpp"
#include "cases/ptycho/position_properties.hpp"

namespace rankcheck::cases {

namespace {

using spec::Array;

/// Stage 0 is extract, stage 1 is illuminate.
void check_patch_times_probe(const harness::Evidence& evidence, harness::Judgement& judgement) {
  const OperatorStage extracted = read_stage(evidence, 0);
  const OperatorStage lit = read_stage(evidence, 1);
  const reference::BoundedArray& patches = extracted.got[Array::patches];
  const reference::BoundedArray& probe = lit.in[Array::probe];
  std::vector<ExpectedValue> waves(lit.got[Array::waves].values.size());
  reference::for_each_lit_pixel(lit.in, [&](const reference::LitPixel& pixel) {
    const std::complex<double> factor = probe.values[pixel.in_probe];
    const std::complex<double> value = patches.values[pixel.in_patches] * factor;
    const double rounding = is_exact(lit.contract, lit.c) ? 0 : 0x1p-51 * std::abs(value);
    waves[pixel.in_waves] = {
        .value = value,
        .bound = lit.expected[Array::waves].errors[pixel.in_waves] + rounding +
                 extracted.expected[Array::patches].errors[pixel.in_patches] * std::abs(factor)};
  });
  compare_outputs(lit, "differs from patch times probe", judgement, [&](Array, std::size_t i) {
    return waves[i];
  });
}

}  // namespace

harness::Property is_patch_times_probe() {
  return {
      .name = "is_patch_times_probe",
      .summary = "illuminate(o, p) is extract(o) times p in the window and 0 around the window.",
      .program =
          [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
            stages.assign(2, c);
            stages[0].operation = "extract";
            stages[0].algorithm.clear();
          },
      .check = check_patch_times_probe,
  };
}

}  // namespace rankcheck::cases

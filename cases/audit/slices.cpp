#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "reference/spec/to_size.hpp"

#include "cases/audit/call_edits.hpp"
#include "cases/audit/catalogue.hpp"
#include "cases/audit/intercepted_call.hpp"
#include "cases/families/ptycho/case.hpp"

/// Objects of several slices through which the waves travel wrongly.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using spec::Array;

std::size_t pixels_of_slice(const InterceptedCall& intercepted) {
  return spec::to_size(intercepted.call().scene.rows) *
         spec::to_size(intercepted.call().scene.cols);
}

/// Sets all slices after the first `count` ones to 1, so that waves pass them unchanged.
void clear_slices(InterceptedCall& intercepted, std::size_t count) {
  const auto first = static_cast<std::ptrdiff_t>(count * pixels_of_slice(intercepted));
  intercepted.change_input(Array::object, [&](Values& values, int) {
    std::fill(values.begin() + first, values.end(), 1);
  });
}

/// Runs the adjoint so that, on the way back to a slice, the waves pass the slices behind it
/// unchanged.
void go_back_through_nothing(InterceptedCall& intercepted) {
  const auto size = static_cast<std::ptrdiff_t>(pixels_of_slice(intercepted));
  Values result;
  for (int slice = intercepted.call().scene.slices; slice > 0; --slice) {
    clear_slices(intercepted, spec::to_size(slice));
    intercepted.run();
    const Values left = intercepted.output(Array::object, 0);
    if (result.empty()) result = left;
    std::copy_n(left.begin() + (slice - 1) * size, size, result.begin() + (slice - 1) * size);
  }
  intercepted.set_all_output(Array::object, result);
}

bool has_slices(const Case& c) {
  return ptycho(c).scene.slices > 1;
}

constexpr std::array slices{
    Bug{.name = "divided_by_slices",
        .summary = "The adjoint in the object is divided by the number of slices.",
        .source = "tike, Multislice",
        .target = {"multislice", "batched"},
        .planted_in = "multislice_adjoint_object",
        .found_by = {"has_adjoint_in_each_slice", "<o_s, (F* y)_s>"},
        .edit_output = {Array::object,
                        [](const InterceptedCall& intercepted, Values& values, int) {
                          for (auto& value : values) value /= intercepted.call().scene.slices;
                        }}},
    Bug{.name = "way_back_misses_slices",
        .summary = "Waves travel back without being multiplied by the conjugate of the slices.",
        .source = "tike 10e0f0b5",
        .target = {"multislice", "batched"},
        .planted_in = "multislice_adjoint_object",
        .found_by = {"has_adjoint_in_each_slice", "<o_s, (F* y)_s>"},
        .replace_call = go_back_through_nothing},
    Bug{.name = "back_the_wrong_way",
        .summary = "The adjoint propagates waves forward instead of back.",
        .source = "tike dd2e998b",
        .target = {"multislice", "batched"},
        .planted_in = "multislice_adjoint_probe",
        .found_by = {"has_adjoint_in_probe", "<F x, y>"},
        .edit_scene = [](spec::Scene& scene) { scene.distance *= -1; }},
    Bug{.name = "last_slice_left_out",
        .summary = "The loop over the slices ends one slice too early.",
        .target = {"multislice", "batched"},
        .found_by = {"has_degree_of_its_slices", "differs from s^slices F(o)"},
        .replace_call =
            [](InterceptedCall& intercepted) {
              clear_slices(intercepted, spec::to_size(intercepted.call().scene.slices - 1));
              intercepted.run();
            }},
    Bug{.name = "waves_between_slices_not_scaled",
        .summary = "The transforms between slices are not scaled, so waves grow with the width of "
                   "the window.",
        .source = "ptypy#275",
        .target = {"multislice", "batched"},
        .found_by = {"is_product_without_distance", "differs from the product of the slices"},
        .hits = has_slices,
        .make_transform =
            [](const InterceptedCall&, TransformCall& call) {
              call.make();
              call.scale(call.what.width);
            }},
    Bug{.name = "first_mode_meets_the_slices",
        .summary = "Every mode is propagated through the slices as the first mode.",
        .source = "tike, fwd_return_intermediate_probes",
        .target = {"multislice", "batched"},
        .found_by = {"is_illuminate_for_one_slice", "differs from illuminate"},
        .edit_input = {Array::probe, take_first_mode}},
};

}  // namespace

void add_bugs_in_slices(std::vector<Bug>& out) {
  out.insert(out.end(), slices.begin(), slices.end());
}

}  // namespace rankcheck::cases::audit

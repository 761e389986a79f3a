#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <limits>
#include <numbers>

#include "cases/audit/call_edits.hpp"
#include "cases/audit/catalogue.hpp"
#include "cases/audit/intercepted_call.hpp"
#include "cases/families/ptycho/case.hpp"

/// Operators with mistakes in transforms to the frequencies and back.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using spec::Array;

/// The wrong factor in a transform's results. Both are mistakes.
enum class Norm { times_width, over_width };

/// Multiplies the results of the transforms of one direction, or of both, by the wrong factor.
template <Norm norm, bool forward, bool inverse>
void scale_transforms(const InterceptedCall&, TransformCall& call) {
  call.make();
  if (call.what.inverse ? !inverse : !forward) return;
  call.scale(norm == Norm::times_width ? call.what.width : 1.0 / call.what.width);
}

/// Returns the frequency of index k in cycles per pixel, half a step too high.
double raised_frequency(int k, int width) {
  return (static_cast<double>(2 * k < width ? k : k - width) + 0.5) / width;
}

/// Returns the response of free space to the frequencies of a frame, each of them half a step too
/// high.
Values response_on_raised_grid(const spec::Scene& scene, int width) {
  Values response;
  for (int k = 0; k < width; ++k) {
    for (int l = 0; l < width; ++l) {
      const double down = raised_frequency(k, width);
      const double right = raised_frequency(l, width);
      const std::complex<double> square =
          1 / (scene.wavelength * scene.wavelength) - down * down - right * right;
      const std::complex<double> along = std::sqrt(square);
      const double angle = 2 * std::numbers::pi * scene.distance * along.real();
      const double decay = 2 * std::numbers::pi * std::abs(scene.distance) * along.imag();
      response.push_back(std::polar(std::exp(-decay) / (width * width), angle));
    }
  }
  return response;
}

/// Replaces the multiplication of the spectrum between the forward and the inverse transform.
void travel_on_raised_grid(InterceptedCall& intercepted) {
  Values spectrum;
  intercepted.devices().on_transform = [&](TransformCall& call) {
    if (call.what.inverse) {
      const Values response = response_on_raised_grid(intercepted.scene(), call.what.width);
      for (std::size_t i = 0; i < spectrum.size(); ++i) {
        spectrum[i] *= response[i % response.size()];
      }
      store(call.what.precision, true, spectrum, call.out);
    }
    call.make();
    if (!call.what.inverse) spectrum = load(call.what.precision, true, call.out, call.size());
  };
  intercepted.run();
}

bool has_evanescent_waves(const Case& c) {
  return ptycho(c).scene.wavelength > 2 && ptycho(c).scene.detector > 1 &&
         ptycho(c).scene.distance != 0;
}

/// Replaces the waves by the input waves, each multiplied by one constant phase that its position
/// gives.
void turn_by_position(const InterceptedCall& intercepted, Values& values, int rank) {
  values = intercepted.input(Array::waves, rank);
  const Values positions = intercepted.input(Array::positions, rank);
  const std::size_t per_position = 2 * values.size() / std::max<std::size_t>(2, positions.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t n = i / per_position;
    const double turns = positions[2 * n].real() + positions[2 * n + 1].real();
    values[i] *= std::polar(1.0, -2 * std::numbers::pi * turns);
  }
}

constexpr std::array bugs_in_spectra{
    Bug{.name = "transform_not_scaled",
        .summary = "The library's transform is used as it is, and the library does not scale.",
        .source = "Pty-Chi a9a3629",
        .target = {"propagate", "fft"},
        .found_by = {"conserves_energy", "an energy of"},
        .make_transform = scale_transforms<Norm::times_width, true, false>},
    Bug{.name = "transform_scaled_twice",
        .summary = "The library scales the transform, and the program scales it again.",
        .source = "Pty-Chi 3f96f10",
        .target = {"propagate", "fft"},
        .found_by = {"is_undone_by_propagate_inverse", "differs from the input"},
        .make_transform = scale_transforms<Norm::over_width, true, false>},
    Bug{.name = "inverse_taken_for_the_adjoint",
        .summary =
            "Only the inverse transform scales, so it is not the adjoint of the forward transform.",
        .source = "tike 0e0d2db2",
        .target = {"propagate", "fft"},
        .planted_in = "propagate_inverse",
        .found_by = {"has_adjoint_propagate_inverse", "<F x, y>"},
        .make_transform = scale_transforms<Norm::over_width, true, true>},
    Bug{.name = "gradient_scaled_by_the_transform",
        .summary =
            "The transform back from the detector is scaled by the wrong power of the width.",
        .source = "Pty-Chi f7ede51",
        .target = {"poisson_gradients", "batched"},
        .found_by = {"has_derivative", "2 Re<gradient, change>"},
        .make_transform = scale_transforms<Norm::over_width, false, true>},
    Bug{.name = "near_field_not_scaled",
        .summary = "The transforms are not scaled, so waves grow with the width of the frame.",
        .source = "ptypy#275",
        .target = {"propagate_fresnel", "fft"},
        .found_by = {"adds_distances", "differs from two shorter distances"},
        .make_transform = scale_transforms<Norm::times_width, true, true>},
    Bug{.name = "adjoint_of_the_near_field_scaled",
        .summary = "The two transforms of the adjoint divide by the width once too often.",
        .source = "ptypy#275",
        .target = {"propagate_fresnel_adjoint", "fft"},
        .found_by = {"has_adjoint_propagate_fresnel", "<F x, y>"},
        .make_transform = scale_transforms<Norm::over_width, false, true>},
    Bug{.name = "transform_in_the_wrong_direction",
        .summary = "The forward transform is used as the inverse.",
        .target = {"propagate_inverse", "fft"},
        .found_by = {"has_adjoint_propagate", "<F x, y>"},
        .make_transform =
            [](const InterceptedCall&, TransformCall& call) {
              call.what.inverse = !call.what.inverse;
              call.make();
            }},
    Bug{.name = "plan_of_another_device",
        .summary = "The plan for the first rank's frames is used on all ranks.",
        .source = "tike PR #176; ptypy#269",
        .target = {"propagate_inverse", "fft"},
        .found_by = {"is_undone_by_propagate", "differs from the input"},
        .make_transform =
            [](const InterceptedCall& intercepted, TransformCall& call) {
              const std::int64_t planned =
                  intercepted.positions(0) * intercepted.call().scene.modes;
              call.what.batch = std::min(call.what.batch, planned);
              call.make();
            }},
    Bug{.name = "plan_of_another_precision",
        .summary =
            "Plans are cached by width only, so double precision uses a plan for single precision.",
        .source = "tike a9db8b9b",
        .target = {"propagate", "fft"},
        .hits = [](const Case& c) { return c.type == spec::Type::f64; },
        .edit_output = {Array::far_waves,
                        [](const InterceptedCall&, Values& values, int) {
                          values = rounded_to(spec::Type::f32, values);
                        }}},
    Bug{.name = "transform_scaled_by_its_batch",
        .summary = "The inverse transform is divided by the number of values of the batch instead "
                   "of one frame.",
        .target = {"propagate_fresnel", "fft"},
        .found_by = {"takes_each_position_alone", "depends on the other positions"},
        .make_transform =
            [](const InterceptedCall&, TransformCall& call) {
              call.make();
              if (call.what.inverse) call.scale(1.0 / static_cast<double>(call.what.batch));
            }},
    Bug{.name = "frequencies_half_a_step_off",
        .summary = "The grid of frequencies is half a step off, so it has no zero frequency.",
        .source = "tike, FresnelSpectProp",
        .target = {"propagate_fresnel", "fft"},
        .found_by = {"is_equivariant", "which are reflected"},
        .replace_call = travel_on_raised_grid},
    Bug{.name = "root_of_a_negative_number",
        .summary = "For evanescent waves, the real square root of a negative number is taken.",
        .source = "tike, FresnelSpectProp",
        .target = {"propagate_fresnel", "fft"},
        .found_by = {"gains_no_energy", "became nan"},
        .hits = has_evanescent_waves,
        .edit_output = {Array::waves,
                        each_value<[](auto) { return std::numeric_limits<double>::quiet_NaN(); }>}},
    Bug{.name = "distance_without_sign",
        .summary = "Waves travel forward, whatever the sign of the distance.",
        .target = {"propagate_fresnel", "fft"},
        .found_by = {"is_undone_by_the_way_back", "differs from the input"},
        .edit_scene = [](spec::Scene& scene) { scene.distance = std::abs(scene.distance); }},
    Bug{.name = "response_not_conjugated",
        .summary =
            "The adjoint uses the same phases as forward propagation instead of their conjugates.",
        .source = "tike dd2e998b",
        .target = {"propagate_fresnel", "fft"},
        .planted_in = "propagate_fresnel_adjoint",
        .found_by = {"has_adjoint_propagate_fresnel_adjoint", "<F x, y>"},
        .edit_scene = [](spec::Scene& scene) { scene.distance *= -1; }},
    Bug{.name = "shift_in_the_wrong_direction",
        .summary = "The sign of the sub-pixel shift is wrong.",
        .source = "tike 551cc397",
        .target = {"shift", "fft"},
        .found_by = {"rolls_by_whole_positions", "is not rolled"},
        .edit_input = {Array::positions, each_value<[](auto value) { return -value; }>}},
    Bug{.name = "shift_of_the_first_of_a_batch",
        .summary = "All frames of a batch are shifted by the position of the first frame.",
        .target = {"shift", "fft"},
        .found_by = {"takes_each_position_alone", "depends on the order of the positions"},
        .edit_input = {Array::positions, take_first_copy<Array::positions>}},
    Bug{.name = "shift_is_a_constant_phase",
        .summary = "All frequencies are multiplied by the same phase, so nothing moves.",
        .source = "PtyGer, shifts",
        .target = {"shift", "fft"},
        .found_by = {"is_a_phase_ramp_at_the_detector", "is not a phase ramp"},
        .edit_output = {Array::waves, turn_by_position}},
    Bug{.name = "way_back_shifts_the_same_way",
        .summary = "Shifting back does not change the sign.",
        .source = "Pty-Chi 35e2a48",
        .target = {"shift", "fft"},
        .planted_in = "shift_back",
        .found_by = {"has_adjoint_shift_back", "<F x, y>"},
        .edit_input = {Array::positions, each_value<[](auto value) { return -value; }>}},
    Bug{.name = "shift_back_by_whole_pixels",
        .summary = "Frames are shifted back only by the whole part of the position.",
        .source = "PtyGer, shifts",
        .target = {"shift", "fft"},
        .planted_in = "shift_back",
        .found_by = {"is_undone_by_shift_back", "differs from the input"},
        .edit_input = {Array::positions,
                       each_value<[](auto value) { return std::floor(value.real()); }>}},
    Bug{.name = "shift_by_whole_pixels",
        .summary = "Frames are shifted only by the whole part of the position.",
        .source = "PtyGer, shifts",
        .target = {"shift_back", "fft"},
        .planted_in = "shift",
        .found_by = {"is_undone_by_shift", "differs from the input"},
        .edit_input = {Array::positions,
                       each_value<[](auto value) { return std::floor(value.real()); }>}},
    Bug{.name = "shift_back_not_scaled",
        .summary = "The inverse transform is not scaled, so the result is not the adjoint.",
        .source = "tike 0e0d2db2",
        .target = {"shift_back", "fft"},
        .found_by = {"has_adjoint_shift", "<F x, y>"},
        .make_transform = scale_transforms<Norm::times_width, false, true>},
};

}  // namespace

void add_bugs_in_spectra(std::vector<Bug>& out) {
  out.insert(out.end(), bugs_in_spectra.begin(), bugs_in_spectra.end());
}

}  // namespace rankcheck::cases::audit

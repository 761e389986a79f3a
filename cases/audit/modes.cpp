#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <utility>

#include "reference/spec/to_size.hpp"

#include "cases/audit/call_edits.hpp"
#include "cases/audit/catalogue.hpp"
#include "cases/audit/intercepted_call.hpp"
#include "cases/families/ptycho/case.hpp"

/// Operators that confuse the modes of the probe.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using spec::Array;

/// Number of pixels in one mode of the probe.
std::size_t pixels_of(const InterceptedCall& intercepted) {
  const auto window = spec::to_size(intercepted.call().scene.window);
  return window * window;
}

/// Returns the sum of the squared magnitudes of a mode.
double power_of(const Values& values, std::size_t first, std::size_t size) {
  double power = 0;
  for (std::size_t i = first; i < first + size; ++i) power += std::norm(values[i]);
  return power;
}

constexpr std::array bugs_in_modes{
    Bug{.name = "first_mode_for_all",
        .summary = "Every mode is replaced by the first mode.",
        .source = "tike c9ffee8a",
        .target = {"illuminate", "pixelwise"},
        .found_by = {"is_patch_times_probe", "differs from patch times probe"},
        .edit_input = {Array::probe, take_first_mode}},
    Bug{.name = "object_clipped",
        .summary = "The object's magnitude is clipped to 1.",
        .source = "tike, clip_magnitude",
        .target = {"illuminate", "pixelwise"},
        .found_by = {"is_linear", "differs from s F(a) + F(b)"},
        .edit_input =
            {Array::object,
             each_value<[](auto value) { return value / std::max(1.0, std::abs(value)); }>}},
    Bug{.name = "probe_not_conjugated",
        .summary = "The adjoint in the object multiplies by the probe instead of its conjugate.",
        .source = "tike dd2e998b",
        .target = {"illuminate", "pixelwise"},
        .planted_in = "illuminate_adjoint_object",
        .found_by = {"has_adjoint_in_object", "<F x, y>"},
        .edit_input = {Array::probe, each_value<[](auto value) { return std::conj(value); }>}},
    Bug{.name = "mean_over_positions",
        .summary =
            "The gradient of a shared probe is the mean over the positions instead of the sum.",
        .source = "tike PR #72",
        .target = {"illuminate", "pixelwise"},
        .planted_in = "illuminate_adjoint_probe",
        .found_by = {"has_adjoint_in_probe", "<F x, y>"},
        .hits = [](const Case& c) { return !ptycho(c).scene.varying_probe; },
        .edit_output = {Array::probe,
                        [](const InterceptedCall& intercepted, Values& values, int) {
                          const auto count = static_cast<double>(
                              std::max<std::int64_t>(1, intercepted.positions()));
                          for (auto& value : values) value /= count;
                        }}},
    Bug{.name = "mean_over_the_wrong_axis",
        .summary = "The probe's gradient is averaged over the modes.",
        .source = "tike f3cce1f3",
        .target = {"illuminate_adjoint_probe", "gather"},
        .edit_output = {Array::probe,
                        [](const InterceptedCall& intercepted, Values& values, int) {
                          const std::size_t size = pixels_of(intercepted);
                          const auto count = spec::to_size(intercepted.call().scene.modes);
                          for_each_copy(
                              intercepted, Array::probe, values, [&](std::size_t, auto* probe) {
                                for (std::size_t i = 0; i < size; ++i) {
                                  std::complex<double> sum = 0;
                                  for (std::size_t m = 0; m < count; ++m)
                                    sum += probe[m * size + i];
                                  for (std::size_t m = 0; m < count; ++m) {
                                    probe[m * size + i] = sum / static_cast<double>(count);
                                  }
                                }
                              });
                        }}},
    Bug{.name = "strongest_mode_only",
        .summary = "Each pixel counts only its strongest mode instead of the sum over all modes.",
        .source = "tike c12cd065",
        .target = {"object_preconditioner", "gather"},
        .edit_input = {Array::probe,
                       [](const InterceptedCall& intercepted, Values& values, int) {
                         const std::size_t size = pixels_of(intercepted);
                         for_each_copy(
                             intercepted, Array::probe, values, [&](std::size_t, auto* probe) {
                               const auto count =
                                   spec::to_size(intercepted.call().scene.modes) * size;
                               for (std::size_t i = size; i < count; ++i) {
                                 auto& strongest = probe[i % size];
                                 if (std::abs(strongest) < std::abs(probe[i]))
                                   std::swap(strongest, probe[i]);
                                 probe[i] = 0;
                               }
                             });
                       }}},
    Bug{.name = "modes_added_coherently",
        .summary = "The waves of the modes are summed before the squared magnitude is taken.",
        .target = {"intensity", "pixelwise"},
        .edit_input = {Array::far_waves,
                       [](const InterceptedCall& intercepted, Values& values, int) {
                         const auto width = spec::to_size(intercepted.call().scene.detector);
                         const std::size_t size = width * width;
                         for_each_copy(
                             intercepted, Array::far_waves, values, [&](std::size_t, auto* waves) {
                               const auto count =
                                   spec::to_size(intercepted.call().scene.modes) * size;
                               for (std::size_t i = size; i < count; ++i) {
                                 waves[i % size] += waves[i];
                                 waves[i] = 0;
                               }
                             });
                       }}},
    Bug{.name = "probe_of_the_first_position",
        .summary = "Addresses of per-position data do not advance: every position reads the first "
                   "position's probe.",
        .source = "ptypy#584",
        .target = {"poisson_gradients", "batched"},
        .hits = [](const Case& c) { return ptycho(c).scene.varying_probe; },
        .edit_input = {Array::probe, take_first_copy<Array::probe>}},
    Bug{.name = "inner_product_not_conjugated",
        .summary = "The inner products of the modes are conjugated.",
        .source = "tike ba500657",
        .target = {"orthogonalize_modes", "jacobi"},
        .found_by = {"makes_modes_orthogonal", "modes are not orthogonal"},
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.devices().on_read = [](void* read, std::int64_t bytes) {
                const auto count = spec::to_size(bytes) / (2 * sizeof(double));
                Values products = load(spec::Type::f64, true, read, count);
                for (auto& value : products) value = std::conj(value);
                store(spec::Type::f64, true, products, read);
              };
              intercepted.run();
            }},
    Bug{.name = "weakest_mode_first",
        .summary =
            "The modes are in ascending order of their power, as eigenvalue solvers return them.",
        .target = {"orthogonalize_modes", "jacobi"},
        .found_by = {"orders_modes_by_power", "the power of a mode"},
        .edit_output = {Array::probe,
                        [](const InterceptedCall& intercepted, Values& values, int) {
                          const std::size_t size = pixels_of(intercepted);
                          for_each_copy(
                              intercepted, Array::probe, values, [&](std::size_t, auto* probe) {
                                const auto count = spec::to_size(intercepted.call().scene.modes);
                                for (std::size_t m = 0; m < count / 2; ++m) {
                                  auto* const other = probe + (count - 1 - m) * size;
                                  std::swap_ranges(probe + m * size, probe + (m + 1) * size, other);
                                }
                              });
                        }}},
    Bug{.name = "modes_keep_their_powers",
        .summary = "Each mode is scaled back to the power that it had before.",
        .target = {"orthogonalize_modes", "jacobi"},
        .found_by = {"keeps_the_coherence", "the coherence of two pixels"},
        .edit_output = {Array::probe,
                        [](const InterceptedCall& intercepted, Values& values, int rank) {
                          const Values before = intercepted.input(Array::probe, rank);
                          const std::size_t size = pixels_of(intercepted);
                          for (std::size_t first = 0; first < values.size(); first += size) {
                            const double is = power_of(values, first, size);
                            if (is == 0) continue;
                            const double factor = std::sqrt(power_of(before, first, size) / is);
                            for (std::size_t i = first; i < first + size; ++i) values[i] *= factor;
                          }
                        }}},
    Bug{.name = "one_rank_orthogonalises",
        .summary = "Only the rank that computed the result has it.",
        .source = "tike PR #133",
        .target = {"orthogonalize_modes", "jacobi"},
        .found_by = {"ranks_agree_bitwise", "differs from rank 0"},
        .edit_output = {Array::probe, keep_on_other_ranks<Array::probe>}},
};

}  // namespace

void add_bugs_in_modes(std::vector<Bug>& out) {
  out.insert(out.end(), bugs_in_modes.begin(), bugs_in_modes.end());
}

}  // namespace rankcheck::cases::audit

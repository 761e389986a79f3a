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

constexpr std::array mixtures{
    Bug{.name = "first_mode_for_all",
        .summary = "Every mode is replaced by the first mode.",
        .source = "tike c9ffee8a",
        .operation = "illuminate",
        .algorithm = "pixelwise",
        .property = "is_patch_times_probe",
        .says = "differs from patch times probe",
        .replace_call = run_with_first_mode},
    Bug{.name = "object_clipped",
        .summary = "The object's magnitude is clipped to 1.",
        .source = "tike, clip_magnitude",
        .operation = "illuminate",
        .algorithm = "pixelwise",
        .property = "is_linear",
        .says = "differs from s F(a) + F(b)",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.change_input(Array::object, [](Values& values, int) {
                for (auto& value : values) value /= std::max(1.0, std::abs(value));
              });
              intercepted.run();
            }},
    Bug{.name = "probe_not_conjugated",
        .summary = "The adjoint in the object multiplies by the probe instead of its conjugate.",
        .source = "tike dd2e998b",
        .operation = "illuminate",
        .algorithm = "pixelwise",
        .planted_in = "illuminate_adjoint_object",
        .property = "has_adjoint_in_object",
        .says = "<F x, y>",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.change_input(Array::probe, [](Values& values, int) {
                for (auto& value : values) value = std::conj(value);
              });
              intercepted.run();
            }},
    Bug{.name = "mean_over_positions",
        .summary =
            "The gradient of a shared probe is the mean over the positions instead of the sum.",
        .source = "tike PR #72",
        .operation = "illuminate",
        .algorithm = "pixelwise",
        .planted_in = "illuminate_adjoint_probe",
        .property = "has_adjoint_in_probe",
        .says = "<F x, y>",
        .hits = [](const Case& c) { return !ptycho(c).scene.varying_probe; },
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              intercepted.change_output(Array::probe, [&](Values& values, int) {
                const auto count =
                    static_cast<double>(std::max<std::int64_t>(1, intercepted.positions()));
                for (auto& value : values) value /= count;
              });
            }},
    Bug{.name = "mean_over_the_wrong_axis",
        .summary = "The probe's gradient is averaged over the modes.",
        .source = "tike f3cce1f3",
        .operation = "illuminate_adjoint_probe",
        .algorithm = "gather",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              intercepted.change_output(Array::probe, [&](Values& values, int) {
                const std::size_t size = pixels_of(intercepted);
                const auto count = spec::to_size(intercepted.call().scene.modes);
                for_each_copy(intercepted, Array::probe, values, [&](std::size_t, auto* probe) {
                  for (std::size_t i = 0; i < size; ++i) {
                    std::complex<double> sum = 0;
                    for (std::size_t m = 0; m < count; ++m) sum += probe[m * size + i];
                    for (std::size_t m = 0; m < count; ++m) {
                      probe[m * size + i] = sum / static_cast<double>(count);
                    }
                  }
                });
              });
            }},
    Bug{.name = "strongest_mode_only",
        .summary = "Each pixel counts only its strongest mode instead of the sum over all modes.",
        .source = "tike c12cd065",
        .operation = "object_preconditioner",
        .algorithm = "gather",
        .replace_call =
            [](InterceptedCall& intercepted) {
              const std::size_t size = pixels_of(intercepted);
              intercepted.change_input(Array::probe, [&](Values& values, int) {
                for_each_copy(intercepted, Array::probe, values, [&](std::size_t, auto* probe) {
                  const auto count = spec::to_size(intercepted.scene().modes) * size;
                  for (std::size_t i = size; i < count; ++i) {
                    auto& strongest = probe[i % size];
                    if (std::abs(strongest) < std::abs(probe[i])) std::swap(strongest, probe[i]);
                    probe[i] = 0;
                  }
                });
              });
              intercepted.run();
            }},
    Bug{.name = "modes_added_coherently",
        .summary = "The waves of the modes are summed before the squared magnitude is taken.",
        .operation = "intensity",
        .algorithm = "pixelwise",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.change_input(Array::far_waves, [&](Values& values, int) {
                const auto width = spec::to_size(intercepted.scene().detector);
                const std::size_t size = width * width;
                for_each_copy(intercepted, Array::far_waves, values, [&](std::size_t, auto* waves) {
                  const auto count = spec::to_size(intercepted.scene().modes) * size;
                  for (std::size_t i = size; i < count; ++i) {
                    waves[i % size] += waves[i];
                    waves[i] = 0;
                  }
                });
              });
              intercepted.run();
            }},
    Bug{.name = "probe_of_the_first_position",
        .summary = "Addresses of per-position data do not advance: every position reads the first "
                   "position's probe.",
        .source = "ptypy#584",
        .operation = "poisson_gradients",
        .algorithm = "batched",
        .hits = [](const Case& c) { return ptycho(c).scene.varying_probe; },
        .replace_call = take_first_copy<Array::probe>},
};

/// Returns the sum of the squared magnitudes of a mode.
double power_of(const Values& values, std::size_t first, std::size_t size) {
  double power = 0;
  for (std::size_t i = first; i < first + size; ++i) power += std::norm(values[i]);
  return power;
}

constexpr std::array orthogonal_modes{
    Bug{.name = "inner_product_not_conjugated",
        .summary = "The inner products of the modes are conjugated.",
        .source = "tike ba500657",
        .operation = "orthogonalize_modes",
        .algorithm = "jacobi",
        .property = "makes_modes_orthogonal",
        .says = "modes are not orthogonal",
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
        .operation = "orthogonalize_modes",
        .algorithm = "jacobi",
        .property = "orders_modes_by_power",
        .says = "the power of a mode",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              intercepted.change_output(Array::probe, [&](Values& values, int) {
                const std::size_t size = pixels_of(intercepted);
                for_each_copy(intercepted, Array::probe, values, [&](std::size_t, auto* probe) {
                  const auto count = spec::to_size(intercepted.call().scene.modes);
                  for (std::size_t m = 0; m < count / 2; ++m) {
                    auto* const other = probe + (count - 1 - m) * size;
                    std::swap_ranges(probe + m * size, probe + (m + 1) * size, other);
                  }
                });
              });
            }},
    Bug{.name = "modes_keep_their_powers",
        .summary = "Each mode is scaled back to the power that it had before.",
        .operation = "orthogonalize_modes",
        .algorithm = "jacobi",
        .property = "keeps_the_coherence",
        .says = "the coherence of two pixels",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              intercepted.change_output(Array::probe, [&](Values& values, int rank) {
                const Values before = intercepted.input(Array::probe, rank);
                const std::size_t size = pixels_of(intercepted);
                for (std::size_t first = 0; first < values.size(); first += size) {
                  const double is = power_of(values, first, size);
                  if (is == 0) continue;
                  const double factor = std::sqrt(power_of(before, first, size) / is);
                  for (std::size_t i = first; i < first + size; ++i) values[i] *= factor;
                }
              });
            }},
    Bug{.name = "one_rank_orthogonalises",
        .summary = "Only the rank that computed the result has it.",
        .source = "tike PR #133",
        .operation = "orthogonalize_modes",
        .algorithm = "jacobi",
        .property = "ranks_agree_bitwise",
        .says = "differs from rank 0",
        .replace_call = keep_on_other_ranks<Array::probe>},
};

}  // namespace

void add_bugs_in_modes(std::vector<Bug>& out) {
  out.insert(out.end(), mixtures.begin(), mixtures.end());
  out.insert(out.end(), orthogonal_modes.begin(), orthogonal_modes.end());
}

}  // namespace rankcheck::cases::audit

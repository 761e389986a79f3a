#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <utility>

#include "cases/planted/attempt.hpp"
#include "cases/planted/catalogue.hpp"
#include "cases/planted/changes.hpp"

/// Operators that take or give wrong values on one rank.
namespace rankcheck::cases::planted {

namespace {

using harness::Case;
using spec::Array;

/// The copies of an array, one for each position or for all.
template <class Body>
void for_each_copy(const Attempt& attempt, Array array, Values& values, const Body& body) {
  const auto size = static_cast<std::size_t>(spec::values(attempt.call().scene, array));
  for (std::size_t n = 0; n < values.size() / size; ++n) body(n, values.data() + n * size);
}

/// Pixels of a mode of the probe.
std::size_t pixels_of(const Attempt& attempt) {
  const auto window = static_cast<std::size_t>(attempt.call().scene.window);
  return window * window;
}

/// All copies of an input become the first one.
template <Array array>
void take_first_copy(Attempt& attempt) {
  attempt.change_input(array, [&](Values& values, int) {
    const auto size = static_cast<std::size_t>(spec::values(attempt.call().scene, array));
    for (std::size_t i = size; i < values.size(); ++i) values[i] = values[i % size];
  });
  attempt.run();
}

/// Moves what is in every frame down and to the right.
void move_frames(const Attempt& attempt, Values& values, int by) {
  const int width = attempt.call().scene.detector;
  const Values before = values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto pixel = static_cast<int>(i % static_cast<std::size_t>(width * width));
    const int row = pixel / width - by;
    const int col = pixel % width - by;
    const bool exists = row >= 0 && row < width && col >= 0 && col < width;
    values[i] = exists ? before[i - static_cast<std::size_t>(pixel) +
                                static_cast<std::size_t>(row * width + col)]
                       : 0;
  }
}

bool has_odd_border(const Case& c) {
  return (c.scene.detector - c.scene.window) % 2 == 1;
}

constexpr std::array positions{
    Bug{.name = "rows_and_columns_swapped",
        .summary = "positions are taken for (column, row)",
        .source = "ptychodus#73",
        .operation = "extract",
        .algorithm = "gather",
        .property = "is_exact_on_bilinear_objects",
        .says = "is not what is there",
        .attempt =
            [](Attempt& attempt) {
              swap_rows_and_columns(attempt);
              attempt.run();
            }},
    Bug{.name = "positions_rounded_down",
        .summary = "the fraction of a position is lost",
        .source = "PtyGer, shifts",
        .operation = "extract",
        .algorithm = "gather",
        .property = "has_adjoint_insert",
        .says = "<F x, y>",
        .attempt =
            [](Attempt& attempt) {
              attempt.change_input(Array::positions, [](Values& values, int) {
                for (auto& value : values) value = std::floor(value.real());
              });
              attempt.run();
            }},
    Bug{.name = "frames_out_of_step",
        .summary = "the positions were sorted, the frames were not",
        .source = "ptychodus#80",
        .operation = "gaussian_gradients",
        .algorithm = "batched",
        .attempt =
            [](Attempt& attempt) {
              attempt.change_input(Array::positions, [](Values& values, int) {
                std::reverse(values.begin(), values.end());
                for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
                  std::swap(values[i], values[i + 1]);
                }
              });
              attempt.run();
            }},
    Bug{.name = "tail_of_positions_dropped",
        .summary = "positions that do not fill a batch are left out",
        .source = "Pty-Chi 5d37add",
        .operation = "insert",
        .algorithm = "gather",
        .property = "is_independent_of_order",
        .says = "which are reversed",
        .attempt =
            [](Attempt& attempt) {
              attempt.change_input(Array::patches, [&](Values& values, int rank) {
                if (attempt.positions(rank) % 2 == 0) return;
                const std::int64_t size = spec::values(attempt.call().scene, Array::patches);
                std::fill(values.end() - size, values.end(), 0);
              });
              attempt.run();
            }},
    Bug{.name = "overlap_overwritten",
        .summary = "of two threads that add to one pixel, one is lost",
        .source = "ptypy#296",
        .operation = "insert",
        .algorithm = "gather",
        .property = "counts_every_position",
        .says = "which are repeated",
        .attempt =
            [](Attempt& attempt) {
              attempt.change_input(Array::patches, [&](Values& values, int rank) {
                const Values at = attempt.input(Array::positions, rank);
                const auto is_at = [&](std::size_t n, std::size_t m) {
                  return at[2 * n] == at[2 * m] && at[2 * n + 1] == at[2 * m + 1];
                };
                const auto size =
                    static_cast<std::size_t>(spec::values(attempt.call().scene, Array::patches));
                for (std::size_t n = 0; n < values.size() / size; ++n) {
                  for (std::size_t m = 0; m < n; ++m) {
                    if (is_at(n, m)) std::fill_n(values.data() + m * size, size, 0);
                  }
                }
              });
              attempt.run();
            }},
};

constexpr std::array edges{
    Bug{.name = "zero_times_what_is_past_the_end",
        .summary = "at whole positions the pixels behind the window are read, with weight 0",
        .source = "tike, Patch",
        .operation = "extract",
        .algorithm = "gather",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              const spec::Scene& scene = attempt.call().scene;
              attempt.change_output(Array::patches, [&](Values& values, int rank) {
                const Values at = attempt.input(Array::positions, rank);
                const int last = spec::margin(scene) + scene.window - 1;
                for_each_copy(attempt, Array::patches, values, [&](std::size_t n, auto* patch) {
                  const double row = std::floor(at[2 * n].real());
                  if (row + scene.window != scene.rows) return;
                  patch[last * scene.detector + last] = std::numeric_limits<double>::quiet_NaN();
                });
              });
            }},
    Bug{.name = "last_row_not_launched",
        .summary = "the number of blocks is rounded down: the object's last row gets nothing",
        .source = "ssc-cdi",
        .operation = "illuminate_adjoint_object",
        .algorithm = "gather",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              attempt.change_output(Array::object, [&](Values& values, int) {
                std::fill(values.end() - attempt.call().scene.cols, values.end(), 0);
              });
            }},
    Bug{.name = "border_filled",
        .summary = "what is around the window is 1 instead of 0",
        .source = "tike, Pad with cval",
        .operation = "pad",
        .algorithm = "pixelwise",
        .property = "has_adjoint_crop",
        .says = "<F x, y>",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              const spec::Scene& scene = attempt.call().scene;
              const int first = spec::margin(scene);
              const auto is_around = [&](std::size_t line) {
                return static_cast<int>(line) < first ||
                       static_cast<int>(line) >= first + scene.window;
              };
              const auto width = static_cast<std::size_t>(scene.detector);
              attempt.change_output(Array::patches, [&](Values& values, int) {
                for (std::size_t i = 0; i < values.size(); ++i) {
                  if (is_around(i / width % width) || is_around(i % width)) values[i] = 1;
                }
              });
            }},
    Bug{.name = "border_rounded_up",
        .summary = "an odd border has its larger half before the window",
        .source = "Pty-Chi 4298fb8",
        .operation = "pad",
        .algorithm = "pixelwise",
        .property = "is_undone_by_crop",
        .says = "differs from what went in",
        .hits = has_odd_border,
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              attempt.change_output(Array::patches,
                                    [&](Values& values, int) { move_frames(attempt, values, 1); });
            }},
    Bug{.name = "cropped_one_pixel_off",
        .summary = "an odd border is cut off with its larger half before the window",
        .source = "Pty-Chi 7c9034f",
        .operation = "crop",
        .algorithm = "pixelwise",
        .property = "has_adjoint_pad",
        .says = "<F x, y>",
        .hits = has_odd_border,
        .attempt =
            [](Attempt& attempt) {
              attempt.change_input(Array::patches,
                                   [&](Values& values, int) { move_frames(attempt, values, -1); });
              attempt.run();
            }},
};

constexpr std::array modes{
    Bug{.name = "first_mode_for_all",
        .summary = "all modes are the first one",
        .source = "tike c9ffee8a",
        .operation = "illuminate",
        .algorithm = "pixelwise",
        .property = "is_patch_times_probe",
        .says = "differs from patch times probe",
        .attempt =
            [](Attempt& attempt) {
              take_first_mode(attempt);
              attempt.run();
            }},
    Bug{.name = "object_clipped",
        .summary = "the object's magnitude is clipped to 1 on the way",
        .source = "tike, clip_magnitude",
        .operation = "illuminate",
        .algorithm = "pixelwise",
        .property = "is_linear",
        .says = "differs from s F(a) + F(b)",
        .attempt =
            [](Attempt& attempt) {
              attempt.change_input(Array::object, [](Values& values, int) {
                for (auto& value : values) value /= std::max(1.0, std::abs(value));
              });
              attempt.run();
            }},
    Bug{.name = "probe_not_conjugated",
        .summary = "the adjoint in the object multiplies by the probe, not by its conjugate",
        .source = "tike dd2e998b",
        .operation = "illuminate",
        .algorithm = "pixelwise",
        .planted_in = "illuminate_adjoint_object",
        .property = "has_adjoint_in_object",
        .says = "<F x, y>",
        .attempt =
            [](Attempt& attempt) {
              attempt.change_input(Array::probe, [](Values& values, int) {
                for (auto& value : values) value = std::conj(value);
              });
              attempt.run();
            }},
    Bug{.name = "mean_over_positions",
        .summary = "a shared probe's gradient is the mean over the positions instead of the sum",
        .source = "tike PR #72",
        .operation = "illuminate",
        .algorithm = "pixelwise",
        .planted_in = "illuminate_adjoint_probe",
        .property = "has_adjoint_in_probe",
        .says = "<F x, y>",
        .hits = [](const Case& c) { return !c.scene.varying_probe; },
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              attempt.change_output(Array::probe, [&](Values& values, int) {
                const auto count =
                    static_cast<double>(std::max<std::int64_t>(1, attempt.positions()));
                for (auto& value : values) value /= count;
              });
            }},
    Bug{.name = "mean_over_the_wrong_axis",
        .summary = "the probe's gradient is averaged over the modes",
        .source = "tike f3cce1f3",
        .operation = "illuminate_adjoint_probe",
        .algorithm = "gather",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              attempt.change_output(Array::probe, [&](Values& values, int) {
                const std::size_t size = pixels_of(attempt);
                const auto count = static_cast<std::size_t>(attempt.call().scene.modes);
                for_each_copy(attempt, Array::probe, values, [&](std::size_t, auto* probe) {
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
        .summary = "the light is the strongest mode's instead of the sum of all",
        .source = "tike c12cd065",
        .operation = "object_preconditioner",
        .algorithm = "gather",
        .attempt =
            [](Attempt& attempt) {
              const std::size_t size = pixels_of(attempt);
              attempt.change_input(Array::probe, [&](Values& values, int) {
                for_each_copy(attempt, Array::probe, values, [&](std::size_t, auto* probe) {
                  const auto count = static_cast<std::size_t>(attempt.scene().modes) * size;
                  for (std::size_t i = size; i < count; ++i) {
                    auto& strongest = probe[i % size];
                    if (std::abs(strongest) < std::abs(probe[i])) std::swap(strongest, probe[i]);
                    probe[i] = 0;
                  }
                });
              });
              attempt.run();
            }},
    Bug{.name = "modes_added_coherently",
        .summary = "the waves of the modes are summed before their magnitude is squared",
        .operation = "intensity",
        .algorithm = "pixelwise",
        .attempt =
            [](Attempt& attempt) {
              attempt.change_input(Array::far_waves, [&](Values& values, int) {
                const auto width = static_cast<std::size_t>(attempt.scene().detector);
                const std::size_t size = width * width;
                for_each_copy(attempt, Array::far_waves, values, [&](std::size_t, auto* waves) {
                  const auto count = static_cast<std::size_t>(attempt.scene().modes) * size;
                  for (std::size_t i = size; i < count; ++i) {
                    waves[i % size] += waves[i];
                    waves[i] = 0;
                  }
                });
              });
              attempt.run();
            }},
    Bug{.name = "probe_of_the_first_position",
        .summary = "the addresses of what every position has of its own do not advance",
        .source = "ptypy#584",
        .operation = "poisson_gradients",
        .algorithm = "batched",
        .hits = [](const Case& c) { return c.scene.varying_probe; },
        .attempt = take_first_copy<Array::probe>},
};

constexpr std::array costs{
    Bug{.name = "mask_ignored",
        .summary = "pixels that were not measured count as measured",
        .source = "Pty-Chi 8482f04",
        .operation = "gaussian_cost",
        .algorithm = "pixelwise",
        .attempt =
            [](Attempt& attempt) {
              unmask(attempt);
              attempt.run();
            }},
    Bug{.name = "frames_of_the_first_batch",
        .summary = "the frames of the first batch are used for all",
        .source = "ptypy#269",
        .operation = "gaussian_cost",
        .algorithm = "pixelwise",
        .attempt = take_first_copy<Array::frames>},
    Bug{.name = "constant_of_the_cost_left_out",
        .summary = "the cost is I - d log I, which is not 0 where I = d",
        .source = "tike, objective",
        .operation = "poisson_cost",
        .algorithm = "pixelwise",
        .property = "agrees_at_the_truth",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              const Values mask = attempt.input(Array::mask, 0);
              const Values frames = attempt.all_input(Array::frames);
              double constant = 0;
              for (std::size_t i = 0; i < frames.size(); ++i) {
                const double d = frames[i].real();
                if (mask[i % mask.size()].real() != 0 && d > 0) constant += d - d * std::log(d);
              }
              attempt.change_output(Array::cost,
                                    [&](Values& values, int) { values[0] += constant; });
            }},
};

constexpr std::array precisions{
    Bug{.name = "halved_precision",
        .summary = "a result goes through half precision",
        .source = "tike 2b001b3f",
        .operation = "extract",
        .algorithm = "gather",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              attempt.change_output(Array::patches, [](Values& values, int) {
                values = rounded_to(spec::Type::f16, values);
              });
            }},
};

/// The squared magnitude of a mode.
double power_of(const Values& values, std::size_t first, std::size_t size) {
  double power = 0;
  for (std::size_t i = first; i < first + size; ++i) power += std::norm(values[i]);
  return power;
}

constexpr std::array orthogonal_modes{
    Bug{.name = "inner_product_not_conjugated",
        .summary = "the inner products of the modes are the conjugates of what they should be",
        .source = "tike ba500657",
        .operation = "orthogonalize_modes",
        .algorithm = "jacobi",
        .property = "makes_modes_orthogonal",
        .says = "modes are not orthogonal",
        .attempt =
            [](Attempt& attempt) {
              attempt.devices().on_read = [](void* read, std::int64_t bytes) {
                const auto count = static_cast<std::size_t>(bytes) / (2 * sizeof(double));
                Values products = load(spec::Type::f64, true, read, count);
                for (auto& value : products) value = std::conj(value);
                store(spec::Type::f64, true, products, read);
              };
              attempt.run();
            }},
    Bug{.name = "weakest_mode_first",
        .summary = "the eigenvalues are ascending, as the library gives them",
        .operation = "orthogonalize_modes",
        .algorithm = "jacobi",
        .property = "orders_modes_by_power",
        .says = "the power of a mode",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              attempt.change_output(Array::probe, [&](Values& values, int) {
                const std::size_t size = pixels_of(attempt);
                for_each_copy(attempt, Array::probe, values, [&](std::size_t, auto* probe) {
                  const auto count = static_cast<std::size_t>(attempt.call().scene.modes);
                  for (std::size_t m = 0; m < count / 2; ++m) {
                    auto* const other = probe + (count - 1 - m) * size;
                    std::swap_ranges(probe + m * size, probe + (m + 1) * size, other);
                  }
                });
              });
            }},
    Bug{.name = "modes_keep_their_powers",
        .summary = "every mode is scaled to the power that it had before",
        .operation = "orthogonalize_modes",
        .algorithm = "jacobi",
        .property = "keeps_the_coherence",
        .says = "the coherence of two pixels",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              attempt.change_output(Array::probe, [&](Values& values, int rank) {
                const Values before = attempt.input(Array::probe, rank);
                const std::size_t size = pixels_of(attempt);
                for (std::size_t first = 0; first < values.size(); first += size) {
                  const double is = power_of(values, first, size);
                  if (is == 0) continue;
                  const double factor = std::sqrt(power_of(before, first, size) / is);
                  for (std::size_t i = first; i < first + size; ++i) values[i] *= factor;
                }
              });
            }},
    Bug{.name = "one_rank_orthogonalises",
        .summary = "the result stays on the rank that worked it out",
        .source = "tike PR #133",
        .operation = "orthogonalize_modes",
        .algorithm = "jacobi",
        .property = "ranks_agree_bitwise",
        .says = "differs from rank 0",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              attempt.change_output(Array::probe, [&](Values& values, int rank) {
                if (rank > 0) values = attempt.input(Array::probe, rank);
              });
            }},
};

}  // namespace

void add_bugs_in_operators(std::vector<Bug>& out) {
  const auto append = [&](const auto& bugs) { out.insert(out.end(), bugs.begin(), bugs.end()); };
  append(positions);
  append(edges);
  append(modes);
  append(costs);
  append(precisions);
  append(orthogonal_modes);
}

}  // namespace rankcheck::cases::planted

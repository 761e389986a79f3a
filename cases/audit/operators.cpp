#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "reference/spec/to_size.hpp"

#include "harness/case/call_class.hpp"

#include "cases/audit/call_edits.hpp"
#include "cases/audit/catalogue.hpp"
#include "cases/audit/intercepted_call.hpp"
#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/draw.hpp"

/// Operators that read or write wrong values on one rank.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using spec::Array;

/// Moves the content of every frame down and to the right by `by` pixels. Pixels that enter the
/// frame are 0.
void move_frames(const InterceptedCall& intercepted, Values& values, int by) {
  const int width = intercepted.call().scene.detector;
  const Values before = values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto pixel = static_cast<int>(i % spec::to_size(width * width));
    const int row = pixel / width - by;
    const int col = pixel % width - by;
    const bool exists = row >= 0 && row < width && col >= 0 && col < width;
    values[i] = exists ? before[i - spec::to_size(pixel) + spec::to_size(row * width + col)] : 0;
  }
}

bool has_odd_border(const Case& c) {
  return (ptycho(c).scene.detector - ptycho(c).scene.window) % 2 == 1;
}

constexpr std::array misplacements{
    Bug{.name = "rows_and_columns_swapped",
        .summary = "Positions are read as (column, row) instead of (row, column).",
        .source = "ptychodus#73",
        .operation = "extract",
        .algorithm = "gather",
        .property = "is_exact_on_bilinear_objects",
        .says = "differs from the bilinear object",
        .replace_call = run_transposed},
    Bug{.name = "positions_rounded_down",
        .summary = "Positions are rounded down to whole pixels.",
        .source = "PtyGer, shifts",
        .operation = "extract",
        .algorithm = "gather",
        .property = "has_adjoint_insert",
        .says = "<F x, y>",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.change_input(Array::positions, [](Values& values, int) {
                for (auto& value : values) value = std::floor(value.real());
              });
              intercepted.run();
            }},
    Bug{.name = "frames_out_of_step",
        .summary = "Positions are sorted, but frames are not.",
        .source = "ptychodus#80",
        .operation = "gaussian_gradients",
        .algorithm = "batched",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.change_input(Array::positions, [](Values& values, int) {
                std::reverse(values.begin(), values.end());
                for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
                  std::swap(values[i], values[i + 1]);
                }
              });
              intercepted.run();
            }},
    Bug{.name = "tail_of_positions_dropped",
        .summary = "Positions that do not fill a batch are left out.",
        .source = "Pty-Chi 5d37add",
        .operation = "insert",
        .algorithm = "gather",
        .property = "is_independent_of_order",
        .says = "which are reversed",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.change_input(Array::patches, [&](Values& values, int rank) {
                if (intercepted.positions(rank) % 2 == 0) return;
                const std::int64_t size = spec::values(intercepted.call().scene, Array::patches);
                std::fill(values.end() - size, values.end(), 0);
              });
              intercepted.run();
            }},
    Bug{.name = "overlap_overwritten",
        .summary = "If two threads add to one pixel, one contribution is lost.",
        .source = "ptypy#296",
        .operation = "insert",
        .algorithm = "gather",
        .property = "counts_every_position",
        .says = "which are repeated",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.change_input(Array::patches, [&](Values& values, int rank) {
                const Values at = intercepted.input(Array::positions, rank);
                const auto is_at = [&](std::size_t n, std::size_t m) {
                  return at[2 * n] == at[2 * m] && at[2 * n + 1] == at[2 * m + 1];
                };
                const auto size =
                    spec::to_size(spec::values(intercepted.call().scene, Array::patches));
                for (std::size_t n = 0; n < values.size() / size; ++n) {
                  for (std::size_t m = 0; m < n; ++m) {
                    if (is_at(n, m)) std::fill_n(values.data() + m * size, size, 0);
                  }
                }
              });
              intercepted.run();
            }},
};

constexpr std::array edges{
    Bug{.name = "zero_times_what_is_past_the_end",
        .summary = "At whole-pixel positions, pixels past the end of the window are read and "
                   "multiplied by 0.",
        .source = "tike, Patch",
        .operation = "extract",
        .algorithm = "gather",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              const spec::Scene& scene = intercepted.call().scene;
              intercepted.change_output(Array::patches, [&](Values& values, int rank) {
                const Values at = intercepted.input(Array::positions, rank);
                const int last = spec::margin(scene) + scene.window - 1;
                for_each_copy(intercepted, Array::patches, values, [&](std::size_t n, auto* patch) {
                  const double row = std::floor(at[2 * n].real());
                  if (row + scene.window != scene.rows) return;
                  patch[last * scene.detector + last] = std::numeric_limits<double>::quiet_NaN();
                });
              });
            }},
    Bug{.name = "last_row_not_launched",
        .summary = "The number of thread blocks is rounded down, so the object's last row is never "
                   "written.",
        .source = "ssc-cdi",
        .operation = "illuminate_adjoint_object",
        .algorithm = "gather",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              intercepted.change_output(Array::object, [&](Values& values, int) {
                std::fill(values.end() - intercepted.call().scene.cols, values.end(), 0);
              });
            }},
    Bug{.name = "border_filled",
        .summary = "Pixels around the window are 1 instead of 0.",
        .source = "tike, Pad with cval",
        .operation = "pad",
        .algorithm = "pixelwise",
        .property = "has_adjoint_crop",
        .says = "<F x, y>",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              const spec::Scene& scene = intercepted.call().scene;
              const int first = spec::margin(scene);
              const auto is_around = [&](std::size_t line) {
                return static_cast<int>(line) < first ||
                       static_cast<int>(line) >= first + scene.window;
              };
              const auto width = spec::to_size(scene.detector);
              intercepted.change_output(Array::patches, [&](Values& values, int) {
                for (std::size_t i = 0; i < values.size(); ++i) {
                  if (is_around(i / width % width) || is_around(i % width)) values[i] = 1;
                }
              });
            }},
    Bug{.name = "border_rounded_up",
        .summary = "If the border has odd width, its larger half is put before the window instead "
                   "of after.",
        .source = "Pty-Chi 4298fb8",
        .operation = "pad",
        .algorithm = "pixelwise",
        .property = "is_undone_by_crop",
        .says = "differs from the input",
        .hits = has_odd_border,
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              intercepted.change_output(Array::patches, [&](Values& values, int) {
                move_frames(intercepted, values, 1);
              });
            }},
    Bug{.name = "cropped_one_pixel_off",
        .summary = "If the border has odd width, its larger half is cut off before the window "
                   "instead of after.",
        .source = "Pty-Chi 7c9034f",
        .operation = "crop",
        .algorithm = "pixelwise",
        .property = "has_adjoint_pad",
        .says = "<F x, y>",
        .hits = has_odd_border,
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.change_input(Array::patches, [&](Values& values, int) {
                move_frames(intercepted, values, -1);
              });
              intercepted.run();
            }},
};

constexpr std::array costs{
    Bug{.name = "mask_ignored",
        .summary = "Unmeasured pixels are treated as measured.",
        .source = "Pty-Chi 8482f04",
        .operation = "gaussian_cost",
        .algorithm = "pixelwise",
        .replace_call = run_unmasked},
    Bug{.name = "unmeasured_times_zero",
        .summary =
            "Unmeasured pixels are multiplied by 0 instead of skipped, and 0 times NaN is NaN.",
        .operation = "gaussian_gradients",
        .algorithm = "batched",
        .property = "ignores_unmeasured_pixels",
        .says = "unmeasured pixels change the result",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              const Values mask = intercepted.input(Array::mask, 0);
              const Values frames = intercepted.all_input(Array::frames);
              double nothing = 0;
              for (std::size_t i = 0; i < frames.size(); ++i) {
                if (mask[i % mask.size()].real() == 0) nothing += 0 * frames[i].real();
              }
              intercepted.change_output(Array::cost,
                                        [&](Values& values, int) { values[0] += nothing; });
            }},
    Bug{.name = "frames_of_the_first_batch",
        .summary = "The first batch's frames are used for every batch.",
        .source = "ptypy#269",
        .operation = "gaussian_cost",
        .algorithm = "pixelwise",
        .replace_call = take_first_copy<Array::frames>},
    Bug{.name = "constant_of_the_cost_left_out",
        .summary = "The cost is I - d log I, which is not 0 if I = d.",
        .source = "tike, objective",
        .operation = "poisson_cost",
        .algorithm = "pixelwise",
        .property = "agrees_at_the_truth",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              const Values mask = intercepted.input(Array::mask, 0);
              const Values frames = intercepted.all_input(Array::frames);
              double constant = 0;
              for (std::size_t i = 0; i < frames.size(); ++i) {
                const double d = frames[i].real();
                if (mask[i % mask.size()].real() != 0 && d > 0) constant += d - d * std::log(d);
              }
              intercepted.change_output(Array::cost,
                                        [&](Values& values, int) { values[0] += constant; });
            }},
};

/// If a rank has an odd number of frames, computes its last frame again in double precision.
void light_remainder_in_double(InterceptedCall& intercepted) {
  const auto width = spec::to_size(intercepted.call().scene.detector);
  const auto modes = spec::to_size(intercepted.call().scene.modes);
  const std::size_t size = width * width;
  intercepted.run();
  intercepted.change_output(Array::frames, [&](Values& values, int rank) {
    if (intercepted.positions(rank) % 2 == 0) return;
    const Values waves = intercepted.input(Array::far_waves, rank);
    for (std::size_t i = values.size() - size; i < values.size(); ++i) {
      const std::size_t first = i / size * modes * size + i % size;
      double light = 0;
      for (std::size_t m = 0; m < modes; ++m) light += std::norm(waves[first + m * size]);
      values[i] = light;
    }
  });
}

constexpr std::array batches{
    Bug{.name = "remainder_in_another_precision",
        .summary = "Frames that do not fill a batch of two take a code path with other rounding.",
        .operation = "intensity",
        .algorithm = "pixelwise",
        .property = "takes_each_position_alone",
        .says = "depends on the other positions",
        .hits = [](const Case& c) { return c.type == spec::Type::f32; },
        .replace_call = light_remainder_in_double},
    Bug{.name = "probe_of_the_first_of_a_batch",
        .summary = "All positions of a batch use the probe of its first position.",
        .source = "ptypy#584",
        .operation = "illuminate",
        .algorithm = "pixelwise",
        .property = "takes_each_position_alone",
        .says = "depends on the order of the positions",
        .hits = [](const Case& c) { return ptycho(c).scene.varying_probe; },
        .replace_call = take_first_copy<Array::probe>},
    Bug{.name = "window_of_the_first_of_a_batch",
        .summary = "All positions of a batch use the window of its first position.",
        .operation = "multislice",
        .algorithm = "batched",
        .property = "takes_each_position_alone",
        .says = "depends on the order of the positions",
        .replace_call = take_first_copy<Array::positions>},
};

/// Whether some rank has more positions than fit into one batch.
bool has_batches(const Case& c) {
  return c.chunk > 0 && c.chunk < *std::max_element(c.counts.begin(), c.counts.end());
}

constexpr std::array sizes{
    Bug{.name = "second_batch_overwrites",
        .summary = "Each batch overwrites the previous batch's part of the probe's gradient.",
        .operation = "gaussian_gradients",
        .algorithm = "fused",
        .hits = has_batches,
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              intercepted.change_output(Array::probe, [](Values& values, int) {
                for (auto& value : values) value /= 2;
              });
            }},
    Bug{.name = "columns_behind_the_first_strip",
        .summary = "Only the first 128 columns of the object are written.",
        .operation = "object_preconditioner",
        .algorithm = "gather",
        .pixels_max = std::int64_t{2} * (large_cols + 1),
        .hits = [](const Case& c) { return ptycho(c).scene.cols > large_cols; },
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              const auto cols = spec::to_size(intercepted.call().scene.cols);
              intercepted.change_output(Array::object_weight, [&](Values& values, int) {
                for (std::size_t i = 0; i < values.size(); ++i) {
                  if (i % cols >= large_cols) values[i] = 0;
                }
              });
            }},
    Bug{.name = "second_group_of_positions_lost",
        .summary = "Only the first 64 positions of a rank contribute to the probe.",
        .operation = "probe_preconditioner",
        .algorithm = "gather",
        .elements_max = large_positions + 1,
        .hits =
            [](const Case& c) {
              return *std::max_element(c.counts.begin(), c.counts.end()) > large_positions;
            },
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              intercepted.change_output(Array::probe_weight, [](Values& values, int) {
                for (auto& value : values) value *= 0.5;
              });
            }},
};

constexpr std::array precisions{
    Bug{.name = "frames_travel_as_f32",
        .summary = "Frames in double precision are sent to their ranks as f32.",
        .operation = "redistribute",
        .algorithm = "exchanged",
        .hits = [](const Case& c) { return c.type == spec::Type::f64; },
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              intercepted.change_output(Array::shard_frames, [](Values& values, int) {
                values = rounded_to(spec::Type::f32, values);
              });
            }},
    Bug{.name = "halved_precision",
        .summary = "The result is rounded to half precision.",
        .source = "tike 2b001b3f",
        .operation = "extract",
        .algorithm = "gather",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              intercepted.change_output(Array::patches, [](Values& values, int) {
                values = rounded_to(spec::Type::f16, values);
              });
            }},
};

}  // namespace

void add_bugs_in_operators(std::vector<Bug>& out) {
  const auto append = [&](const auto& bugs) { out.insert(out.end(), bugs.begin(), bugs.end()); };
  append(misplacements);
  append(edges);
  append(costs);
  append(batches);
  append(sizes);
  append(precisions);
}

}  // namespace rankcheck::cases::audit

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

/// If a rank has an odd number of frames, computes its last frame again in double precision.
void light_remainder_in_double(const InterceptedCall& intercepted, Values& values, int rank) {
  const auto width = spec::to_size(intercepted.call().scene.detector);
  const auto modes = spec::to_size(intercepted.call().scene.modes);
  const std::size_t size = width * width;
  if (intercepted.positions(rank) % 2 == 0) return;
  const Values waves = intercepted.input(Array::far_waves, rank);
  for (std::size_t i = values.size() - size; i < values.size(); ++i) {
    const std::size_t first = i / size * modes * size + i % size;
    double light = 0;
    for (std::size_t m = 0; m < modes; ++m) light += std::norm(waves[first + m * size]);
    values[i] = light;
  }
}

/// Whether some rank has more positions than fit into one batch.
bool has_batches(const Case& c) {
  return c.chunk > 0 && c.chunk < *std::max_element(c.counts.begin(), c.counts.end());
}

constexpr std::array bugs_in_operators{
    Bug{.name = "rows_and_columns_swapped",
        .summary = "Positions are read as (column, row) instead of (row, column).",
        .source = "ptychodus#73",
        .target = {"extract", "gather"},
        .found_by = {"is_exact_on_bilinear_objects", "differs from the bilinear object"},
        .edit_input = {Array::positions, transpose}},
    Bug{.name = "positions_rounded_down",
        .summary = "Positions are rounded down to whole pixels.",
        .source = "PtyGer, shifts",
        .target = {"extract", "gather"},
        .found_by = {"has_adjoint_insert", "<F x, y>"},
        .edit_input = {Array::positions,
                       each_value<[](auto value) { return std::floor(value.real()); }>}},
    Bug{.name = "frames_out_of_step",
        .summary = "Positions are sorted, but frames are not.",
        .source = "ptychodus#80",
        .target = {"gaussian_gradients", "batched"},
        .edit_input = {Array::positions,
                       [](const InterceptedCall&, Values& values, int) {
                         std::reverse(values.begin(), values.end());
                         for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
                           std::swap(values[i], values[i + 1]);
                         }
                       }}},
    Bug{.name = "tail_of_positions_dropped",
        .summary = "Positions that do not fill a batch are left out.",
        .source = "Pty-Chi 5d37add",
        .target = {"insert", "gather"},
        .found_by = {"is_independent_of_order", "which are reversed"},
        .edit_input = {Array::patches,
                       [](const InterceptedCall& intercepted, Values& values, int rank) {
                         if (intercepted.positions(rank) % 2 == 0) return;
                         const std::int64_t size =
                             spec::values(intercepted.call().scene, Array::patches);
                         std::fill(values.end() - size, values.end(), 0);
                       }}},
    Bug{.name = "overlap_overwritten",
        .summary = "If two threads add to one pixel, one contribution is lost.",
        .source = "ptypy#296",
        .target = {"insert", "gather"},
        .found_by = {"counts_every_position", "which are repeated"},
        .edit_input = {Array::patches,
                       [](const InterceptedCall& intercepted, Values& values, int rank) {
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
                       }}},
    Bug{.name = "zero_times_what_is_past_the_end",
        .summary = "At whole-pixel positions, pixels past the end of the window are read and "
                   "multiplied by 0.",
        .source = "tike, Patch",
        .target = {"extract", "gather"},
        .edit_output = {Array::patches,
                        [](const InterceptedCall& intercepted, Values& values, int rank) {
                          const spec::Scene& scene = intercepted.call().scene;
                          const Values at = intercepted.input(Array::positions, rank);
                          const int last = spec::margin(scene) + scene.window - 1;
                          for_each_copy(
                              intercepted, Array::patches, values, [&](std::size_t n, auto* patch) {
                                const double row = std::floor(at[2 * n].real());
                                if (row + scene.window != scene.rows) return;
                                patch[last * scene.detector + last] =
                                    std::numeric_limits<double>::quiet_NaN();
                              });
                        }}},
    Bug{.name = "last_row_not_launched",
        .summary = "The number of thread blocks is rounded down, so the object's last row is never "
                   "written.",
        .source = "ssc-cdi",
        .target = {"illuminate_adjoint_object", "gather"},
        .edit_output = {Array::object,
                        [](const InterceptedCall& intercepted, Values& values, int) {
                          std::fill(values.end() - intercepted.call().scene.cols, values.end(), 0);
                        }}},
    Bug{.name = "border_filled",
        .summary = "Pixels around the window are 1 instead of 0.",
        .source = "tike, Pad with cval",
        .target = {"pad", "pixelwise"},
        .found_by = {"has_adjoint_crop", "<F x, y>"},
        .edit_output = {Array::patches,
                        [](const InterceptedCall& intercepted, Values& values, int) {
                          const spec::Scene& scene = intercepted.call().scene;
                          const int first = spec::margin(scene);
                          const auto is_around = [&](std::size_t line) {
                            return static_cast<int>(line) < first ||
                                   static_cast<int>(line) >= first + scene.window;
                          };
                          const auto width = spec::to_size(scene.detector);
                          for (std::size_t i = 0; i < values.size(); ++i) {
                            if (is_around(i / width % width) || is_around(i % width)) values[i] = 1;
                          }
                        }}},
    Bug{.name = "border_rounded_up",
        .summary = "If the border has odd width, its larger half is put before the window instead "
                   "of after.",
        .source = "Pty-Chi 4298fb8",
        .target = {"pad", "pixelwise"},
        .found_by = {"is_undone_by_crop", "differs from the input"},
        .hits = has_odd_border,
        .edit_output = {Array::patches,
                        [](const InterceptedCall& intercepted, Values& values, int) {
                          move_frames(intercepted, values, 1);
                        }}},
    Bug{.name = "cropped_one_pixel_off",
        .summary = "If the border has odd width, its larger half is cut off before the window "
                   "instead of after.",
        .source = "Pty-Chi 7c9034f",
        .target = {"crop", "pixelwise"},
        .found_by = {"has_adjoint_pad", "<F x, y>"},
        .hits = has_odd_border,
        .edit_input = {Array::patches,
                       [](const InterceptedCall& intercepted, Values& values, int) {
                         move_frames(intercepted, values, -1);
                       }}},
    Bug{.name = "mask_ignored",
        .summary = "Unmeasured pixels are treated as measured.",
        .source = "Pty-Chi 8482f04",
        .target = {"gaussian_cost", "pixelwise"},
        .edit_input = {Array::mask, unmask}},
    Bug{.name = "unmeasured_times_zero",
        .summary =
            "Unmeasured pixels are multiplied by 0 instead of skipped, and 0 times NaN is NaN.",
        .target = {"gaussian_gradients", "batched"},
        .found_by = {"ignores_unmeasured_pixels", "unmeasured pixels change the result"},
        .edit_output = {Array::cost,
                        [](const InterceptedCall& intercepted, Values& values, int) {
                          const Values mask = intercepted.input(Array::mask, 0);
                          const Values frames = intercepted.all_input(Array::frames);
                          double nothing = 0;
                          for (std::size_t i = 0; i < frames.size(); ++i) {
                            if (mask[i % mask.size()].real() == 0) nothing += 0 * frames[i].real();
                          }
                          values[0] += nothing;
                        }}},
    Bug{.name = "frames_of_the_first_batch",
        .summary = "The first batch's frames are used for every batch.",
        .source = "ptypy#269",
        .target = {"gaussian_cost", "pixelwise"},
        .edit_input = {Array::frames, take_first_copy<Array::frames>}},
    Bug{.name = "constant_of_the_cost_left_out",
        .summary = "The cost is I - d log I, which is not 0 if I = d.",
        .source = "tike, objective",
        .target = {"poisson_cost", "pixelwise"},
        .found_by = {"agrees_at_the_truth"},
        .edit_output = {Array::cost,
                        [](const InterceptedCall& intercepted, Values& values, int) {
                          const Values mask = intercepted.input(Array::mask, 0);
                          const Values frames = intercepted.all_input(Array::frames);
                          double constant = 0;
                          for (std::size_t i = 0; i < frames.size(); ++i) {
                            const double d = frames[i].real();
                            if (mask[i % mask.size()].real() != 0 && d > 0)
                              constant += d - d * std::log(d);
                          }
                          values[0] += constant;
                        }}},
    Bug{.name = "remainder_in_another_precision",
        .summary = "Frames that do not fill a batch of two take a code path with other rounding.",
        .target = {"intensity", "pixelwise"},
        .found_by = {"takes_each_position_alone", "depends on the other positions"},
        .hits = [](const Case& c) { return c.type == spec::Type::f32; },
        .edit_output = {Array::frames, light_remainder_in_double}},
    Bug{.name = "probe_of_the_first_of_a_batch",
        .summary = "All positions of a batch use the probe of its first position.",
        .source = "ptypy#584",
        .target = {"illuminate", "pixelwise"},
        .found_by = {"takes_each_position_alone", "depends on the order of the positions"},
        .hits = [](const Case& c) { return ptycho(c).scene.varying_probe; },
        .edit_input = {Array::probe, take_first_copy<Array::probe>}},
    Bug{.name = "window_of_the_first_of_a_batch",
        .summary = "All positions of a batch use the window of its first position.",
        .target = {"multislice", "batched"},
        .found_by = {"takes_each_position_alone", "depends on the order of the positions"},
        .edit_input = {Array::positions, take_first_copy<Array::positions>}},
    Bug{.name = "second_batch_overwrites",
        .summary = "Each batch overwrites the previous batch's part of the probe's gradient.",
        .target = {"gaussian_gradients", "fused"},
        .hits = has_batches,
        .edit_output = {Array::probe, each_value<[](auto value) { return value / 2.0; }>}},
    Bug{.name = "columns_behind_the_first_strip",
        .summary = "Only the first 128 columns of the object are written.",
        .target = {"object_preconditioner", "gather"},
        .pixels_max = std::int64_t{2} * (large_cols + 1),
        .hits = [](const Case& c) { return ptycho(c).scene.cols > large_cols; },
        .edit_output = {Array::object_weight,
                        [](const InterceptedCall& intercepted, Values& values, int) {
                          const auto cols = spec::to_size(intercepted.call().scene.cols);
                          for (std::size_t i = 0; i < values.size(); ++i) {
                            if (i % cols >= large_cols) values[i] = 0;
                          }
                        }}},
    Bug{.name = "second_group_of_positions_lost",
        .summary = "Only the first 64 positions of a rank contribute to the probe.",
        .target = {"probe_preconditioner", "gather"},
        .elements_max = large_positions + 1,
        .hits =
            [](const Case& c) {
              return *std::max_element(c.counts.begin(), c.counts.end()) > large_positions;
            },
        .edit_output = {Array::probe_weight, each_value<[](auto value) { return value * 0.5; }>}},
    Bug{.name = "frames_travel_as_f32",
        .summary = "Frames in double precision are sent to their ranks as f32.",
        .target = {"redistribute", "exchanged"},
        .hits = [](const Case& c) { return c.type == spec::Type::f64; },
        .edit_output = {Array::shard_frames,
                        [](const InterceptedCall&,
                           Values& values,
                           int) { values = rounded_to(spec::Type::f32, values); }}},
    Bug{.name = "halved_precision",
        .summary = "The result is rounded to half precision.",
        .source = "tike 2b001b3f",
        .target = {"extract", "gather"},
        .edit_output = {Array::patches,
                        [](const InterceptedCall&,
                           Values& values,
                           int) { values = rounded_to(spec::Type::f16, values); }}},
};

}  // namespace

void add_bugs_in_operators(std::vector<Bug>& out) {
  out.insert(out.end(), bugs_in_operators.begin(), bugs_in_operators.end());
}

}  // namespace rankcheck::cases::audit

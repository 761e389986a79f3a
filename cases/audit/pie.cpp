#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <limits>

#include "reference/spec/to_size.hpp"

#include "cases/audit/call_edits.hpp"
#include "cases/audit/catalogue.hpp"
#include "cases/audit/intercepted_call.hpp"

/// Steps of rPIE and ePIE that go too far, not far enough, or to a wrong place on some rank.
namespace rankcheck::cases::audit {

namespace {

using spec::Array;

/// Makes an all_to_all_v call, then sets everything that came from other ranks to zero.
void drop_parts_of_others(const CollectiveCall& call) {
  call.make();
  const auto ranks = spec::to_size(call.call.ranks);
  const auto bytes = spec::to_size(spec::info(call.call.type).bytes);
  for (std::size_t to = 0; to < ranks; ++to) {
    std::byte* at = call.buffers[to].recv;
    for (std::size_t from = 0; from < ranks; ++from) {
      const std::size_t size = spec::to_size(call.call.counts[from * ranks + to]) * bytes;
      if (from != to && size > 0) std::memset(at, 0, size);
      at += size;
    }
  }
}

/// Runs the step with the last row of every tile cut off. The ranks gather their tiles as boxes of
/// four numbers; the third one is the number of rows.
void cut_off_last_rows(InterceptedCall& intercepted) {
  intercepted.devices().on_collective = [](const CollectiveCall& call) {
    call.make();
    if (call.operation != "all_gather") return;
    constexpr std::size_t sides = 4;
    constexpr std::size_t rows = 2;
    for (const gpu::DeviceBuffers& each : call.buffers) {
      const auto boxes = spec::to_size(call.call.ranks);
      Values values = load(call.call.type, false, each.recv, sides * boxes);
      for (std::size_t box = 0; box < boxes; ++box) {
        auto& height = values[sides * box + rows];
        height = std::max(0.0, height.real() - 1);
      }
      store(call.call.type, false, values, each.recv);
    }
  };
  intercepted.run();
}

/// Removes the mean phase ramp along the rows from the object and puts it into the probe.
void take_ramp_out(InterceptedCall& intercepted) {
  intercepted.run();
  const spec::Scene& scene = intercepted.call().scene;
  const auto cols = spec::to_size(scene.cols);
  const auto window = spec::to_size(scene.window);
  const Values object = intercepted.output(Array::object, 0);
  std::complex<double> step = 0;
  for (std::size_t i = cols; i < object.size(); ++i)
    step += object[i] * std::conj(object[i - cols]);
  const double angle = std::arg(step);
  intercepted.change_output(Array::object, [&](Values& values, int) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t row = i / cols;
      values[i] *= std::polar(1.0, -angle * static_cast<double>(row));
    }
  });
  intercepted.change_output(Array::probe, [&](Values& values, int) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t row = i / window % window;
      values[i] *= std::polar(1.0, angle * static_cast<double>(row));
    }
  });
}

/// Smooths the object: every pixel moves toward each of its eight neighbours by a sixteenth of
/// their difference.
void smooth_object(InterceptedCall& intercepted) {
  intercepted.run();
  const int rows = intercepted.call().scene.rows;
  const int cols = intercepted.call().scene.cols;
  intercepted.change_output(Array::object, [&](Values& values, int) {
    const Values before = values;
    for (int i = 0; i < rows * cols; ++i) {
      for (int near = 0; near < 9; ++near) {
        const int row = i / cols + near / 3 - 1;
        const int col = i % cols + near % 3 - 1;
        if (row < 0 || row >= rows || col < 0 || col >= cols) continue;
        const auto at = spec::to_size(i);
        values[at] += (before[spec::to_size(row * cols + col)] - before[at]) / 16.0;
      }
    }
  });
}

constexpr std::array pie{
    Bug{.name = "nothing_divided_by_nothing",
        .summary = "Where no light falls, the step is 0 / 0.",
        .source = "tike fa7aac32; ptypy#325",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              if (intercepted.positions() > 0) return;
              intercepted.change_output(Array::object, [](Values& values, int) {
                std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
              });
            }},
    Bug{.name = "probe_not_synchronised",
        .summary = "One rank updates the probe, and the other ranks keep the old probe.",
        .source = "tike PR #133",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .says = "differs from rank 0",
        .replace_call = keep_on_other_ranks<Array::probe>},
    Bug{.name = "preconditioner_unused",
        .summary = "The step length is computed but not used: the step is the gradient itself.",
        .source = "tike 60766032",
        .operation = "epie_step",
        .algorithm = "replicated",
        .replace_call =
            [](InterceptedCall& intercepted) {
              change_sum<StepSums::of_object_weight>(
                  intercepted, [](const CollectiveCall& call) { call.fill(1); });
            }},
    Bug{.name = "step_divided_by_modes",
        .summary = "The object's step is divided by the number of modes.",
        .source = "tike, rpie",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .property = "is_equivariant",
        .says = "which are dark",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              intercepted.change_output(Array::object, [&](Values& values, int rank) {
                const Values before = intercepted.input(Array::object, rank);
                const double part = 1.0 / intercepted.scene().modes;
                for (std::size_t i = 0; i < values.size(); ++i) {
                  values[i] = before[i] + part * (values[i] - before[i]);
                }
              });
            }},
    Bug{.name = "denominator_of_own_frames",
        .summary = "The gradient is summed over the ranks, but each rank divides it by its own "
                   "denominator.",
        .source = "ptypy fbf530eb; tike PR #322",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .says = "differs from rank 0",
        .replace_call = leave_out<StepSums::of_object_weight>},
    Bug{.name = "penalty_conjugates_the_probe",
        .summary = "A penalty on the probe shrinks its real part but increases its imaginary part.",
        .source = "tike 08450de6",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .property = "is_equivariant",
        .says = "does not follow the inputs",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              intercepted.change_output(Array::probe, [](Values& values, int) {
                for (auto& value : values) value -= 0.25 * std::conj(value);
              });
            }},
    Bug{.name = "object_scaled_to_its_mean",
        .summary =
            "Every step scales the object to a mean magnitude of 1 but leaves the probe unscaled.",
        .source = "tike 9ac2c1da",
        .operation = "epie_step",
        .algorithm = "replicated",
        .property = "keeps_the_truth",
        .says = "moved away from the truth",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              intercepted.change_output(Array::object, [](Values& values, int) {
                double sum = 0;
                for (const auto& value : values) sum += std::abs(value);
                if (sum == 0) return;
                for (auto& value : values) value *= static_cast<double>(values.size()) / sum;
              });
            }},
    Bug{.name = "mask_ignored_in_the_step",
        .summary = "Unmeasured pixels contribute to the steps of object and probe.",
        .source = "Pty-Chi 8482f04",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .replace_call = run_unmasked},
    Bug{.name = "overlaps_not_exchanged",
        .summary = "Overlapping tiles keep their own gradients instead of exchanging them.",
        .source = "Pty-Chi 7b9fc49",
        .operation = "rpie_step",
        .algorithm = "tiled",
        .replace_call =
            [](InterceptedCall& intercepted) {
              bool done = false;
              intercepted.devices().on_collective = [&](const CollectiveCall& call) {
                if (done || call.operation != "all_to_all_v") return call.make();
                drop_parts_of_others(call);
                done = true;
              };
              intercepted.run();
            }},
    Bug{.name = "tile_ends_with_its_windows",
        .summary = "Tiles lack the row after their windows, which interpolation also reads.",
        .source = "tike 6ce09ce7",
        .operation = "rpie_step",
        .algorithm = "tiled",
        .property = "is_independent_of_partition",
        .says = "differs from the result of another partition",
        .replace_call = cut_off_last_rows},
    Bug{.name = "largest_weight_everywhere",
        .summary = "The object's step is divided only by the largest weight, as in ePIE.",
        .source = "tike, rpie with alpha = 1",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .property = "is_epie_with_other_divisors",
        .says = "is not ePIE's step",
        .replace_call =
            [](InterceptedCall& intercepted) {
              change_sum<StepSums::of_object_weight>(intercepted, [](const CollectiveCall& call) {
                double most = 0;
                for (const auto& weight : load(call.call.type,
                                               false,
                                               call.buffers.front().recv,
                                               spec::to_size(call.call.count))) {
                  most = std::max(most, weight.real());
                }
                call.fill(most);
              });
            }},
    Bug{.name = "step_taken_twice",
        .summary = "The momentum step is added to the plain step instead of replacing it.",
        .source = "tike, rpie with adaptive moment",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .property = "grows_as_its_light_does",
        .says = "differs from the closed form",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              intercepted.change_output(Array::object, [&](Values& values, int rank) {
                const Values before = intercepted.input(Array::object, rank);
                for (std::size_t i = 0; i < values.size(); ++i) {
                  values[i] += values[i] - before[i];
                }
              });
            }},
    Bug{.name = "step_averaged_over_ranks",
        .summary = "The probe's step is the mean of the ranks' steps instead of the sum.",
        .source = "tike aa244409",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .property = "is_independent_of_refinement",
        .says = "differs from the result on fewer ranks",
        .replace_call =
            [](InterceptedCall& intercepted) {
              change_sum<StepSums::of_probe>(intercepted, [](const CollectiveCall& call) {
                call.scale(1.0 / call.call.ranks);
              });
            }},
    Bug{.name = "object_smoothed",
        .summary = "Every step smooths the object, as if differences between neighbouring pixels "
                   "were noise.",
        .source = "tike, smoothness constraint",
        .operation = "epie_step",
        .algorithm = "replicated",
        .property = "keeps_the_raster_ambiguity",
        .says = "which are periodic",
        .replace_call = smooth_object},
    Bug{.name = "ramp_taken_out",
        .summary = "Every step moves the object's mean phase ramp along the rows into the probe.",
        .operation = "epie_step",
        .algorithm = "replicated",
        .property = "is_equivariant",
        .says = "does not follow the inputs",
        .replace_call = take_ramp_out},
};

}  // namespace

void add_bugs_in_pie(std::vector<Bug>& out) {
  out.insert(out.end(), pie.begin(), pie.end());
}

}  // namespace rankcheck::cases::audit

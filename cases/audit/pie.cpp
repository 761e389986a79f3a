#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "reference/ptycho/momentum_step/contract.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/audit/call_edits.hpp"
#include "cases/audit/catalogue.hpp"
#include "cases/audit/intercepted_call.hpp"
#include "cases/families/ptycho/case.hpp"

/// Steps of rPIE, of ePIE and of momentum, which is ePIE with memory. They go too far, not far
/// enough, or to a wrong place on some rank, or remember something wrong.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;
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

/// Cuts off the last row of every tile. The ranks gather their tiles as boxes of four numbers; the
/// third one is the number of rows.
void cut_off_last_rows(const InterceptedCall&, CollectiveCall& call) {
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
void smooth_object(const InterceptedCall& intercepted, Values& values, int) {
  const int rows = intercepted.call().scene.rows;
  const int cols = intercepted.call().scene.cols;
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
}

/// Returns the output of every rank.
std::vector<Values> outputs_of(const InterceptedCall& intercepted, Array array) {
  std::vector<Values> all;
  for (int rank = 0; rank < intercepted.ranks(); ++rank) {
    all.push_back(intercepted.output(array, rank));
  }
  return all;
}

/// Runs the step as if every rank were alone: in all sums over the ranks, each keeps its own part.
void run_alone(InterceptedCall& intercepted) {
  intercepted.devices().on_collective = [](const CollectiveCall& call) { call.keep(); };
  intercepted.run();
  intercepted.devices().on_collective = nullptr;
}

/// Runs the step, but the directions that it leaves are those of the rank's own gradients.
void remember_own_gradient(InterceptedCall& intercepted) {
  constexpr std::array directions{Array::object_direction, Array::probe_direction};
  std::array<std::vector<Values>, directions.size()> own;
  intercepted.devices().on_collective = [](const CollectiveCall& call) {
    const bool is_gradient =
        call.number == StepSums::of_object || call.number == StepSums::of_probe;
    if (is_gradient) return call.keep();
    call.make();
  };
  intercepted.run();
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = outputs_of(intercepted, directions[i]);
  intercepted.devices().on_collective = nullptr;
  intercepted.run();
  for (std::size_t i = 0; i < own.size(); ++i) {
    intercepted.change_output(
        directions[i], [&](Values& values, int rank) { values = own[i][spec::to_size(rank)]; });
  }
}

/// Every rank takes a step on its own frames. Then all arrays of the state are averaged over the
/// ranks. Keeps the cost of a correct step.
void average_states(InterceptedCall& intercepted) {
  intercepted.run();
  const Values cost = intercepted.output(Array::cost, 0);
  run_alone(intercepted);
  for (const Array array :
       {Array::object, Array::probe, Array::object_direction, Array::probe_direction}) {
    const std::vector<Values> all = outputs_of(intercepted, array);
    Values mean(all.front().size());
    for (const Values& each : all) {
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += each[i];
    }
    for (auto& value : mean) value /= intercepted.ranks();
    intercepted.set_all_output(array, mean);
  }
  intercepted.set_all_output(Array::cost, cost);
}

/// Runs the step, then replaces the directions by `change`(old direction, right new direction), and
/// moves object and probe along the result.
template <class Change>
void change_directions(InterceptedCall& intercepted, const Change& change) {
  intercepted.run();
  constexpr std::array blocks{std::pair{Array::object, Array::object_direction},
                              std::pair{Array::probe, Array::probe_direction}};
  for (const auto& [block, direction] : blocks) {
    const Values before = intercepted.input(block, 0);
    const Values old = intercepted.input(direction, 0);
    Values turned = intercepted.output(direction, 0);
    Values after = before;
    for (std::size_t i = 0; i < turned.size(); ++i) {
      turned[i] = change(old[i], turned[i]);
      after[i] += turned[i];
    }
    intercepted.set_all_output(direction, turned);
    intercepted.set_all_output(block, after);
  }
}

constexpr std::array bugs_in_pie{
    Bug{.name = "nothing_divided_by_nothing",
        .summary = "Where no light falls, the step is 0 / 0.",
        .source = "tike fa7aac32; ptypy#325",
        .target = {"rpie_step", "replicated"},
        .edit_output = {Array::object,
                        [](const InterceptedCall& intercepted, Values& values, int) {
                          if (intercepted.positions() > 0) return;
                          std::fill(values.begin(),
                                    values.end(),
                                    std::numeric_limits<double>::quiet_NaN());
                        }}},
    Bug{.name = "probe_not_synchronised",
        .summary = "One rank updates the probe, and the other ranks keep the old probe.",
        .source = "tike PR #133",
        .target = {"rpie_step", "replicated"},
        .found_by = {.says = "differs from rank 0"},
        .edit_output = {Array::probe, keep_on_other_ranks<Array::probe>}},
    Bug{.name = "preconditioner_unused",
        .summary = "The step length is computed but not used: the step is the gradient itself.",
        .source = "tike 60766032",
        .target = {"epie_step", "replicated"},
        .edit_sum = {StepSums::of_object_weight,
                     [](const InterceptedCall&, const CollectiveCall& call) { call.fill(1); }}},
    Bug{.name = "step_divided_by_modes",
        .summary = "The object's step is divided by the number of modes.",
        .source = "tike, rpie",
        .target = {"rpie_step", "replicated"},
        .found_by = {"is_equivariant", "which are dark"},
        .edit_output = {Array::object,
                        [](const InterceptedCall& intercepted, Values& values, int rank) {
                          const Values before = intercepted.input(Array::object, rank);
                          const double part = 1.0 / intercepted.call().scene.modes;
                          for (std::size_t i = 0; i < values.size(); ++i) {
                            values[i] = before[i] + part * (values[i] - before[i]);
                          }
                        }}},
    Bug{.name = "denominator_of_own_frames",
        .summary = "The gradient is summed over the ranks, but each rank divides it by its own "
                   "denominator.",
        .source = "ptypy fbf530eb; tike PR #322",
        .target = {"rpie_step", "replicated"},
        .found_by = {.says = "differs from rank 0"},
        .make_collective = leave_out<StepSums::of_object_weight>},
    Bug{.name = "penalty_conjugates_the_probe",
        .summary = "A penalty on the probe shrinks its real part but increases its imaginary part.",
        .source = "tike 08450de6",
        .target = {"rpie_step", "replicated"},
        .found_by = {"is_equivariant", "does not follow the inputs"},
        .edit_output = {Array::probe,
                        each_value<[](auto value) { return value - 0.25 * std::conj(value); }>}},
    Bug{.name = "object_scaled_to_its_mean",
        .summary =
            "Every step scales the object to a mean magnitude of 1 but leaves the probe unscaled.",
        .source = "tike 9ac2c1da",
        .target = {"epie_step", "replicated"},
        .found_by = {"keeps_the_truth", "moved away from the truth"},
        .edit_output = {Array::object,
                        [](const InterceptedCall&, Values& values, int) {
                          double sum = 0;
                          for (const auto& value : values) sum += std::abs(value);
                          if (sum == 0) return;
                          for (auto& value : values)
                            value *= static_cast<double>(values.size()) / sum;
                        }}},
    Bug{.name = "mask_ignored_in_the_step",
        .summary = "Unmeasured pixels contribute to the steps of object and probe.",
        .source = "Pty-Chi 8482f04",
        .target = {"rpie_step", "replicated"},
        .edit_input = {Array::mask, unmask}},
    Bug{.name = "overlaps_not_exchanged",
        .summary = "Overlapping tiles keep their own gradients instead of exchanging them.",
        .source = "Pty-Chi 7b9fc49",
        .target = {"rpie_step", "tiled"},
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
        .target = {"rpie_step", "tiled"},
        .found_by = {"is_independent_of_partition", "differs from the result of another partition"},
        .make_collective = cut_off_last_rows},
    Bug{.name = "largest_weight_everywhere",
        .summary = "The object's step is divided only by the largest weight, as in ePIE.",
        .source = "tike, rpie with alpha = 1",
        .target = {"rpie_step", "replicated"},
        .found_by = {"is_epie_with_other_divisors", "is not ePIE's step"},
        .edit_sum = {StepSums::of_object_weight,
                     [](const InterceptedCall&, const CollectiveCall& call) {
                       double most = 0;
                       for (const auto& weight : load(call.call.type,
                                                      false,
                                                      call.buffers.front().recv,
                                                      spec::to_size(call.call.count))) {
                         most = std::max(most, weight.real());
                       }
                       call.fill(most);
                     }}},
    Bug{.name = "step_taken_twice",
        .summary = "The momentum step is added to the plain step instead of replacing it.",
        .source = "tike, rpie with adaptive moment",
        .target = {"rpie_step", "replicated"},
        .found_by = {"grows_as_its_light_does", "differs from the closed form"},
        .edit_output = {Array::object,
                        [](const InterceptedCall& intercepted, Values& values, int rank) {
                          const Values before = intercepted.input(Array::object, rank);
                          for (std::size_t i = 0; i < values.size(); ++i) {
                            values[i] += values[i] - before[i];
                          }
                        }}},
    Bug{.name = "step_averaged_over_ranks",
        .summary = "The probe's step is the mean of the ranks' steps instead of the sum.",
        .source = "tike aa244409",
        .target = {"rpie_step", "replicated"},
        .found_by = {"is_independent_of_refinement", "differs from the result on fewer ranks"},
        .edit_sum = {StepSums::of_probe, average}},
    Bug{.name = "object_smoothed",
        .summary = "Every step smooths the object, as if differences between neighbouring pixels "
                   "were noise.",
        .source = "tike, smoothness constraint",
        .target = {"epie_step", "replicated"},
        .found_by = {"keeps_the_raster_ambiguity", "which are periodic"},
        .edit_output = {Array::object, smooth_object}},
    Bug{.name = "ramp_taken_out",
        .summary = "Every step moves the object's mean phase ramp along the rows into the probe.",
        .target = {"epie_step", "replicated"},
        .found_by = {"is_equivariant", "does not follow the inputs"},
        .replace_call = take_ramp_out},
    Bug{.name = "memory_of_own_gradient",
        .summary = "Object and probe move by the summed gradients, but every rank remembers only "
                   "its own gradient.",
        .source = "FluxMPI, DistributedOptimizer",
        .target = {"momentum_step", "replicated"},
        .found_by = {.says = "differs from rank 0"},
        .replace_call = remember_own_gradient},
    Bug{.name = "states_averaged",
        .summary = "Every rank steps on its own frames, and the states are averaged, instead of "
                   "summing the gradients.",
        .source = "FluxMPI, DistributedOptimizer",
        .target = {"momentum_step", "replicated"},
        .replace_call = average_states},
    Bug{.name = "momentum_lost_between_steps",
        .summary = "A step ignores the directions that the previous step left.",
        .target = {"momentum_step", "replicated"},
        .found_by = {"takes_further_steps"},
        .hits = [](const Case& c) { return ptycho(c).chained; },
        .replace_call =
            [](InterceptedCall& intercepted) {
              for (const Array array : {Array::object_direction, Array::probe_direction}) {
                intercepted.change_input(array, [](Values& values, int) {
                  for (auto& value : values) value = 0;
                });
              }
              intercepted.run();
            }},
    Bug{.name = "momentum_as_a_mean",
        .summary = "The gradient's share is multiplied by 0.1, as if the direction were a mean "
                   "over the steps.",
        .source = "tike, opt.momentum",
        .target = {"momentum_step", "replicated"},
        .found_by = {"is_epie_with_memory", "is not ePIE's step plus the memory"},
        .replace_call =
            [](InterceptedCall& intercepted) {
              change_directions(intercepted, [](auto old, auto turned) {
                const auto kept = reference::momentum_beta * old;
                return kept + (1 - reference::momentum_beta) * (turned - kept);
              });
            }},
    Bug{.name = "momentum_not_damped",
        .summary = "The old directions are added as a whole.",
        .target = {"momentum_step", "tiled"},
        .found_by = {"coasts_at_the_truth", "does not go on as before at the truth"},
        .replace_call =
            [](InterceptedCall& intercepted) {
              change_directions(intercepted, [](auto old, auto turned) {
                return turned + (1 - reference::momentum_beta) * old;
              });
            }},
};

}  // namespace

void add_bugs_in_pie(std::vector<Bug>& out) {
  out.insert(out.end(), bugs_in_pie.begin(), bugs_in_pie.end());
}

}  // namespace rankcheck::cases::audit

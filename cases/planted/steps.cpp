#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <limits>

#include "cases/planted/attempt.hpp"
#include "cases/planted/catalogue.hpp"
#include "cases/planted/changes.hpp"

/// Steps of solvers that go too far, not far enough, or elsewhere on some rank.
namespace rankcheck::cases::planted {

namespace {

using harness::Case;
using spec::Array;

bool is_single(const Case& c) {
  return c.type == spec::Type::f32;
}

/// Numbers of a few values that steer a step: they are summed in double precision, which tells them
/// from arrays in single precision.
bool steers(const CollectiveCall& call) {
  return call.call.type == spec::Type::f64;
}

/// The step goes on from where it is as if everybody else's part of it were nothing.
void drop_parts_of_others(const CollectiveCall& call) {
  call.make();
  const auto ranks = static_cast<std::size_t>(call.call.ranks);
  const auto bytes = static_cast<std::size_t>(spec::info(call.call.type).bytes);
  for (std::size_t to = 0; to < ranks; ++to) {
    std::byte* at = call.buffers[to].recv;
    for (std::size_t from = 0; from < ranks; ++from) {
      const std::size_t size =
          static_cast<std::size_t>(call.call.counts[from * ranks + to]) * bytes;
      if (from != to && size > 0) std::memset(at, 0, size);
      at += size;
    }
  }
}

/// Of every tile the last row.
void cut_off_last_rows(Attempt& attempt) {
  attempt.devices().on_collective = [](const CollectiveCall& call) {
    call.make();
    if (call.operation != "all_gather") return;
    constexpr std::size_t sides = 4;
    constexpr std::size_t rows = 2;
    for (const gpu::DeviceBuffers& each : call.buffers) {
      const auto boxes = static_cast<std::size_t>(call.call.ranks);
      Values values = load(call.call.type, false, each.recv, sides * boxes);
      for (std::size_t box = 0; box < boxes; ++box) {
        auto& height = values[sides * box + rows];
        height = std::max(0.0, height.real() - 1);
      }
      store(call.call.type, false, values, each.recv);
    }
  };
  attempt.run();
}

/// Takes the mean phase ramp out of the object's rows and puts it into the probe's.
void take_ramp_out(Attempt& attempt) {
  attempt.run();
  const spec::Scene& scene = attempt.call().scene;
  const auto cols = static_cast<std::size_t>(scene.cols);
  const auto window = static_cast<std::size_t>(scene.window);
  const Values object = attempt.output(Array::object, 0);
  std::complex<double> step = 0;
  for (std::size_t i = cols; i < object.size(); ++i)
    step += object[i] * std::conj(object[i - cols]);
  const double angle = std::arg(step);
  attempt.change_output(Array::object, [&](Values& values, int) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] *= std::polar(1.0, -angle * static_cast<double>(i / cols));
    }
  });
  attempt.change_output(Array::probe, [&](Values& values, int) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] *= std::polar(1.0, angle * static_cast<double>(i / window % window));
    }
  });
}

/// Runs as if pixels that were not measured were so, and dark; the cost is the right one.
void take_unmeasured_for_dark(Attempt& attempt) {
  attempt.run();
  const Values cost = attempt.output(Array::cost, 0);
  const Values mask = attempt.input(Array::mask, 0);
  attempt.change_input(Array::frames, [&](Values& values, int) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= mask[i % mask.size()];
  });
  unmask(attempt);
  attempt.run();
  attempt.set_all_output(Array::cost, cost);
}

constexpr std::array pie{
    Bug{.name = "nothing_divided_by_nothing",
        .summary = "where there is no light, the step is 0 / 0",
        .source = "tike fa7aac32; ptypy#325",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              if (attempt.positions() > 0) return;
              attempt.change_output(Array::object, [](Values& values, int) {
                std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
              });
            }},
    Bug{.name = "probe_not_synchronised",
        .summary = "one rank updates the probe, the others keep the one they had",
        .source = "tike PR #133",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .says = "differs from rank 0",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              attempt.change_output(Array::probe, [&](Values& values, int rank) {
                if (rank > 0) values = attempt.input(Array::probe, rank);
              });
            }},
    Bug{.name = "preconditioner_unused",
        .summary = "the step length is worked out, but the step is the bare gradient",
        .source = "tike 60766032",
        .operation = "epie_step",
        .algorithm = "replicated",
        .attempt =
            [](Attempt& attempt) {
              change_sum<StepSums::of_object_weight>(
                  attempt, [](const CollectiveCall& call) { call.fill(1); });
            }},
    Bug{.name = "step_divided_by_modes",
        .summary = "the object's step is divided by the number of modes",
        .source = "tike, rpie",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .property = "is_equivariant",
        .says = "which are dark",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              attempt.change_output(Array::object, [&](Values& values, int rank) {
                const Values before = attempt.input(Array::object, rank);
                const double part = 1.0 / attempt.scene().modes;
                for (std::size_t i = 0; i < values.size(); ++i) {
                  values[i] = before[i] + part * (values[i] - before[i]);
                }
              });
            }},
    Bug{.name = "denominator_of_own_frames",
        .summary = "the gradient is every rank's, what it is divided by is the rank's own",
        .source = "ptypy fbf530eb; tike PR #322",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .says = "differs from rank 0",
        .attempt = leave_out<StepSums::of_object_weight>},
    Bug{.name = "penalty_conjugates_the_probe",
        .summary =
            "what holds the probe together shrinks its real part and grows the imaginary one",
        .source = "tike 08450de6",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .property = "is_equivariant",
        .says = "does not follow the inputs",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              attempt.change_output(Array::probe, [](Values& values, int) {
                for (auto& value : values) value -= 0.25 * std::conj(value);
              });
            }},
    Bug{.name = "object_scaled_to_its_mean",
        .summary = "every step scales the object to a mean magnitude of 1, but not the probe",
        .source = "tike 9ac2c1da",
        .operation = "epie_step",
        .algorithm = "replicated",
        .property = "keeps_the_truth",
        .says = "moved away from the truth",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              attempt.change_output(Array::object, [](Values& values, int) {
                double sum = 0;
                for (const auto& value : values) sum += std::abs(value);
                if (sum == 0) return;
                for (auto& value : values) value *= static_cast<double>(values.size()) / sum;
              });
            }},
    Bug{.name = "mask_ignored_in_the_step",
        .summary = "pixels that were not measured pull at object and probe",
        .source = "Pty-Chi 8482f04",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .attempt =
            [](Attempt& attempt) {
              unmask(attempt);
              attempt.run();
            }},
    Bug{.name = "overlaps_not_exchanged",
        .summary = "tiles that overlap keep their own gradients",
        .source = "Pty-Chi 7b9fc49",
        .operation = "rpie_step",
        .algorithm = "tiled",
        .attempt =
            [](Attempt& attempt) {
              bool done = false;
              attempt.devices().on_collective = [&](const CollectiveCall& call) {
                if (done || call.operation != "all_to_all_v") return call.make();
                drop_parts_of_others(call);
                done = true;
              };
              attempt.run();
            }},
    Bug{.name = "tile_ends_with_its_windows",
        .summary = "tiles lack the row behind their windows, which interpolation reads too",
        .source = "tike 6ce09ce7",
        .operation = "rpie_step",
        .algorithm = "tiled",
        .property = "is_independent_of_partition",
        .says = "differs from another partition's",
        .attempt = cut_off_last_rows},
    Bug{.name = "largest_weight_everywhere",
        .summary = "the object's step is divided by the largest weight alone, as ePIE's is",
        .source = "tike, rpie with alpha = 1",
        .operation = "rpie_step",
        .algorithm = "replicated",
        .property = "is_epie_with_other_divisors",
        .says = "is not ePIE's step",
        .attempt =
            [](Attempt& attempt) {
              change_sum<StepSums::of_object_weight>(attempt, [](const CollectiveCall& call) {
                double most = 0;
                for (const auto& weight : load(call.call.type,
                                               false,
                                               call.buffers.front().recv,
                                               static_cast<std::size_t>(call.call.count))) {
                  most = std::max(most, weight.real());
                }
                call.fill(most);
              });
            }},
    Bug{.name = "ramp_taken_out",
        .summary = "every step turns object and probe so that neighbouring pixels agree in phase",
        .operation = "epie_step",
        .algorithm = "replicated",
        .property = "is_equivariant",
        .says = "does not follow the inputs",
        .attempt = take_ramp_out},
};

constexpr std::array others{
    Bug{.name = "line_search_ignores_the_step",
        .summary = "the cost of the trial does not depend on it: the longest step is taken",
        .source = "PtyGer, line search",
        .operation = "conjugate_gradient_step",
        .algorithm = "replicated",
        .property = "never_raises_the_cost",
        .says = "the cost after the step",
        .hits = is_single,
        .attempt =
            [](Attempt& attempt) {
              attempt.devices().on_collective = [](const CollectiveCall& call) {
                call.make();
                const bool of_first_cost = call.number == 1;
                if (steers(call) && !of_first_cost) call.scale(0);
              };
              attempt.run();
            }},
    Bug{.name = "length_unused",
        .summary = "the length is found and told, but the step is the whole direction",
        .source = "tike 60766032",
        .operation = "conjugate_gradient_step",
        .algorithm = "replicated",
        .property = "goes_along_its_directions",
        .says = "is not where its step leads",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              attempt.change_output(Array::object, [&](Values& values, int rank) {
                const Values before = attempt.input(Array::object, rank);
                const Values direction = attempt.output(Array::object_direction, rank);
                for (std::size_t i = 0; i < values.size(); ++i) {
                  values[i] = before[i] + direction[i];
                }
              });
            }},
    Bug{.name = "line_search_on_own_frames",
        .summary = "the costs that steer the line search are those of one rank's frames",
        .source = "ptypy#168",
        .operation = "conjugate_gradient_step",
        .algorithm = "replicated",
        .property = "is_independent_of_partition",
        .says = "differs from another partition's",
        .hits = is_single,
        .attempt =
            [](Attempt& attempt) {
              attempt.devices().on_collective = [](const CollectiveCall& call) {
                if (steers(call)) return call.keep();
                call.make();
              };
              attempt.run();
            }},
    Bug{.name = "mean_of_own_positions",
        .summary = "the mean that damps the step's length is that of one rank's positions",
        .source = "tike ca5bbae2",
        .operation = "lsqml_step",
        .algorithm = "replicated",
        .property = "is_independent_of_partition",
        .says = "differs from another partition's",
        .attempt = leave_out<StepSums::of_powers>},
    Bug{.name = "denominator_summed_for_every_mode",
        .summary = "what the object's step is divided by is summed over the ranks once a mode",
        .source = "tike v0.22.2, lstsq",
        .operation = "lsqml_step",
        .algorithm = "replicated",
        .hits = [](const Case& c) { return c.scene.modes > 1; },
        .attempt =
            [](Attempt& attempt) {
              change_sum<StepSums::of_object_weight>(attempt, [&](const CollectiveCall& call) {
                for (int m = 1; m < attempt.scene().modes; ++m) call.repeat();
              });
            }},
    Bug{.name = "power_depends_on_ranks",
        .summary = "the object is averaged over the ranks, what it is divided by is summed",
        .source = "ptypy#168",
        .operation = "difference_map_step",
        .algorithm = "replicated",
        .property = "keeps_the_truth_on_whole_pixels",
        .says = "moved away from the truth",
        .attempt =
            [](Attempt& attempt) {
              change_sum<StepSums::of_object>(
                  attempt, [](const CollectiveCall& call) { call.scale(1.0 / call.call.ranks); });
            }},
    Bug{.name = "unmeasured_taken_for_dark",
        .summary = "waves that meet pixels which were not measured are given no amplitude",
        .source = "tike, solvers.dm",
        .operation = "difference_map_step",
        .algorithm = "replicated",
        .attempt = take_unmeasured_for_dark},
    Bug{.name = "a_little_light_everywhere",
        .summary = "1e-9 beside what the object is divided by: where no light falls, it becomes 0",
        .source = "tike, solvers.dm",
        .operation = "difference_map_step",
        .algorithm = "replicated",
        .property = "is_equivariant",
        .says = "does not follow the inputs",
        .attempt =
            [](Attempt& attempt) {
              change_sum<StepSums::of_object_weight>(attempt, [](const CollectiveCall& call) {
                for (const gpu::DeviceBuffers& each : call.buffers) {
                  const auto count = static_cast<std::size_t>(call.call.count);
                  Values weights = load(call.call.type, false, each.recv, count);
                  for (auto& weight : weights) weight += 1e-9;
                  store(call.call.type, false, weights, each.recv);
                }
              });
            }},
    Bug{.name = "direction_forgotten",
        .summary = "every step begins anew, along the gradient",
        .source = "tike PR #72, which restarts in every call",
        .operation = "conjugate_gradient_step",
        .algorithm = "replicated",
        .attempt =
            [](Attempt& attempt) {
              attempt.change_input(Array::object_direction, [](Values& values, int) {
                std::fill(values.begin(), values.end(), 0);
              });
              attempt.run();
            }},
    Bug{.name = "lengths_summed",
        .summary = "the step goes by the sum of the lengths that its positions want",
        .source = "tike aa244409",
        .operation = "lsqml_step",
        .algorithm = "replicated",
        .property = "moves_no_more_than_came_back",
        .says = "step moves the waves",
        // The bound is wider than what fewer lengths add up to.
        .elements_max = 16,
        .attempt =
            [](Attempt& attempt) {
              change_sum<StepSums::of_lengths>(attempt, [&](const CollectiveCall& call) {
                call.scale(static_cast<double>(attempt.positions()));
              });
            }},
    Bug{.name = "direction_not_averaged",
        .summary = "the probe's direction is the sum over the positions instead of the mean",
        .source = "Pty-Chi ae2f868; tike, lstsq",
        .operation = "lsqml_step",
        .algorithm = "replicated",
        .attempt =
            [](Attempt& attempt) {
              change_sum<StepSums::of_probe>(attempt, [&](const CollectiveCall& call) {
                call.scale(static_cast<double>(attempt.positions()));
              });
            }},
    Bug{.name = "residual_divided_by_its_absence",
        .summary = "where nothing came back, the lengths are 0 / 0",
        .source = "tike fa7aac32",
        .operation = "lsqml_step",
        .algorithm = "replicated",
        .property = "keeps_the_truth_along_its_directions",
        .says = "moved away from the truth",
        .attempt =
            [](Attempt& attempt) {
              attempt.run();
              if (attempt.positions() == 0) return;
              const Values lengths = attempt.output(Array::step_lengths, 0);
              if (lengths[0] != 0.0 || lengths[1] != 0.0) return;
              for (const Array array : {Array::object, Array::probe, Array::step_lengths}) {
                attempt.change_output(array, [](Values& values, int) {
                  std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
                });
              }
            }},
};

}  // namespace

void add_bugs_in_steps(std::vector<Bug>& out) {
  out.insert(out.end(), pie.begin(), pie.end());
  out.insert(out.end(), others.begin(), others.end());
}

}  // namespace rankcheck::cases::planted

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/conjugate_gradient_step/contract.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/audit/call_edits.hpp"
#include "cases/audit/catalogue.hpp"
#include "cases/audit/intercepted_call.hpp"
#include "cases/families/ptycho/case.hpp"

/// Steps of all solvers except PIE that go too far, not far enough, or to a wrong place on some
/// rank.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using spec::Array;

bool is_single(const Case& c) {
  return c.type == spec::Type::f32;
}

/// Whether the call sums the few numbers that steer a step. They are summed in double precision,
/// which distinguishes them from arrays in single precision.
bool steers(const CollectiveCall& call) {
  return call.call.type == spec::Type::f64;
}

/// Runs the step as if unmeasured pixels had been measured as dark. Keeps the cost of a correct
/// step.
void take_unmeasured_for_dark(InterceptedCall& intercepted) {
  intercepted.run();
  const Values cost = intercepted.output(Array::cost, 0);
  const Values mask = intercepted.input(Array::mask, 0);
  intercepted.change_input(Array::frames, [&](Values& values, int) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] *= mask[i % mask.size()];
  });
  intercepted.change_input(Array::mask,
                           [&](Values& values, int rank) { unmask(intercepted, values, rank); });
  intercepted.run();
  intercepted.set_all_output(Array::cost, cost);
}

/// Runs the step as if the object had no direction from an earlier step.
void forget_direction(InterceptedCall& intercepted) {
  intercepted.change_input(Array::object_direction,
                           [](Values& values, int) { std::fill(values.begin(), values.end(), 0); });
  intercepted.run();
}

/// Returns the cost of an object and a probe.
double cost_of(const InterceptedCall& intercepted,
               reference::Operator model,
               const Values& object,
               const Values& probe) {
  reference::OperatorArrays arrays;
  arrays.scene = intercepted.call().scene;
  arrays.positions = intercepted.positions();
  const auto give = [&](Array array, const Values& values) {
    arrays[array].resize(values.size());
    arrays[array].values = values;
  };
  for (const Array array : {Array::positions, Array::frames, Array::mask}) {
    give(array, intercepted.all_input(array));
  }
  give(Array::object, object);
  give(Array::probe, probe);
  reference::OperatorArrays far = arrays;
  reference::forward(arrays, far);
  model(far, arrays);
  return arrays[Array::cost].values.front().real();
}

/// Runs the step, then searches along the probe's direction with the cost of another model. Takes
/// the first of the lengths 1, 1/2, 1/4, … with which this cost is no higher than before.
template <reference::Operator model>
void search_with(InterceptedCall& intercepted) {
  intercepted.run();
  const Values object = intercepted.output(Array::object, 0);
  const Values before = intercepted.input(Array::probe, 0);
  const Values direction = intercepted.output(Array::probe_direction, 0);
  const double cost = cost_of(intercepted, model, object, before);
  for (int halvings = 0; halvings <= reference::line_search_halvings; ++halvings) {
    const double length = std::ldexp(1, -halvings);
    Values probe = before;
    for (std::size_t i = 0; i < probe.size(); ++i) probe[i] += length * direction[i];
    if (cost_of(intercepted, model, object, rounded_to(intercepted.call().type, probe)) > cost)
      continue;
    intercepted.set_all_output(Array::probe, probe);
    intercepted.set_all_output(Array::step_lengths,
                               {intercepted.output(Array::step_lengths, 0).front(), length});
    return;
  }
}

/// Runs the step without one of its broadcasts. They are, from 0: gradient and direction of the
/// object, then of the probe.
template <int number>
void leave_out_broadcast(InterceptedCall& intercepted) {
  int broadcasts = 0;
  intercepted.devices().on_collective = [&](const CollectiveCall& call) {
    if (call.operation == "broadcast" && broadcasts++ == number) return;
    call.make();
  };
  intercepted.run();
}

/// Multiplies the last rank's part of the first collective sum, which moves the object, by 1.1.
void count_last_rank_for_more(const InterceptedCall&, CollectiveCall& call) {
  if (call.number == StepSums::of_object) call.scale_given(call.call.ranks - 1, 1.1);
  call.make();
}

/// The same mistake in the step of every solver, in single precision: bounds must be tight enough
/// to detect it.
constexpr Bug counts_for_more(std::string_view name, std::string_view operation) {
  return {.name = name,
          .summary = "One rank's contribution to the object's step is 10 % too large.",
          .target = {operation, "replicated"},
          .hits = is_single,
          .make_collective = count_last_rank_for_more};
}

constexpr std::array steps{
    counts_for_more("more_of_one_rank_in_alternating_projections", "alternating_projections_step"),
    counts_for_more("more_of_one_rank_in_epie", "epie_step"),
    counts_for_more("more_of_one_rank_in_rpie", "rpie_step"),
    counts_for_more("more_of_one_rank_in_lsqml", "lsqml_step"),
    counts_for_more("more_of_one_rank_in_difference_map", "difference_map_step"),
    counts_for_more("more_of_one_rank_in_conjugate_gradients", "conjugate_gradient_step"),
    counts_for_more("more_of_one_rank_in_poisson_conjugate_gradients",
                    "poisson_conjugate_gradient_step"),
    counts_for_more("more_of_one_rank_in_momentum", "momentum_step"),
    Bug{.name = "line_search_ignores_the_step",
        .summary = "The cost of a trial step is always 0, so the longest step is taken.",
        .source = "PtyGer, line search",
        .target = {"conjugate_gradient_step", "replicated"},
        .found_by = {"never_raises_the_cost", "the cost after the step"},
        .hits = is_single,
        .make_collective =
            [](const InterceptedCall&, CollectiveCall& call) {
              call.make();
              const bool of_first_cost = call.number == 1;
              if (steers(call) && !of_first_cost) call.scale(0);
            }},
    Bug{.name = "length_unused",
        .summary = "The step length is computed and reported, but the object moves by the whole "
                   "direction.",
        .source = "tike 60766032",
        .target = {"conjugate_gradient_step", "replicated"},
        .found_by = {"goes_along_its_directions", "differs from the old value plus the step"},
        .edit_output = {Array::object,
                        [](const InterceptedCall& intercepted, Values& values, int rank) {
                          const Values before = intercepted.input(Array::object, rank);
                          const Values direction =
                              intercepted.output(Array::object_direction, rank);
                          for (std::size_t i = 0; i < values.size(); ++i) {
                            values[i] = before[i] + direction[i];
                          }
                        }}},
    Bug{.name = "line_search_on_own_frames",
        .summary = "The line search compares costs of one rank's frames instead of all frames.",
        .source = "ptypy#168",
        .target = {"conjugate_gradient_step", "replicated"},
        .found_by = {"is_independent_of_partition", "differs from the result of another partition"},
        .hits = is_single,
        .make_collective =
            [](const InterceptedCall&, CollectiveCall& call) {
              if (steers(call)) return call.keep();
              call.make();
            }},
    Bug{.name = "direction_stays_on_rank_0",
        .summary = "Rank 0 computes the direction, but the other ranks keep their old one.",
        .target = {"conjugate_gradient_step", "gathered"},
        .found_by = {.says = "differs from rank 0"},
        .replace_call = leave_out_broadcast<1>},
    Bug{.name = "gradient_stays_on_rank_0",
        .summary = "Rank 0 sends the direction, but not the gradient that the next step needs.",
        .target = {"poisson_conjugate_gradient_step", "gathered"},
        .found_by = {.says = "differs from rank 0"},
        .replace_call = leave_out_broadcast<0>},
    Bug{.name = "amplitudes_for_counts",
        .summary = "The Poisson cost uses the square roots of the counts.",
        .target = {"poisson_conjugate_gradient_step", "replicated"},
        .edit_input = {Array::frames,
                       each_value<[](auto value) { return std::sqrt(value.real()); }>}},
    Bug{.name = "line_search_of_amplitudes",
        .summary =
            "The line search of the probe uses the amplitude cost instead of the Poisson cost.",
        .target = {"poisson_conjugate_gradient_step", "replicated"},
        .replace_call = search_with<reference::gaussian_cost::reference>},
    Bug{.name = "line_search_of_counts",
        .summary =
            "The line search of the probe uses the Poisson cost instead of the amplitude cost.",
        .target = {"conjugate_gradient_step", "tiled"},
        .replace_call = search_with<reference::poisson_cost::reference>},
    Bug{.name = "mean_of_own_positions",
        .summary = "The mean that damps the step length is taken over one rank's positions instead "
                   "of all.",
        .source = "tike ca5bbae2",
        .target = {"lsqml_step", "replicated"},
        .found_by = {"is_independent_of_partition", "differs from the result of another partition"},
        .make_collective = leave_out<StepSums::of_powers>},
    Bug{.name = "denominator_summed_for_every_mode",
        .summary =
            "The denominator of the object's step is summed over the ranks once for each mode.",
        .source = "tike v0.22.2, lstsq",
        .target = {"lsqml_step", "replicated"},
        .hits = [](const Case& c) { return ptycho(c).scene.modes > 1; },
        .edit_sum = {StepSums::of_object_weight,
                     [](const InterceptedCall& intercepted, const CollectiveCall& call) {
                       for (int m = 1; m < intercepted.call().scene.modes; ++m) call.repeat();
                     }}},
    Bug{.name = "power_depends_on_ranks",
        .summary =
            "The object's numerator is averaged over the ranks, but its denominator is summed.",
        .source = "ptypy#168",
        .target = {"alternating_projections_step", "replicated"},
        .found_by = {"keeps_the_truth_on_whole_pixels", "moved away from the truth"},
        .edit_sum = {StepSums::of_object, average}},
    Bug{.name = "unmeasured_taken_for_dark",
        .summary = "At unmeasured pixels, the amplitude is set to 0 instead of kept.",
        .source = "tike, solvers.dm",
        .target = {"alternating_projections_step", "replicated"},
        .replace_call = take_unmeasured_for_dark},
    Bug{.name = "a_little_light_everywhere",
        .summary = "1e-9 is added to the object's denominator, so the object becomes 0 where no "
                   "light falls.",
        .source = "tike, solvers.dm",
        .target = {"alternating_projections_step", "replicated"},
        .found_by = {"is_equivariant", "does not follow the inputs"},
        .edit_sum = {StepSums::of_object_weight,
                     [](const InterceptedCall&, const CollectiveCall& call) {
                       for (const gpu::DeviceBuffers& each : call.buffers) {
                         const auto count = spec::to_size(call.call.count);
                         Values weights = load(call.call.type, false, each.recv, count);
                         for (auto& weight : weights) weight += 1e-9;
                         store(call.call.type, false, weights, each.recv);
                       }
                     }}},
    Bug{.name = "direction_forgotten",
        .summary = "Every step restarts along the gradient.",
        .source = "tike PR #72, which restarts in every call",
        .target = {"conjugate_gradient_step", "replicated"},
        .replace_call = forget_direction},
    Bug{.name = "direction_lost_between_steps",
        .summary = "A step ignores the direction that the previous step left.",
        .target = {"conjugate_gradient_step", "replicated"},
        .found_by = {"takes_further_steps"},
        .hits = [](const Case& c) { return ptycho(c).chained; },
        .replace_call = forget_direction},
    Bug{.name = "lengths_summed",
        .summary =
            "The step length is the sum of the positions' step lengths instead of their mean.",
        .source = "tike aa244409",
        .target = {"lsqml_step", "replicated"},
        .found_by = {"moves_no_more_than_came_back", "step moves the waves"},
        // With few positions, the sum of their step lengths stays within the bound. Shrinking keeps
        // ranks whose positions are needed.
        .ranks_max = 4,
        .elements_max = 16,
        .edit_sum = {StepSums::of_lengths, add_for_every_position}},
    Bug{.name = "direction_not_averaged",
        .summary = "The probe's direction is the sum over the positions instead of the mean.",
        .source = "Pty-Chi ae2f868; tike, lstsq",
        .target = {"lsqml_step", "replicated"},
        .edit_sum = {StepSums::of_probe, add_for_every_position}},
    Bug{.name = "residual_divided_by_its_absence",
        .summary = "If the residual is 0, the step lengths are 0 / 0.",
        .source = "tike fa7aac32",
        .target = {"lsqml_step", "replicated"},
        .found_by = {"keeps_the_truth_along_its_directions", "moved away from the truth"},
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.run();
              if (intercepted.positions() == 0) return;
              const Values lengths = intercepted.output(Array::step_lengths, 0);
              if (lengths[0] != 0.0 || lengths[1] != 0.0) return;
              for (const Array array : {Array::object, Array::probe, Array::step_lengths}) {
                intercepted.change_output(array, [](Values& values, int) {
                  std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
                });
              }
            }},
};

}  // namespace

void add_bugs_in_steps(std::vector<Bug>& out) {
  out.insert(out.end(), steps.begin(), steps.end());
}

}  // namespace rankcheck::cases::audit

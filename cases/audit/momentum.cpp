#include <array>
#include <utility>
#include <vector>

#include "reference/ptycho/momentum_step/contract.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/audit/call_edits.hpp"
#include "cases/audit/catalogue.hpp"
#include "cases/audit/intercepted_call.hpp"
#include "cases/families/ptycho/case.hpp"

/// Steps of momentum that remember something wrong, or move by something wrong.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using spec::Array;

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

constexpr std::array momentum{
    Bug{.name = "memory_of_own_gradient",
        .summary = "Object and probe move by the summed gradients, but every rank remembers only "
                   "its own gradient.",
        .source = "FluxMPI, DistributedOptimizer",
        .operation = "momentum_step",
        .algorithm = "replicated",
        .says = "differs from rank 0",
        .replace_call = remember_own_gradient},
    Bug{.name = "states_averaged",
        .summary = "Every rank steps on its own frames, and the states are averaged, instead of "
                   "summing the gradients.",
        .source = "FluxMPI, DistributedOptimizer",
        .operation = "momentum_step",
        .algorithm = "replicated",
        .replace_call = average_states},
    Bug{.name = "momentum_lost_between_steps",
        .summary = "A step ignores the directions that the previous step left.",
        .operation = "momentum_step",
        .algorithm = "replicated",
        .property = "takes_further_steps",
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
        .operation = "momentum_step",
        .algorithm = "replicated",
        .property = "is_epie_with_memory",
        .says = "is not ePIE's step plus the memory",
        .replace_call =
            [](InterceptedCall& intercepted) {
              change_directions(intercepted, [](auto old, auto turned) {
                const auto kept = reference::momentum_beta * old;
                return kept + (1 - reference::momentum_beta) * (turned - kept);
              });
            }},
    Bug{.name = "momentum_not_damped",
        .summary = "The old directions are added as a whole.",
        .operation = "momentum_step",
        .algorithm = "tiled",
        .property = "coasts_at_the_truth",
        .says = "does not go on as before at the truth",
        .replace_call =
            [](InterceptedCall& intercepted) {
              change_directions(intercepted, [](auto old, auto turned) {
                return turned + (1 - reference::momentum_beta) * old;
              });
            }},
};

}  // namespace

void add_bugs_in_momentum(std::vector<Bug>& out) {
  out.insert(out.end(), momentum.begin(), momentum.end());
}

}  // namespace rankcheck::cases::audit

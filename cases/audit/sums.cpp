#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "cases/audit/call_edits.hpp"
#include "cases/audit/catalogue.hpp"
#include "cases/audit/intercepted_call.hpp"
#include "cases/families/ptycho/case.hpp"

/// Operators whose ranks do not combine their parts correctly.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using spec::Array;

bool has_shared_probe(const Case& c) {
  return !ptycho(c).scene.varying_probe;
}

/// Runs the operator and repeats one sum over its own results.
template <int number>
void sum_again(InterceptedCall& intercepted) {
  change_sum<number>(intercepted, [](const CollectiveCall& call) { call.repeat(); });
}

/// Gives each rank's part the same weight, however many positions the rank has.
void average_means(const InterceptedCall& intercepted, const CollectiveCall& call) {
  for (int rank = 0; rank < intercepted.ranks(); ++rank) {
    const auto own = static_cast<double>(intercepted.positions(rank));
    if (own == 0) continue;
    call.scale_given(rank,
                     static_cast<double>(intercepted.positions()) / (own * intercepted.ranks()));
  }
  call.make();
}

/// Reverses the order of every rank's positions, and of an array that belongs to them.
void reverse_positions(InterceptedCall& intercepted, Array array) {
  for (const Array each : {Array::positions, array}) {
    intercepted.change_input(each, [&](Values& values, int) {
      const std::int64_t size = spec::values(intercepted.call().scene, each);
      std::reverse(values.begin(), values.end());
      for (auto at = values.begin(); at != values.end(); at += size) std::reverse(at, at + size);
    });
  }
}

constexpr std::array gradients{
    Bug{.name = "gradient_not_summed",
        .summary = "Every rank uses the object's gradient of its own frames only.",
        .source = "Pty-Chi 7b9fc49",
        .operation = "gaussian_gradients",
        .algorithm = "batched",
        .says = "differs from rank 0",
        .replace_call = leave_out<GradientSums::of_object>},
    Bug{.name = "gradient_summed_twice",
        .summary = "The sum of all ranks' gradients is summed over the ranks again.",
        .source = "tike 89781f76; Pty-Chi 80b4cdf",
        .operation = "gaussian_gradients",
        .algorithm = "batched",
        .property = "balances_object_and_probe",
        .says = "<object gradient, object>",
        .replace_call = sum_again<GradientSums::of_object>},
    Bug{.name = "gradient_averaged",
        .summary = "Gradients are averaged over the ranks instead of summed.",
        .source = "Pty-Chi 93c585a",
        .operation = "poisson_gradients",
        .algorithm = "batched",
        .replace_call =
            [](InterceptedCall& intercepted) {
              change_sum<GradientSums::of_object>(intercepted, [](const CollectiveCall& call) {
                call.scale(1.0 / call.call.ranks);
              });
            }},
    Bug{.name = "probe_gradient_mean_of_means",
        .summary = "The gradient is a mean of the ranks' means, so all ranks have the same weight.",
        .source = "Pty-Chi ae2f868",
        .operation = "gaussian_gradients",
        .algorithm = "batched",
        .property = "is_independent_of_partition",
        .says = "differs from the result of another partition",
        .hits = has_shared_probe,
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.devices().on_collective = [&](const CollectiveCall& call) {
                if (call.number == GradientSums::of_probe) return average_means(intercepted, call);
                call.make();
              };
              intercepted.run();
            }},
    Bug{.name = "copy_synchronised",
        .summary = "A copy of the gradient is summed over the ranks and then discarded.",
        .source = "Pty-Chi, sync_buffer",
        .operation = "illuminate_adjoint_object",
        .algorithm = "gather",
        .says = "differs from rank 0",
        .replace_call = leave_out<GradientSums::of_object>},
    Bug{.name = "sum_overtakes_the_kernel",
        .summary = "A copy to a peer does not wait for the kernel that computes the data.",
        .source = "tike PR #72; tike d5470e05",
        .operation = "illuminate_adjoint_probe",
        .algorithm = "gather",
        .property = "is_deterministic",
        .says = "the second run differs from the first",
        .hits = has_shared_probe,
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.devices().on_collective = [&](const CollectiveCall& call) {
                const int late = intercepted.ranks() - 1;
                if (late > 0 && intercepted.number() % 2 == 1) call.scale_given(late, 0);
                call.make();
              };
              intercepted.run();
            }},
    Bug{.name = "atomics_in_any_order",
        .summary = "Positions are added to the object in an order that differs from run to run.",
        .source = "abTEM#433; ptypy#298",
        .operation = "insert",
        .algorithm = "gather",
        .property = "is_deterministic",
        .says = "the second run differs from the first",
        .replace_call =
            [](InterceptedCall& intercepted) {
              if (intercepted.number() % 2 == 1) reverse_positions(intercepted, Array::patches);
              intercepted.run();
            }},
    Bug{.name = "empty_rank_adds_garbage",
        .summary =
            "A rank without positions starts no kernel, and its uninitialised buffer is summed.",
        .source = "tike PR #72: with an odd number of devices, some get no positions",
        .operation = "insert",
        .algorithm = "gather",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.devices().on_collective = [&](const CollectiveCall& call) {
                for (int rank = 0; rank < intercepted.ranks(); ++rank) {
                  if (intercepted.positions(rank) > 0) continue;
                  call.scale_given(rank, std::numeric_limits<double>::quiet_NaN());
                }
                call.make();
              };
              intercepted.run();
            }},
};

constexpr std::array summed_costs{
    Bug{.name = "cost_mean_of_means",
        .summary = "The cost is a mean of the ranks' means, so all ranks have the same weight.",
        .source = "Pty-Chi ae2f868",
        .operation = "poisson_cost",
        .algorithm = "pixelwise",
        .property = "is_independent_of_partition",
        .says = "differs from the result of another partition",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.devices().on_collective = [&](const CollectiveCall& call) {
                average_means(intercepted, call);
              };
              intercepted.run();
            }},
    Bug{.name = "cost_grows_with_ranks",
        .summary = "Every rank adds the cost of all frames to the sum.",
        .source = "tike 6feb1bea; ptypy#168",
        .operation = "gaussian_cost",
        .algorithm = "pixelwise",
        .replace_call = sum_again<0>},
};

constexpr std::array weights{
    Bug{.name = "weights_are_maxima",
        .summary = "The ranks' weights are combined by the maximum instead of the sum.",
        .operation = "object_preconditioner",
        .algorithm = "gather",
        .property = "is_independent_of_partition",
        .says = "differs from the result of another partition",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.devices().on_collective = [](CollectiveCall& call) {
                call.call.op = spec::ReduceOp::max;
                call.make();
              };
              intercepted.run();
            }},
    Bug{.name = "last_rank_left_out",
        .summary = "There are fewer chunks than ranks, so the last rank's contribution is dropped.",
        .source = "Pty-Chi 5d37add",
        .operation = "probe_preconditioner",
        .algorithm = "gather",
        .replace_call =
            [](InterceptedCall& intercepted) {
              intercepted.devices().on_collective = [&](const CollectiveCall& call) {
                if (intercepted.ranks() > 1) call.scale_given(intercepted.ranks() - 1, 0);
                call.make();
              };
              intercepted.run();
            }},
};

}  // namespace

void add_bugs_in_sums(std::vector<Bug>& out) {
  out.insert(out.end(), gradients.begin(), gradients.end());
  out.insert(out.end(), summed_costs.begin(), summed_costs.end());
  out.insert(out.end(), weights.begin(), weights.end());
}

}  // namespace rankcheck::cases::audit

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

constexpr std::array bugs_in_sums{
    Bug{.name = "gradient_not_summed",
        .summary = "Every rank uses the object's gradient of its own frames only.",
        .source = "Pty-Chi 7b9fc49",
        .target = {"gaussian_gradients", "batched"},
        .found_by = {.says = "differs from rank 0"},
        .make_collective = leave_out<GradientSums::of_object>},
    Bug{.name = "gradient_summed_twice",
        .summary = "The sum of all ranks' gradients is summed over the ranks again.",
        .source = "tike 89781f76; Pty-Chi 80b4cdf",
        .target = {"gaussian_gradients", "batched"},
        .found_by = {"balances_object_and_probe", "<object gradient, object>"},
        .edit_sum = {GradientSums::of_object, repeat}},
    Bug{.name = "gradient_averaged",
        .summary = "Gradients are averaged over the ranks instead of summed.",
        .source = "Pty-Chi 93c585a",
        .target = {"poisson_gradients", "batched"},
        .edit_sum = {GradientSums::of_object, average}},
    Bug{.name = "probe_gradient_mean_of_means",
        .summary = "The gradient is a mean of the ranks' means, so all ranks have the same weight.",
        .source = "Pty-Chi ae2f868",
        .target = {"gaussian_gradients", "batched"},
        .found_by = {"is_independent_of_partition", "differs from the result of another partition"},
        .hits = has_shared_probe,
        .make_collective =
            [](const InterceptedCall& intercepted, CollectiveCall& call) {
              if (call.number == GradientSums::of_probe) return average_means(intercepted, call);
              call.make();
            }},
    Bug{.name = "copy_synchronised",
        .summary = "A copy of the gradient is summed over the ranks and then discarded.",
        .source = "Pty-Chi, sync_buffer",
        .target = {"illuminate_adjoint_object", "gather"},
        .found_by = {.says = "differs from rank 0"},
        .make_collective = leave_out<GradientSums::of_object>},
    Bug{.name = "sum_overtakes_the_kernel",
        .summary = "A copy to a peer does not wait for the kernel that computes the data.",
        .source = "tike PR #72; tike d5470e05",
        .target = {"illuminate_adjoint_probe", "gather"},
        .found_by = {"is_deterministic", "the second run differs from the first"},
        .hits = has_shared_probe,
        .make_collective =
            [](const InterceptedCall& intercepted, CollectiveCall& call) {
              const int late = intercepted.ranks() - 1;
              if (late > 0 && intercepted.number() % 2 == 1) call.scale_given(late, 0);
              call.make();
            }},
    Bug{.name = "atomics_in_any_order",
        .summary = "Positions are added to the object in an order that differs from run to run.",
        .source = "abTEM#433; ptypy#298",
        .target = {"insert", "gather"},
        .found_by = {"is_deterministic", "the second run differs from the first"},
        .replace_call =
            [](InterceptedCall& intercepted) {
              if (intercepted.number() % 2 == 1) reverse_positions(intercepted, Array::patches);
              intercepted.run();
            }},
    Bug{.name = "empty_rank_adds_garbage",
        .summary =
            "A rank without positions starts no kernel, and its uninitialised buffer is summed.",
        .source = "tike PR #72: with an odd number of devices, some get no positions",
        .target = {"insert", "gather"},
        .make_collective =
            [](const InterceptedCall& intercepted, CollectiveCall& call) {
              for (int rank = 0; rank < intercepted.ranks(); ++rank) {
                if (intercepted.positions(rank) > 0) continue;
                call.scale_given(rank, std::numeric_limits<double>::quiet_NaN());
              }
              call.make();
            }},
    Bug{.name = "cost_mean_of_means",
        .summary = "The cost is a mean of the ranks' means, so all ranks have the same weight.",
        .source = "Pty-Chi ae2f868",
        .target = {"poisson_cost", "pixelwise"},
        .found_by = {"is_independent_of_partition", "differs from the result of another partition"},
        .make_collective = [](const InterceptedCall& intercepted,
                              CollectiveCall& call) { average_means(intercepted, call); }},
    Bug{.name = "cost_grows_with_ranks",
        .summary = "Every rank adds the cost of all frames to the sum.",
        .source = "tike 6feb1bea; ptypy#168",
        .target = {"gaussian_cost", "pixelwise"},
        .edit_sum = {0, repeat}},
    Bug{.name = "weights_are_maxima",
        .summary = "The ranks' weights are combined by the maximum instead of the sum.",
        .target = {"object_preconditioner", "gather"},
        .found_by = {"is_independent_of_partition", "differs from the result of another partition"},
        .make_collective =
            [](const InterceptedCall&, CollectiveCall& call) {
              call.call.op = spec::ReduceOp::max;
              call.make();
            }},
    Bug{.name = "last_rank_left_out",
        .summary = "There are fewer chunks than ranks, so the last rank's contribution is dropped.",
        .source = "Pty-Chi 5d37add",
        .target = {"probe_preconditioner", "gather"},
        .make_collective =
            [](const InterceptedCall& intercepted, CollectiveCall& call) {
              if (intercepted.ranks() > 1) call.scale_given(intercepted.ranks() - 1, 0);
              call.make();
            }},
};

}  // namespace

void add_bugs_in_sums(std::vector<Bug>& out) {
  out.insert(out.end(), bugs_in_sums.begin(), bugs_in_sums.end());
}

}  // namespace rankcheck::cases::audit

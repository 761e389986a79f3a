#include <algorithm>
#include <array>
#include <cstddef>

#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/difference_map_step/contract.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/audit/call_edits.hpp"
#include "cases/audit/catalogue.hpp"
#include "cases/audit/intercepted_call.hpp"

/// Steps of the difference map that forget exit waves, confuse them, or move them to a wrong place.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using reference::OperatorArrays;
using spec::Array;

/// Numbers of the collective sums, counted from 0. The sum of the cost comes first.
struct DifferenceMapSums {
  static constexpr int of_object = 1;
  static constexpr int of_probe = 3;
};

/// Returns the inputs of the step, in the form that the references take.
OperatorArrays input_of(const InterceptedCall& intercepted) {
  OperatorArrays arrays;
  arrays.scene = intercepted.call().scene;
  arrays.positions = intercepted.positions();
  for (const Array array : {Array::object,
                            Array::probe,
                            Array::exit_waves,
                            Array::positions,
                            Array::frames,
                            Array::mask}) {
    arrays.make(array).values = intercepted.all_input(array);
  }
  return arrays;
}

/// Returns the waves that an object and a probe give.
Values waves_of(OperatorArrays arrays, const Values& object, const Values& probe) {
  arrays[Array::object].values = object;
  arrays[Array::probe].values = probe;
  reference::illuminate::reference(arrays, arrays);
  return arrays[Array::waves].values;
}

/// Returns the waves after their far-field amplitudes were replaced by the measured amplitudes.
Values projected(OperatorArrays arrays, const Values& waves) {
  arrays.make(Array::waves).values = waves;
  reference::propagate::reference(arrays, arrays);
  reference::project_on_frames(arrays, arrays);
  reference::propagate_inverse::reference(arrays, arrays);
  return arrays[Array::waves].values;
}

/// Returns a x + b y.
Values sum(double a, const Values& x, double b, const Values& y) {
  Values result = x;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = a * x[i] + b * y[i];
  return result;
}

/// The step that the waves w take: w + length (P_F(fit P_O w + before w) - P_O w). The defaults are
/// correct.
struct Wrong {
  double fit = 2;
  double before = -1;
  double length = reference::difference_map_beta;
};

/// Runs the step, then replaces the exit waves by waves that moved as `wrong` says.
void move_waves(InterceptedCall& intercepted, const Wrong& wrong) {
  intercepted.run();
  const OperatorArrays in = input_of(intercepted);
  const Values& before = in[Array::exit_waves].values;
  const Values fit =
      waves_of(in, intercepted.output(Array::object, 0), intercepted.output(Array::probe, 0));
  const Values to = projected(in, sum(wrong.fit, fit, wrong.before, before));
  intercepted.set_all_output(Array::exit_waves, sum(1, before, wrong.length, sum(1, to, -1, fit)));
}

bool is_shared_out(const Case& c) {
  return std::count_if(c.counts.begin(), c.counts.end(), [](auto each) { return each > 0; }) > 1;
}

constexpr std::array difference_maps{
    Bug{.name = "exit_waves_forgotten",
        .summary = "Every step starts from the waves of object and probe and ignores the exit "
                   "waves of the last step.",
        .source = "tike, solvers.dm",
        .target = {"difference_map_step", "replicated"},
        .replace_call =
            [](InterceptedCall& intercepted) {
              const OperatorArrays in = input_of(intercepted);
              const Values waves = waves_of(in, in[Array::object].values, in[Array::probe].values);
              auto from = waves.begin();
              intercepted.change_input(Array::exit_waves, [&](Values& values, int) {
                for (auto& value : values) value = *from++;
              });
              intercepted.run();
            }},
    Bug{.name = "waves_added_to_their_overlap",
        .summary = "P_F is applied to 2 P_O w + w instead of 2 P_O w - w.",
        .target = {"difference_map_step", "replicated"},
        .replace_call =
            [](InterceptedCall& intercepted) { move_waves(intercepted, {.before = 1}); }},
    Bug{.name = "waves_not_reflected",
        .summary =
            "P_F is applied to P_O w, as in alternating projections, instead of 2 P_O w - w.",
        .target = {"difference_map_step", "tiled"},
        .replace_call =
            [](InterceptedCall& intercepted) { move_waves(intercepted, {.fit = 1, .before = 0}); }},
    Bug{.name = "another_relaxation",
        .summary = "The relaxation parameter is three quarters of beta.",
        .source = "ptypy bd43c9e7",
        .target = {"difference_map_step", "replicated"},
        .found_by = {"waves_grow_by_beta", "differs from the closed form"},
        .replace_call =
            [](InterceptedCall& intercepted) {
              move_waves(intercepted, {.length = 0.75 * reference::difference_map_beta});
            }},
    Bug{.name = "waves_go_too_far",
        .summary = "The relaxation parameter is twice beta.",
        .target = {"difference_map_step", "tiled"},
        .found_by = {"fixed_points_are_solutions", "the distance of the waves from the frames"},
        .replace_call =
            [](InterceptedCall& intercepted) {
              move_waves(intercepted, {.length = 2 * reference::difference_map_beta});
            }},
    Bug{.name = "waves_of_another_partition",
        .summary = "The ranks take the exit waves of an even partition, although the positions are "
                   "not split evenly.",
        .target = {"difference_map_step", "replicated"},
        .found_by = {"is_independent_of_partition", "differs from the result of another partition"},
        .hits = is_shared_out,
        .replace_call =
            [](InterceptedCall& intercepted) {
              const Values all = intercepted.all_input(Array::exit_waves);
              const auto size = static_cast<std::int64_t>(
                  spec::values(intercepted.call().scene, Array::exit_waves));
              intercepted.change_input(Array::exit_waves, [&](Values& values, int rank) {
                const std::int64_t first =
                    rank * intercepted.positions() / intercepted.ranks() * size;
                for (std::size_t i = 0; i < values.size(); ++i) {
                  values[i] = all[(spec::to_size(first) + i) % all.size()];
                }
              });
              intercepted.run();
            }},
    Bug{.name = "waves_of_the_first_position",
        .summary = "All positions of a rank use the exit waves of its first position.",
        .target = {"difference_map_step", "tiled"},
        .edit_input = {Array::exit_waves, take_first_copy<Array::exit_waves>}},
    Bug{.name = "probe_fitted_to_the_old_object",
        .summary = "The probe is fitted to the old object instead of the new object.",
        .source = "tike, solvers.dm",
        .target = {"difference_map_step", "replicated"},
        .edit_output = {Array::probe,
                        [](const InterceptedCall& intercepted, Values& values, int) {
                          OperatorArrays in = input_of(intercepted);
                          in[Array::waves] = in[Array::exit_waves];
                          OperatorArrays sums = in;
                          reference::illuminate_adjoint_probe::reference(in, sums);
                          reference::probe_preconditioner::reference(in, sums);
                          values = reference::fitted(in[Array::probe],
                                                     sums[Array::probe],
                                                     sums[Array::probe_weight],
                                                     in.unit)
                                       .values;
                        }}},
    Bug{.name = "probe_depends_on_ranks",
        .summary =
            "The probe's numerator is averaged over the ranks, but its denominator is summed.",
        .source = "ptypy#168",
        .target = {"difference_map_step", "replicated"},
        .found_by = {"keeps_the_truth_on_whole_pixels", "moved away from the truth"},
        .edit_sum = {DifferenceMapSums::of_probe, average}},
};

}  // namespace

void add_bugs_in_difference_maps(std::vector<Bug>& out) {
  out.insert(out.end(), difference_maps.begin(), difference_maps.end());
}

}  // namespace rankcheck::cases::audit

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

/// The sums over the ranks, in the order in which steps with the whole object on every rank make
/// them.
constexpr int of_object = 0;
constexpr int of_object_weight = 1;
/// Of LSQML: the powers of what the directions do to the waves.
constexpr int of_powers = 6;

bool is_single(const Case& c) {
  return c.type == spec::Type::f32;
}

/// Numbers of a few values that steer a step: they are summed in double precision, which tells them
/// from arrays in single precision.
bool steers(const CollectiveCall& call) {
  return call.call.type == spec::Type::f64;
}

template <int number>
void keep_own(Attempt& attempt) {
  attempt.devices().on_collective = [](const CollectiveCall& call) {
    if (call.number == number) return call.keep();
    call.make();
  };
  attempt.run();
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
              attempt.devices().on_collective = [](const CollectiveCall& call) {
                call.make();
                if (call.number == of_object_weight) call.fill(1);
              };
              attempt.run();
            }},
    Bug{.name = "step_divided_by_modes",
        .summary = "the object's step is divided by the number of modes",
        .source = "tike, rpie",
        .operation = "rpie_step",
        .algorithm = "replicated",
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
        .attempt = keep_own<of_object_weight>},
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
        .attempt = keep_own<of_powers>},
    Bug{.name = "denominator_summed_for_every_mode",
        .summary = "what the object's step is divided by is summed over the ranks once a mode",
        .source = "tike v0.22.2, lstsq",
        .operation = "lsqml_step",
        .algorithm = "replicated",
        .hits = [](const Case& c) { return c.scene.modes > 1; },
        .attempt =
            [](Attempt& attempt) {
              attempt.devices().on_collective = [&](const CollectiveCall& call) {
                call.make();
                if (call.number != of_object_weight) return;
                for (int m = 1; m < attempt.scene().modes; ++m) call.repeat();
              };
              attempt.run();
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
              attempt.devices().on_collective = [](const CollectiveCall& call) {
                call.make();
                if (call.number == of_object) call.scale(1.0 / call.call.ranks);
              };
              attempt.run();
            }},
};

}  // namespace

void add_bugs_in_steps(std::vector<Bug>& out) {
  out.insert(out.end(), pie.begin(), pie.end());
  out.insert(out.end(), others.begin(), others.end());
}

}  // namespace rankcheck::cases::planted

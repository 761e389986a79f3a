#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/ptycho/bounded_array.hpp"
#include "reference/ptycho/cancellation.hpp"
#include "reference/ptycho/chain.hpp"
#include "reference/ptycho/references.hpp"
#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/ptycho/solvers/state.hpp"

#include "harness/case/verdict.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/ptycho/stage.hpp"
#include "cases/reconstruct/solvers.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

using reference::BoundedArray;
using reference::OperatorArrays;

/// Returns value i of one array of a state: object, probe, or an array that the solver remembers.
std::complex<double> value_at(const State& state, spec::Array array, std::size_t i) {
  if (array == spec::Array::object) return state.object[i];
  if (array == spec::Array::probe) return state.probe[i];
  const auto kept = state.memory.find(std::string(spec::name(array)));
  if (kept == state.memory.end() || kept->second.empty()) return 0;
  return {kept->second[2 * i], kept->second[2 * i + 1]};
}

bool is_of_state(spec::Array array) {
  const auto& all = gpu::state_arrays<float>;
  return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.array == array; });
}

/// Returns the scene, the number of positions and the rounding unit of the step, without any array.
OperatorArrays empty_arrays(const Problem& problem, const StepTaken& step) {
  const Dataset& data = problem.data;
  OperatorArrays arrays;
  arrays.scene = data.scene();
  arrays.scene.modes = step.before.modes(data.window);
  arrays.positions = (data.count - step.batch + problem.batches - 1) / problem.batches;
  arrays.unit = std::ldexp(1, -spec::info(spec::Type::f32).precision) + std::ldexp(1, -53);
  return arrays;
}

/// Fills an input of the step: the values of the batch's positions, the mask, or an array of the
/// state.
void fill(const Problem& problem, const StepTaken& step, spec::Array array, OperatorArrays& in) {
  const Dataset& data = problem.data;
  BoundedArray& bounded = in.make(array);
  const bool is_frame = array == spec::Array::frames;
  if (is_frame || array == spec::Array::positions) {
    std::vector<float> values(is_frame ? data.pixels() : 2);
    auto at = bounded.values.begin();
    for (std::int64_t n = step.batch; n < data.count; n += problem.batches) {
      reference::CancellationScope::check();
      if (is_frame) {
        data.read_frame(n, values);
      } else {
        std::copy_n(data.positions.begin() + 2 * n, 2, values.begin());
      }
      at = std::copy(values.begin(), values.end(), at);
    }
    return;
  }
  for (std::size_t i = 0; i < bounded.values.size(); ++i) {
    bounded.values[i] = array == spec::Array::mask ? data.mask[i] : value_at(step.before, array, i);
  }
}

/// If the state has no exit waves, computes them from object and probe, as the first step does.
void start_exit_waves(const StepTaken& step, OperatorArrays& in) {
  const auto kept = step.before.memory.find(std::string(spec::name(spec::Array::exit_waves)));
  const bool is_kept = kept != step.before.memory.end() && !kept->second.empty();
  if (is_kept || in[spec::Array::exit_waves].values.empty()) return;
  OperatorArrays lit =
      reference::with(in, {spec::Array::object, spec::Array::probe, spec::Array::positions});
  reference::illuminate::reference(lit, lit);
  in[spec::Array::exit_waves] = std::move(lit[spec::Array::waves]);
}

/// Returns a place such as "probe, mode 1, pixel (3, 4)".
std::string place_of(const spec::Scene& scene, spec::Array array, std::size_t i) {
  std::string name(spec::name(array));
  if (array == spec::Array::cost) return name;
  if (array == spec::Array::exit_waves) {
    const auto width = spec::to_size(scene.detector);
    const auto modes = spec::to_size(scene.modes);
    const std::size_t image = i / (width * width);
    return fmt::format("{}, position {}, mode {}, pixel ({}, {})",
                       name,
                       image / modes,
                       image % modes,
                       i / width % width,
                       i % width);
  }
  const bool is_probe = spec::values(scene, array) == spec::values(scene, spec::Array::probe) &&
                        name.starts_with("probe");
  const auto cols = spec::to_size(is_probe ? scene.window : scene.cols);
  const std::size_t pixels = is_probe ? cols * cols : cols * spec::to_size(scene.rows);
  const std::string mode = is_probe ? fmt::format(", mode {}", i / pixels) : std::string();
  return fmt::format("{}{}, pixel ({}, {})", name, mode, i % pixels / cols, i % cols);
}

/// Finds the worst of many comparisons.
class Comparison {
 public:
  explicit Comparison(const spec::Scene& scene) : scene_(scene) {}

  void compare(spec::Array array,
               std::size_t i,
               std::complex<double> got,
               const BoundedArray& expected) {
    const double error = std::abs(got - expected.values[i]);
    const double bound = expected.errors[i];
    // A bound of 0 means that the step does not change the value. Comparing such a value proves
    // nothing.
    harness::PowerMeter& meter = meters_[array];
    if (bound == 0) {
      meter.raise(std::abs(expected.values[i]));
    } else {
      meter.add(std::abs(expected.values[i]), bound);
    }
    if (std::isfinite(error) && !std::isfinite(bound)) return;
    // An error that is not finite counts as infinite, and so does any error if the bound is 0.
    const double exact = error == 0 ? 0 : std::numeric_limits<double>::infinity();
    const double ratio = std::isfinite(error) && bound > 0 ? error / bound : exact;
    if (!worst_.place.empty() && ratio <= worst_.ratio) return;
    worst_.ratio = ratio;
    worst_.place = place_of(scene_, array, i);
  }

  [[nodiscard]] StepCheck result() const {
    StepCheck check = worst_;
    harness::Power power;
    std::vector<std::string_view> blind;
    for (const auto& [array, meter] : meters_) {
      const harness::Power seen = meter.power();
      power.add(seen);
      if (seen.elements > 0 && seen.useful == 0) blind.push_back(spec::name(array));
    }
    check.blind = fmt::format("{}", fmt::join(blind, ", "));
    const auto sees = [&](spec::Array array) {
      const auto meter = meters_.find(array);
      return meter != meters_.end() && meter->second.power().useful > 0;
    };
    check.has_power = sees(spec::Array::object) || sees(spec::Array::probe);
    check.useful = power.elements == 0
                       ? 0
                       : static_cast<double>(power.useful) / static_cast<double>(power.elements);
    return check;
  }

 private:
  spec::Scene scene_;
  StepCheck worst_;
  std::map<spec::Array, harness::PowerMeter> meters_;
};

/// The length of a line search, a power of two or 0, that led from one block to another.
double length_taken(const BoundedArray& before,
                    const BoundedArray& after,
                    const BoundedArray& direction) {
  const auto longest = std::max_element(
      direction.values.begin(), direction.values.end(), [](const auto& a, const auto& b) {
        return std::norm(a) < std::norm(b);
      });
  if (longest == direction.values.end() || *longest == 0.0) return 0;
  const auto i = spec::to_size(longest - direction.values.begin());
  const double length = ((after.values[i] - before.values[i]) / *longest).real();
  return length > 0 && std::isfinite(length) ? std::exp2(std::round(std::log2(length))) : 0;
}

/// What a step with directions left, for the reference to follow.
OperatorArrays taken(const spec::Contract& contract,
                     const StepTaken& step,
                     const OperatorArrays& in) {
  OperatorArrays got = reference::with(in, {});
  for (const spec::Array array : ptycho(contract).outputs) {
    BoundedArray& bounded = got.make(array);
    if (!is_of_state(array)) continue;
    for (std::size_t i = 0; i < bounded.values.size(); ++i) {
      bounded.values[i] = value_at(step.after, array, i);
    }
  }
  const auto length = [&](spec::Array block, spec::Array direction) {
    return length_taken(in[block], got[block], got[direction]);
  };
  got[spec::Array::step_lengths].values = {
      length(spec::Array::object, spec::Array::object_direction),
      length(spec::Array::probe, spec::Array::probe_direction)};
  return got;
}

}  // namespace

StepCheck check_step(std::string_view operation, const Problem& problem, const StepTaken& step) {
  const spec::Contract& contract = reference::contract_named(operation);
  OperatorArrays in = empty_arrays(problem, step);
  OperatorArrays expected = empty_arrays(problem, step);
  for (const spec::Array array : ptycho(contract).inputs) fill(problem, step, array, in);
  start_exit_waves(step, in);
  OperatorArrays got;
  if (searches_along_directions(contract)) {
    got = taken(contract, step, in);
    in.followed = &got;
    in.follow = reference::Follow::results;
  }
  reference_of(operation)(in, expected);
  Comparison comparison(in.scene);
  for (const spec::Array array : ptycho(contract).outputs) {
    const BoundedArray& bounded = expected[array];
    if (array == spec::Array::cost) {
      comparison.compare(array, 0, step.cost * problem.data.total(), bounded);
    }
    if (!is_of_state(array)) continue;
    for (std::size_t i = 0; i < bounded.values.size(); ++i) {
      comparison.compare(array, i, value_at(step.after, array, i), bounded);
    }
  }
  return comparison.result();
}

double check_bytes(const Dataset& data, int modes, int batches) {
  // The largest number of copies of the frames and of the waves that any reference of a step holds
  // at a time. This is alternating projections on the way back from the detector.
  constexpr double copies_of_frames = 5;
  constexpr double copies_of_waves = 10;
  constexpr double value = sizeof(std::complex<double>) + sizeof(double);
  const std::int64_t frames = (data.count + batches - 1) / batches;
  return value * (copies_of_frames + copies_of_waves * modes) * static_cast<double>(data.pixels()) *
         static_cast<double>(frames);
}

}  // namespace rankcheck::cases::reconstruct

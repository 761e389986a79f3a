#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "reference/numerics/fold.hpp"
#include "reference/ptycho/conjugate_gradient_step/contract.hpp"
#include "reference/spec/share.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/ptycho/comparisons.hpp"
#include "cases/ptycho/properties.hpp"
#include "cases/ptycho/stage.hpp"
#include "tests/cases/collectives/spoiled.hpp"

/// Every property that an operator claims holds for right results, fails for wrong results, and
/// lets no larger error pass than its bound says.
namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::ImageLayout;
using harness::Judgement;
using harness::Observation;
using harness::Verdict;
using spec::Array;
using Value = std::complex<double>;

/// Returns a small case of two ranks that uses everything that the operator may have. It is in
/// double precision: in single precision, several slices of so few pixels have no power.
Case small_case_of(const spec::Contract& contract) {
  Case c;
  c.operation = contract.name;
  c.ranks = 2;
  c.counts = {2, 1};
  c.type = spec::Type::f64;
  c.data_seed = 7;
  spec::Scene& scene = ptycho(c).scene;
  scene = {.rows = 5, .cols = 5, .window = 3, .detector = 4, .modes = 2};
  if (ptycho(contract).multislice) scene.slices = 2;
  if (ptycho(contract).in_free_space || scene.slices > 1) scene.wavelength = scene.distance = 1;
  if (ptycho(contract).tiled) scene.halo = 1;
  return c;
}

/// Returns the operations of the family.
const std::vector<harness::Operation>& all_operators() {
  static const std::vector<harness::Operation> all = [] {
    std::vector<harness::Operation> some = all_operations().operations();
    std::erase_if(some, [](const auto& each) { return family(each.contract) != "ptycho"; });
    return some;
  }();
  return all;
}

Case case_of(const harness::Operation& operation, const harness::Property& property) {
  Case c = small_case_of(operation.contract);
  c.property = property.name;
  c.ranks = 3;
  c.counts = {2, 1, 2};
  if (property.adapt != nullptr) property.adapt(operation.contract, c);
  return c;
}

/// Replaces the outputs of a rank. Replicated outputs become wrong in the same way on all ranks,
/// except for the property ranks_agree_bitwise. So other properties must see more than a difference
/// between ranks, which every case checks anyway.
bool spoil_outputs(const Case& c, int rank, harness::StageOutcome& outcome) {
  const bool only_here = c.property == "ranks_agree_bitwise";
  const std::int64_t bytes = spec::info(c.type).bytes;
  bool has_any = false;
  for (int other = 0; other < group_size(c); ++other) {
    const ImageLayout layout = layout_of(c, other);
    std::byte* const recv = outcome.images[spec::to_size(other)].data() + layout.recv;
    for (const spec::Block& block : layout.extents.recv) {
      const bool is_here = other == rank;
      if (!is_here && (only_here || !spec::is_replicated(ptycho(c).scene, block.array))) continue;
      for (std::int64_t i = 0; i < block.count; ++i) {
        numerics::from_double(
            c.type, static_cast<double>(1000 + i), recv + (block.offset + i) * bytes);
        has_any = true;
      }
    }
  }
  return has_any;
}

class OperatorClaimTest : public testing::TestWithParam<harness::Operation> {};

TEST_P(OperatorClaimTest, HoldsForRightResults) {
  for (const harness::Property& property : GetParam().properties) {
    const Judgement judgement = examine(harness::to_text(case_of(GetParam(), property)));
    EXPECT_EQ(judgement.verdict, Verdict::passed) << property.name << ": " << judgement.reason;
    EXPECT_GT(judgement.compared_bytes, 0) << property.name;
  }
}

TEST_P(OperatorClaimTest, BreaksWithWrongResultsOfAnyRank) {
  for (const harness::Property& property : GetParam().properties) {
    const Case c = case_of(GetParam(), property);
    for (int rank = 0; rank < c.ranks; ++rank) {
      bool spoiled = false;
      const Judgement judgement =
          examine(harness::to_text(c), [&](std::span<const Case> stages, Observation& observation) {
            spoiled = spoil_outputs(stages.back(), rank, observation.stages.back());
          });
      EXPECT_TRUE(spoiled) << property.name;
      EXPECT_EQ(judgement.verdict, Verdict::falsified) << property.name << " of rank " << rank;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators,
                         OperatorClaimTest,
                         testing::ValuesIn(all_operators()),
                         [](const auto& test) { return std::string(test.param.contract.name); });

// --- the largest error that passes in a single value of an operator's output

/// A value of an output, with the reference's value and bound.
struct Place {
  Array array = Array::none;
  std::size_t index = 0;
  Value expected;
  double bound = 0;
};

/// Selects the value of a stage that is changed: the value with the largest magnitude, or the first
/// one.
struct Pick {
  /// The array whose values are picked from. Array::none: all arrays.
  Array array = Array::none;
  bool is_first = false;
};

/// Returns the selected value of a stage among the values with a finite bound above 0. Empty if
/// there is none.
std::optional<Place> picked(std::span<const Case> stages,
                            const Observation& observation,
                            std::size_t number,
                            reference::Follow follow,
                            const Pick& pick = {}) {
  const harness::BackendTraits traits;
  const OperatorStage stage = read_stage({.catalogue = all_operations(),
                                          .traits = traits,
                                          .stages = stages,
                                          .observation = observation},
                                         number,
                                         follow);
  std::optional<Place> found;
  for (const Array array : ptycho(stage.contract).outputs) {
    if (pick.array != Array::none && pick.array != array) continue;
    const reference::BoundedArray& bounded = stage.expected[array];
    for (std::size_t i = 0; i < bounded.values.size(); ++i) {
      const double bound = bounded.errors[i];
      if (!(bound > 0 && bound < std::numeric_limits<double>::infinity())) continue;
      const bool is_larger = !found || std::abs(bounded.values[i]) > std::abs(found->expected);
      if (found && (pick.is_first || !is_larger)) continue;
      found = {array, i, bounded.values[i], bound};
    }
  }
  return found;
}

/// Writes a value into the outputs of the ranks from `first` on that have it.
void write(const Case& c,
           const Place& place,
           Value value,
           Observation& observation,
           std::size_t stage = 0,
           int first = 0) {
  const std::int64_t bytes = spec::info(c.type).bytes;
  const std::int64_t parts = spec::info(place.array).is_complex ? 2 : 1;
  for (int rank = first; rank < group_size(c); ++rank) {
    const harness::ImageLayout layout = layout_of(c, rank);
    std::byte* const recv =
        observation.stages[stage].images[spec::to_size(rank)].data() + layout.recv;
    for (const spec::Block& block : layout.extents.recv) {
      const std::int64_t at = static_cast<std::int64_t>(place.index) * parts - block.first;
      if (block.array != place.array || at < 0 || at >= block.count) continue;
      std::byte* const to = recv + (block.offset + at) * bytes;
      numerics::from_double(c.type, value.real(), to);
      if (parts == 2) numerics::from_double(c.type, value.imag(), to + bytes);
    }
  }
}

/// Replaces one value in each operator's results by `got(place)` and expects the verdict.
template <class Got>
void expect_of_every_operator(Got got, Verdict verdict) {
  int operators = 0;
  for (const harness::Operation& operation : all_operators()) {
    SCOPED_TRACE(operation.contract.name);
    std::optional<Place> place;
    const Judgement judgement =
        examine(harness::to_text(small_case_of(operation.contract)),
                [&](std::span<const Case> stages, Observation& observation) {
                  place = picked(stages, observation, 0, reference::Follow::results);
                  if (place) write(stages[0], *place, got(*place), observation);
                });
    // Some operators only move data, so their bounds are 0.
    if (!place) continue;
    ++operators;
    EXPECT_EQ(judgement.verdict, verdict) << judgement.reason;
  }
  EXPECT_GE(operators, 20);
}

TEST(ToleranceTest, EndsAtTheBound) {
  expect_of_every_operator([](const Place& at) { return at.expected + 3 * at.bound; },
                           Verdict::falsified);
  expect_of_every_operator([](const Place& at) { return at.expected - 3 * at.bound; },
                           Verdict::falsified);
}

TEST(ToleranceTest, IncludesTheReference) {
  expect_of_every_operator([](const Place& at) { return at.expected; }, Verdict::passed);
}

TEST(ToleranceTest, IsNoMatterOfMagnitudesAlone) {
  expect_of_every_operator([](const Place& at) { return -at.expected; }, Verdict::falsified);
}

/// Operators that keep whole numbers whole have no rounding that a bound would have to admit.
TEST(ToleranceTest, IsNothingForWholeNumbers) {
  int operators = 0;
  for (const harness::Operation& operation : all_operators()) {
    if (!ptycho(operation.contract).exact_on_whole_numbers) continue;
    Case c = small_case_of(operation.contract);
    const auto has_bound = [&] {
      bool found = false;
      examine(harness::to_text(c), [&](std::span<const Case> stages, Observation& observation) {
        found = picked(stages, observation, 0, reference::Follow::nothing).has_value();
      });
      return found;
    };
    operators += has_bound() ? 1 : 0;
    c.input = harness::InputKind::exact;
    EXPECT_FALSE(has_bound()) << c.operation;
  }
  EXPECT_GE(operators, 5);
}

/// The step's lengths are those that a search may find: powers of two, not below a least one.
TEST(ToleranceTest, OfASearchEndsAtItsLastLength) {
  Case c = small_case_of(all_operations().find("conjugate_gradient_step")->contract);
  c.property = "goes_along_its_directions";
  const double least = std::ldexp(1, -reference::line_search_halvings);
  Place lengths;
  lengths.array = Array::step_lengths;
  for (const double length : {least, least / 2, 0.75, 2.0}) {
    const Judgement judgement =
        examine(harness::to_text(c), [&](std::span<const Case> stages, Observation& observation) {
          write(stages[0], lengths, length, observation);
        });
    EXPECT_EQ(judgement.verdict, Verdict::falsified);
    EXPECT_EQ(judgement.reason.starts_with("a step of length"), length != least) << length;
  }
}

TEST(ToleranceTest, LetsNoRankHaveOtherBitsThanRank0) {
  int operators = 0;
  for (const harness::Operation& operation : all_operators()) {
    bool is_changed = false;
    const Judgement judgement =
        examine(harness::to_text(small_case_of(operation.contract)),
                [&](std::span<const Case> stages, Observation& observation) {
                  const auto at = picked(stages, observation, 0, reference::Follow::results);
                  is_changed = at && spec::is_replicated(ptycho(stages[0]).scene, at->array);
                  if (!is_changed) return;
                  write(stages[0], *at, at->expected + at->bound / 2, observation, 0, 1);
                });
    if (!is_changed) continue;
    ++operators;
    EXPECT_EQ(judgement.reason, "differs from rank 0") << operation.contract.name;
  }
  EXPECT_GE(operators, 10);
}

/// Whether a property's last stage has a bound, and the smallest exponent e such that an error of
/// 2^e bounds is falsified.
struct Tolerance {
  bool has_bound = false;
  int exponent = 0;
};

Tolerance tolerance_of(const Case& c, const Pick& pick, int most) {
  Tolerance tolerance;
  for (; tolerance.exponent <= most; ++tolerance.exponent) {
    const Judgement judgement =
        examine(harness::to_text(c), [&](std::span<const Case> stages, Observation& observation) {
          const std::size_t last = stages.size() - 1;
          const auto place = picked(stages, observation, last, reference::Follow::nothing, pick);
          tolerance.has_bound = place.has_value();
          if (!place) return;
          const Value off = place->expected + std::ldexp(place->bound, tolerance.exponent);
          write(stages[last], *place, off, observation, last);
        });
    if (judgement.verdict == Verdict::falsified || !tolerance.has_bound) break;
  }
  return tolerance;
}

/// A property's bound is the sum of the bounds of several values and stages. So one value may be
/// off by more than its own bound. The number is the exponent of Tolerance. A tolerance ten times
/// as wide would add about three.
const std::map<std::string_view, int> exponents{
    {"adds_distances", 3},
    {"balances_object_and_probe", 5},
    {"conserves_energy", 5},
    {"conserves_the_sum", 9},
    {"counts_every_position", 1},
    {"gains_no_energy", 7},
    {"grows_as_its_light_does", 1},
    {"has_adjoint_in_each_slice", 5},
    {"has_adjoint_in_object", 4},
    {"has_adjoint_in_probe", 7},
    {"has_adjoint_insert", 6},
    {"has_adjoint_propagate", 8},
    {"has_adjoint_propagate_fresnel", 7},
    {"has_adjoint_propagate_fresnel_adjoint", 7},
    {"has_adjoint_propagate_inverse", 10},
    {"has_adjoint_shift", 7},
    {"has_adjoint_shift_back", 10},
    {"has_degree_of_its_slices", 2},
    {"has_derivative", 4},
    {"is_a_phase_ramp_at_the_detector", 5},
    {"is_epie_with_other_divisors", 2},
    {"is_equivariant", 2},
    {"is_illuminate_for_one_slice", 2},
    {"is_independent_of_order", 2},
    {"is_independent_of_partition", 2},
    {"is_independent_of_refinement", 2},
    {"is_linear", 2},
    {"is_patch_times_probe", 1},
    {"is_product_without_distance", 1},
    {"is_undone_by_propagate", 3},
    {"is_undone_by_propagate_inverse", 3},
    {"is_undone_by_shift", 3},
    {"is_undone_by_shift_back", 3},
    {"is_undone_by_the_way_back", 3},
    {"keeps_the_raster_ambiguity", 1},
    {"keeps_the_truth", 1},
    {"keeps_the_truth_on_whole_pixels", 1},
    {"multiplies_when_repeated", 1},
    {"takes_each_position_alone", 2},
    {"takes_further_steps", 1},
    {"waves_grow_by_beta", 1},
};

TEST(ToleranceTest, OfPropertiesIsNoLargerThanItWas) {
  int claims = 0;
  for (const harness::Operation& operation : all_operators()) {
    for (const harness::Property& property : operation.properties) {
      const auto limit = exponents.find(property.name);
      if (limit == exponents.end()) continue;
      Case c = small_case_of(operation.contract);
      c.property = property.name;
      if (property.adapt != nullptr) property.adapt(operation.contract, c);
      // A property may say nothing of the largest value: of a cost, or of another rank's copy.
      std::vector<Pick> picks{{}, {.is_first = true}};
      for (const Array array : ptycho(operation.contract).outputs)
        picks.push_back({.array = array});
      Tolerance least{.exponent = std::numeric_limits<int>::max()};
      for (const Pick& pick : picks) {
        const Tolerance tolerance = tolerance_of(c, pick, limit->second);
        if (!tolerance.has_bound) continue;
        least.has_bound = true;
        least.exponent = std::min(least.exponent, tolerance.exponent);
        if (least.exponent <= limit->second) break;
      }
      if (!least.has_bound) continue;
      ++claims;
      EXPECT_LE(least.exponent, limit->second) << c.operation << " " << c.property;
    }
  }
  EXPECT_GE(claims, 100);
}

/// Judges a number of a property that one value went into.
Judgement judge_number(double number, const UpperLimit& most) {
  const spec::Contract& contract = all_operations().find("intensity")->contract;
  const Case c = small_case_of(contract);
  OperatorStage stage{.c = c, .contract = contract, .in = {}, .expected = {}, .got = {}};
  stage.got[ptycho(contract).outputs.front()].resize(1);
  stage.expected[ptycho(contract).outputs.front()].resize(1);
  Judgement judgement;
  compare_with_limit(stage, {.name = "the number", .value = number}, most, judgement);
  return judgement;
}

TEST(LimitTest, IsKeptUpToTheBound) {
  const UpperLimit most{.limit = 2, .bound = 0.5, .scale = 100};
  EXPECT_EQ(judge_number(1, most).verdict, Verdict::passed);
  EXPECT_EQ(judge_number(2.25, most).ratio_max, 0.5);
  EXPECT_EQ(judge_number(2.5, most).verdict, Verdict::passed);
  EXPECT_EQ(judge_number(2.75, most).reason,
            "the number = 2.75: expected at most 2, plus 0.5 for rounding errors");
  EXPECT_EQ(judge_number(1, most).power.useful, 1);
}

TEST(LimitTest, IsNotKeptByWhatIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(judge_number(nan, {.limit = 2, .bound = 1}).verdict, Verdict::falsified);
  EXPECT_EQ(judge_number(2, {.limit = nan, .bound = 1}).verdict, Verdict::falsified);
}

TEST(LimitTest, WithoutEndComparesNothing) {
  const Judgement judgement =
      judge_number(2, {.bound = std::numeric_limits<double>::infinity(), .scale = 1});
  EXPECT_EQ(judgement.compared_bytes, 0);
  EXPECT_EQ(judgement.blind_output, "the number");
}

}  // namespace
}  // namespace rankcheck::cases

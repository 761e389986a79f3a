#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include <gtest/gtest.h>

#include "reference/numerics/fold.hpp"

#include "cases/ptycho/stage.hpp"
#include "tests/cases/collectives/spoiled.hpp"

/// How far a single value of an operator's output may be off.
namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::Judgement;
using harness::Observation;
using harness::Verdict;
using spec::Array;

using Value = std::complex<double>;

/// A value of an output, as the reference has it.
struct Place {
  Array array = Array::none;
  std::size_t index = 0;
  Value expected;
  double bound = 0;
};

/// A small case in double precision.
Case case_of(const spec::Contract& contract) {
  Case c;
  c.operation = contract.name;
  c.ranks = 2;
  c.counts = {2, 1};
  c.type = spec::Type::f64;
  c.data_seed = 7;
  c.scene = {.rows = 5, .cols = 5, .window = 3, .detector = 4, .modes = 2};
  if (contract.multislice) c.scene.slices = 2;
  if (contract.in_free_space || c.scene.slices > 1) c.scene.wavelength = c.scene.distance = 1;
  if (contract.tiled) c.scene.halo = 1;
  return c;
}

/// The value with the largest magnitude among those with a finite bound above 0; none where there
/// is no such value.
std::optional<Place> largest(std::span<const Case> stages, const Observation& observation) {
  const harness::BackendTraits traits;
  const OperatorStage stage = read_stage({.catalogue = all_operations(),
                                          .traits = traits,
                                          .stages = stages,
                                          .observation = observation},
                                         0);
  std::optional<Place> found;
  for (const Array array : stage.contract.outputs) {
    const reference::Field& field = stage.expected[array];
    for (std::size_t i = 0; i < field.values.size(); ++i) {
      const double bound = field.errors[i];
      if (!(bound > 0 && bound < std::numeric_limits<double>::infinity())) continue;
      if (found && std::abs(field.values[i]) <= std::abs(found->expected)) continue;
      found = {array, i, field.values[i], bound};
    }
  }
  return found;
}

/// Writes a value into the outputs of all ranks that have it.
void write(const Case& c, const Place& place, Value value, Observation& observation) {
  const std::int64_t bytes = spec::info(c.type).bytes;
  const std::int64_t parts = spec::info(place.array).is_complex ? 2 : 1;
  for (int rank = 0; rank < group_size(c); ++rank) {
    const harness::ImageLayout layout = layout_of(c, rank);
    std::byte* const recv =
        observation.stages[0].images[static_cast<std::size_t>(rank)].data() + layout.recv;
    for (const spec::Block& block : layout.extents.recv) {
      const std::int64_t at = static_cast<std::int64_t>(place.index) * parts - block.first;
      if (block.array != place.array || at < 0 || at >= block.count) continue;
      std::byte* const to = recv + (block.offset + at) * bytes;
      numerics::from_double(c.type, value.real(), to);
      if (parts == 2) numerics::from_double(c.type, value.imag(), to + bytes);
    }
  }
}

/// Replaces one value of each operator's results with `got(place)` and expects the verdict.
template <class Got>
void expect_of_every_operator(Got got, Verdict verdict) {
  int operators = 0;
  for (const harness::Operation& operation : all_operations().operations()) {
    if (family(operation.contract) != "ptycho") continue;
    SCOPED_TRACE(operation.contract.name);
    std::optional<Place> place;
    const Judgement judgement =
        examine(harness::to_text(case_of(operation.contract)),
                [&](std::span<const Case> stages, Observation& observation) {
                  place = largest(stages, observation);
                  if (place) write(stages[0], *place, got(*place), observation);
                });
    // Some operators only move data: their bounds are 0.
    if (!place) continue;
    ++operators;
    EXPECT_EQ(judgement.verdict, verdict) << judgement.reason;
  }
  EXPECT_GE(operators, 20);
}

TEST(ToleranceTest, ends_at_the_bound) {
  expect_of_every_operator([](const Place& at) { return at.expected + 3 * at.bound; },
                           Verdict::falsified);
  expect_of_every_operator([](const Place& at) { return at.expected - 3 * at.bound; },
                           Verdict::falsified);
}

TEST(ToleranceTest, includes_the_reference) {
  expect_of_every_operator([](const Place& at) { return at.expected; }, Verdict::passed);
}

TEST(ToleranceTest, is_no_matter_of_magnitudes_alone) {
  expect_of_every_operator([](const Place& at) { return -at.expected; }, Verdict::falsified);
}

}  // namespace
}  // namespace rankcheck::cases

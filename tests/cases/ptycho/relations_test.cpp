#include <cstddef>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cases/ptycho/gauge_laws.hpp"
#include "cases/ptycho/step_laws.hpp"
#include "tests/cases/collectives/spoiled.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::Form;
using harness::Judgement;
using harness::Observation;
using harness::Verdict;
using spec::Array;

/// A law on one case, and an output that it looks at.
struct Law {
  std::string operation;
  std::string property;
  std::size_t stage;
  Array array;
  int data_seed = 8;

  friend void PrintTo(const Law& law, std::ostream* out) {
    *out << law.operation << " " << law.property;
  }
};

std::string text_of(const std::string& operation, const std::string& property, int data_seed) {
  return R"({"ranks":2,"counts":[2,1],"rows":4,"cols":5,"window":3,"detector":4,"modes":2,)"
         R"("type":"f64","operation":")" +
         operation + R"(","property":")" + property + R"(","data_seed":)" +
         std::to_string(data_seed) + "}";
}

/// Adds much to the first component of an output, on every rank.
void spoil(const Law& law, std::span<const Case> stages, Observation& observation) {
  const Case& c = stages[law.stage];
  for (int rank = 0; rank < group_size(c); ++rank) {
    const harness::ImageLayout layout = layout_of(c, rank);
    for (const spec::Block& block : layout.extents.recv) {
      if (block.array != law.array || block.count == 0) continue;
      auto& image = observation.stages[law.stage].images[static_cast<std::size_t>(rank)];
      std::byte* const at = image.data() + layout.recv + block.offset * 8;
      double value = 0;
      std::memcpy(&value, at, sizeof value);
      value += 1000;
      std::memcpy(at, &value, sizeof value);
    }
  }
}

class RelationTest : public testing::TestWithParam<Law> {
 protected:
  std::string text_ = text_of(GetParam().operation, GetParam().property, GetParam().data_seed);
};

TEST_P(RelationTest, holds_for_right_results) {
  const Judgement judgement = examine(text_);
  EXPECT_EQ(judgement.verdict, Verdict::passed) << judgement.reason;
}

TEST_P(RelationTest, breaks_with_a_wrong_value) {
  const Judgement judgement =
      examine(text_, [&](std::span<const Case> stages, Observation& observation) {
        spoil(GetParam(), stages, observation);
      });
  EXPECT_EQ(judgement.verdict, Verdict::falsified);
}

INSTANTIATE_TEST_SUITE_P(
    law,
    RelationTest,
    testing::Values(
        Law{"gaussian_gradients", "has_derivative", 1, Array::cost},
        Law{"gaussian_gradients", "has_derivative", 0, Array::object},
        Law{"poisson_gradients", "has_derivative", 0, Array::probe, 7},
        Law{"gaussian_gradients", "balances_object_and_probe", 0, Array::probe},
        Law{"gaussian_gradients", "is_equivariant", 1, Array::object},
        Law{"gaussian_gradients", "is_independent_of_order", 1, Array::cost},
        Law{"gaussian_gradients", "counts_every_position", 1, Array::probe},
        Law{"extract", "is_exact_on_bilinear_objects", 0, Array::patches},
        Law{"rpie_step", "keeps_the_truth", 3, Array::object},
        Law{"difference_map_step", "keeps_the_truth_on_whole_pixels", 3, Array::probe},
        Law{"conjugate_gradient_step", "never_raises_the_cost", 1, Array::cost},
        Law{"conjugate_gradient_step", "goes_along_its_directions", 0, Array::object},
        Law{"conjugate_gradient_step", "goes_along_its_directions", 0, Array::step_lengths}),
    [](const auto& instance) {
      return instance.param.operation + "_" + instance.param.property + "_" +
             std::string(spec::name(instance.param.array));
    });

/// The law as an operation claims it that does not keep it.
Verdict claimed_by(const std::string& operation, const harness::Property& property) {
  std::vector<harness::Operation> operations = all_operations().operations();
  for (harness::Operation& each : operations) {
    if (each.contract.name == operation) each.properties = {property};
  }
  const harness::Catalogue catalogue(std::move(operations));
  SpoiledBackend backend({});
  Judgement judgement;
  harness::Examiner(catalogue, backend)
      .examine(harness::case_from_text(text_of(operation, std::string(property.name), 8)),
               judgement);
  return judgement.verdict;
}

TEST(RelationsTest, a_gradient_does_not_grow_with_its_object) {
  EXPECT_EQ(claimed_by("gaussian_gradients", is_equivariant<Outputs::states, Form::stretched>()),
            Verdict::falsified);
}

TEST(RelationsTest, conjugate_gradients_do_not_follow_a_stretched_object) {
  EXPECT_EQ(
      claimed_by("conjugate_gradient_step", is_equivariant<Outputs::states, Form::stretched>()),
      Verdict::falsified);
}

TEST(RelationsTest, conjugate_gradients_go_further_with_more_positions) {
  EXPECT_EQ(claimed_by("conjugate_gradient_step", counts_every_position<Outputs::states>()),
            Verdict::falsified);
}

TEST(RelationsTest, least_squares_of_the_first_mode_do_not_mix) {
  EXPECT_EQ(claimed_by("lsqml_step", is_equivariant<Outputs::states, Form::mixed>()),
            Verdict::falsified);
}

TEST(RelationsTest, a_difference_map_does_not_keep_the_truth_between_pixels) {
  EXPECT_EQ(claimed_by("difference_map_step", keeps_the_truth()), Verdict::falsified);
}

}  // namespace
}  // namespace rankcheck::cases

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/symmetry.hpp"
#include "cases/ptycho/properties.hpp"
#include "tests/cases/collectives/spoiled.hpp"
#include "tests/print.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::Judgement;
using harness::Observation;
using harness::Verdict;
using spec::Array;

/// A property on one case, and an output that the property compares.
struct Relation {
  std::string operation;
  std::string property;
  std::size_t stage;
  Array array;
  int data_seed = 8;
  std::string input = "general";

  friend void PrintTo(const Relation& claim, std::ostream* out) {
    *out << claim.operation << " " << claim.property;
  }
};

std::string text_of(const std::string& operation,
                    const std::string& property,
                    int data_seed,
                    const std::string& input = "general") {
  return R"({"ranks":2,"counts":[2,1],"rows":4,"cols":5,"window":3,"detector":4,"modes":2,)"
         R"("type":"f64","operation":")" +
         operation + R"(","property":")" + property + R"(","input":")" + input +
         R"(","data_seed":)" + std::to_string(data_seed) + "}";
}

/// Adds 1000 to the first component of an output, on every rank.
void spoil(const Relation& claim, std::span<const Case> stages, Observation& observation) {
  const Case& c = stages[claim.stage];
  for (int rank = 0; rank < group_size(c); ++rank) {
    const harness::ImageLayout layout = layout_of(c, rank);
    for (const spec::Block& block : layout.extents.recv) {
      if (block.array != claim.array || block.count == 0) continue;
      auto& image = observation.stages[claim.stage].images[spec::to_size(rank)];
      std::byte* const at = image.data() + layout.recv + block.offset * 8;
      double value = 0;
      std::memcpy(&value, at, sizeof value);
      value += 1000;
      std::memcpy(at, &value, sizeof value);
    }
  }
}

/// Examines a claim with a wrong value 0 in an array of a stage.
Judgement examine_spoiled(const Relation& claim) {
  const std::string text = text_of(claim.operation, claim.property, claim.data_seed, claim.input);
  return examine(text, [&](std::span<const Case> stages, Observation& observation) {
    spoil(claim, stages, observation);
  });
}

class RelationTest : public testing::TestWithParam<Relation> {};

TEST_P(RelationTest, BreaksWithAWrongValue) {
  EXPECT_EQ(examine_spoiled(GetParam()).verdict, Verdict::falsified);
}

INSTANTIATE_TEST_SUITE_P(
    Relation,
    RelationTest,
    testing::Values(
        Relation{"gaussian_gradients", "has_derivative", 1, Array::cost},
        Relation{"gaussian_gradients", "has_derivative", 0, Array::object},
        Relation{"poisson_gradients", "has_derivative", 0, Array::probe, 7},
        Relation{"gaussian_gradients", "balances_object_and_probe", 0, Array::probe},
        Relation{"gaussian_gradients", "is_equivariant", 1, Array::object},
        Relation{"gaussian_gradients", "is_independent_of_order", 1, Array::cost},
        Relation{"gaussian_gradients", "counts_every_position", 1, Array::probe},
        Relation{"illuminate", "takes_each_position_alone", 2, Array::waves},
        Relation{"shift", "takes_each_position_alone", 1, Array::waves},
        Relation{"extract", "is_exact_on_bilinear_objects", 0, Array::patches},
        Relation{"rpie_step", "keeps_the_truth", 3, Array::object},
        Relation{"lsqml_step", "keeps_the_truth_along_its_directions", 3, Array::object},
        Relation{"lsqml_step", "keeps_the_truth_along_its_directions", 3, Array::probe},
        Relation{"lsqml_step", "moves_no_more_than_came_back", 0, Array::object},
        Relation{"lsqml_step", "moves_no_more_than_came_back", 0, Array::probe},
        Relation{"rpie_step", "takes_further_steps", 0, Array::object},
        Relation{"difference_map_step", "takes_further_steps", 1, Array::probe},
        Relation{"conjugate_gradient_step", "takes_further_steps", 2, Array::object_direction},
        Relation{"rpie_step", "is_epie_with_other_divisors", 3, Array::object},
        Relation{"rpie_step", "is_epie_with_other_divisors", 2, Array::probe},
        Relation{"rpie_step", "is_epie_with_other_divisors", 0, Array::object_weight},
        Relation{"momentum_step", "is_epie_with_memory", 1, Array::object},
        Relation{"momentum_step", "is_epie_with_memory", 1, Array::probe_direction},
        Relation{"momentum_step", "is_epie_with_memory", 0, Array::probe},
        Relation{"momentum_step", "coasts_at_the_truth", 3, Array::object_direction},
        Relation{"momentum_step", "coasts_at_the_truth", 3, Array::probe},
        Relation{"rpie_step", "grows_as_its_light_does", 3, Array::object},
        Relation{"epie_step", "grows_as_its_light_does", 3, Array::probe},
        Relation{"alternating_projections_step", "grows_as_its_light_does", 3, Array::object},
        Relation{"conjugate_gradient_step", "grows_as_its_light_does", 3, Array::object_gradient},
        Relation{"insert", "is_independent_of_refinement", 0, Array::object},
        Relation{"poisson_cost", "is_independent_of_refinement", 1, Array::far_waves},
        Relation{"poisson_cost", "ignores_unmeasured_pixels", 1, Array::far_waves, 7, "special"},
        Relation{"lsqml_step", "ignores_unmeasured_pixels", 0, Array::probe, 7, "special"},
        Relation{"gaussian_gradients", "keeps_the_raster_ambiguity", 1, Array::object},
        Relation{"propagate", "is_equivariant", 1, Array::far_waves},
        Relation{
            "alternating_projections_step", "keeps_the_truth_on_whole_pixels", 3, Array::probe},
        Relation{"difference_map_step", "keeps_the_truth_on_whole_pixels", 3, Array::exit_waves},
        Relation{"difference_map_step", "keeps_the_truth_on_whole_pixels", 3, Array::object},
        Relation{"difference_map_step", "waves_grow_by_beta", 4, Array::exit_waves},
        Relation{"difference_map_step", "waves_grow_by_beta", 4, Array::probe},
        Relation{"difference_map_step", "fixed_points_are_solutions", 0, Array::exit_waves},
        Relation{"difference_map_step", "fixed_points_are_solutions", 0, Array::object},
        Relation{"difference_map_step", "is_equivariant", 1, Array::exit_waves},
        Relation{"conjugate_gradient_step", "never_raises_the_cost", 1, Array::cost},
        Relation{"poisson_conjugate_gradient_step", "never_raises_the_cost", 1, Array::cost},
        Relation{"conjugate_gradient_step", "goes_along_its_directions", 0, Array::object},
        Relation{"conjugate_gradient_step", "goes_along_its_directions", 0, Array::step_lengths}),
    [](const auto& instance) {
      return instance.param.operation + "_" + instance.param.property + "_" +
             std::string(spec::name(instance.param.array));
    });

TEST(PlaceTest, AWrongValueOfTheFirstCallIsNamed) {
  const Judgement first =
      examine_spoiled({"gaussian_gradients", "is_equivariant", 0, Array::object});
  ASSERT_FALSE(first.wrong.empty());
  EXPECT_TRUE(first.wrong[0].decoded.ends_with(
      ", which follows from value 0 of object in the first call, which is wrong"))
      << first.wrong[0].decoded;
  const Judgement second =
      examine_spoiled({"gaussian_gradients", "is_equivariant", 1, Array::object});
  ASSERT_FALSE(second.wrong.empty());
  EXPECT_EQ(second.wrong[0].decoded, "value 0 of object");
}

TEST(PlaceTest, ALawOfOneNumberListsTheWrongValues) {
  const Judgement judgement =
      examine_spoiled({"lsqml_step", "moves_no_more_than_came_back", 0, Array::object});
  EXPECT_TRUE(judgement.reason.find("expected at most") != std::string::npos) << judgement.reason;
  EXPECT_EQ(judgement.wrong_count, 1);
  ASSERT_EQ(judgement.wrong.size(), 1U);
  EXPECT_EQ(judgement.wrong[0].decoded, "value 0 of object");
  EXPECT_EQ(judgement.values.output, "object");
}

/// Old files hold such cases: they are from before these properties chose their own kind of inputs.
TEST(ClaimTest, ReplaysOldCasesOfOtherInputs) {
  for (const auto& text : {text_of("poisson_cost", "ignores_unmeasured_pixels", 7),
                           text_of("fuse", "inverts_redistribute", 7, "exact")}) {
    const Judgement judgement = examine(text);
    EXPECT_EQ(judgement.verdict, Verdict::passed) << text << ": " << judgement.reason;
  }
}

/// The property sets the kind of inputs in the case, so that the case's text says what ran.
TEST(ClaimTest, DrawsTheInputsThatItTakes) {
  const auto drawn = [](const std::string& operation, const std::string& property) {
    const harness::Property* const claim = all_operations().find_property(operation, property);
    Case c;
    c.input = harness::InputKind::exact;
    claim->adapt(all_operations().find(operation)->contract, c);
    return c.input;
  };
  EXPECT_EQ(drawn("poisson_cost", "ignores_unmeasured_pixels"), harness::InputKind::special);
  EXPECT_EQ(drawn("fuse", "inverts_redistribute"), harness::InputKind::general);
}

/// The data seed chooses how many of the first positions are kept. They stay on their ranks.
TEST(ClaimTest, LeavesPositionsAloneThatTheDataChoose) {
  const auto kept = [](std::uint64_t data_seed) {
    const harness::Property claim = takes_each_position_alone<Match::exact>();
    Case c;
    c.counts = {2, 0, 1, 2};
    c.data_seed = data_seed;
    std::vector<Case> stages;
    claim.program(all_operations().find("crop")->contract, c, stages);
    return stages[1].counts;
  };
  using Counts = std::vector<std::int64_t>;
  EXPECT_EQ(kept(4), (Counts{1, 0, 0, 0}));
  EXPECT_EQ(kept(5), (Counts{2, 0, 0, 0}));
  EXPECT_EQ(kept(6), (Counts{2, 0, 1, 0}));
  EXPECT_EQ(kept(7), (Counts{2, 0, 1, 1}));
}

/// A property that is claimed for an operation that breaks it.
struct Control {
  std::string name;
  std::string operation;
  harness::Property property;
  Scan scan = Scan::scattered;

  friend void PrintTo(const Control& control, std::ostream* out) { *out << control.name; }
};

/// Results transform as inputs of this symmetry do, wherever the positions lie.
template <Outputs outputs, Symmetry symmetry>
harness::Property bends_anywhere() {
  return {
      .name = "is_equivariant",
      .summary = "Results bend as inputs do.",
      .program =
          [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
            stages.assign(2, c);
            ptycho(stages[1]).symmetry = symmetry;
            ptycho(stages[1]).scene = transformed_scene(symmetry, ptycho(c).scene);
          },
      .check = check_transformed<outputs>,
  };
}

/// keeps_the_raster_ambiguity() without its condition on the raster: any step, anywhere.
harness::Property keeps_any_raster_ambiguity() {
  harness::Property property = keeps_the_raster_ambiguity<Outputs::sums>();
  property.program = [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
    stages.assign(2, c);
    ptycho(stages[0]).symmetry = Symmetry::raster;
    ptycho(stages[1]).symmetry = Symmetry::periodic;
  };
  return property;
}

class ControlTest : public testing::TestWithParam<Control> {};

TEST_P(ControlTest, IsFalsified) {
  const Control& control = GetParam();
  std::vector<harness::Operation> operations = all_operations().operations();
  for (harness::Operation& each : operations) {
    if (each.contract.name == control.operation) each.properties = {control.property};
  }
  const harness::Catalogue catalogue(std::move(operations));
  SpoiledBackend backend({});
  Judgement judgement;
  Case c =
      harness::case_from_text(text_of(control.operation, std::string(control.property.name), 8));
  ptycho(c).scan = control.scan;
  harness::Examiner(catalogue, backend).examine(c, judgement);
  EXPECT_EQ(judgement.verdict, Verdict::falsified) << judgement.reason;
}

const std::vector<Control> controls{
    {"a_gradient_does_not_grow_with_its_object",
     "gaussian_gradients",
     is_equivariant<Outputs::states, Symmetry::stretched>()},
    {"conjugate_gradients_do_not_follow_a_stretched_object",
     "conjugate_gradient_step",
     is_equivariant<Outputs::states, Symmetry::stretched>()},
    {"conjugate_gradients_go_further_with_more_positions",
     "conjugate_gradient_step",
     counts_every_position<Outputs::states>()},
    {"least_squares_of_the_first_mode_do_not_mix",
     "lsqml_step",
     is_equivariant<Outputs::states, Symmetry::mixed>()},
    {"momentum_does_not_keep_the_truth", "momentum_step", keeps_the_truth()},
    {"alternating_projections_do_not_keep_the_truth_between_pixels",
     "alternating_projections_step",
     keeps_the_truth()},
    {"a_difference_map_does_not_keep_the_truth_between_pixels",
     "difference_map_step",
     keeps_the_truth()},
    {"exit_waves_do_not_follow_ramps",
     "difference_map_step",
     is_equivariant<Outputs::states, Symmetry::ramped>()},
    {"interpolation_flattens_ramps_between_pixels",
     "gaussian_gradients",
     bends_anywhere<Outputs::sums, Symmetry::ramped>()},
    {"phases_with_a_raster_s_period_show_between_pixels",
     "gaussian_gradients",
     keeps_any_raster_ambiguity()},
    {"a_step_follows_ramps_at_whole_pixels_only",
     "rpie_step",
     bends_anywhere<Outputs::states, Symmetry::ramped>()},
    {"waves_turn_with_the_object", "illuminate", is_equivariant<Outputs::sums, Symmetry::turned>()},
    {"waves_of_a_twin_are_others", "illuminate", is_equivariant<Outputs::sums, Symmetry::twin>()},
    {"modes_that_are_mixed_have_other_waves",
     "illuminate",
     is_equivariant<Outputs::sums, Symmetry::mixed>()},
    {"windows_are_not_reflected_about_their_first_pixel",
     "illuminate",
     is_equivariant<Outputs::sums, Symmetry::reflected>()},
    {"counted_photons_have_no_scale",
     "poisson_gradients",
     is_equivariant<Outputs::sums, Symmetry::brightened>()},
    {"gradients_of_amplitudes_grow_with_the_light",
     "gaussian_gradients",
     is_equivariant<Outputs::states, Symmetry::brightened>()},
    {"stripes_are_of_rows",
     "partition_stripes",
     is_equivariant<Outputs::states, Symmetry::transposed>()},
    {"stripes_are_counted_from_one_side",
     "partition_stripes",
     is_equivariant<Outputs::states, Symmetry::reflected>()},
    {"weights_beside_the_object_move_onto_it",
     "epie_step",
     bends_anywhere<Outputs::states, Symmetry::translated>(),
     Scan::overhanging},
    {"shards_keep_the_order_of_positions", "redistribute", is_independent_of_order()},
};

INSTANTIATE_TEST_SUITE_P(Relation, ControlTest, testing::ValuesIn(controls), tests::printed_name);

}  // namespace
}  // namespace rankcheck::cases

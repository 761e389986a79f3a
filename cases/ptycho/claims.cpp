#include "cases/suites/claims.hpp"

#include "harness/properties/same_bits.hpp"

#include "cases/families/ptycho/symmetry.hpp"
#include "cases/ptycho/properties.hpp"

namespace rankcheck::cases {

namespace {

using Table = std::vector<Claims>;

/// What every operator claims whose result is the reference's, and `more`.
Properties operator_with(std::initializer_list<harness::Property> more) {
  return with({operator_agrees_with_reference(),
               harness::is_deterministic(),
               is_independent_of_partition()},
              more);
}

/// What every linear operator claims, and `more`.
Properties linear_with(std::initializer_list<harness::Property> more) {
  return with({operator_agrees_with_reference(),
               harness::is_deterministic(),
               is_linear_in_each_array(),
               is_independent_of_partition()},
              more);
}

/// What linear operators claim that treat each position alone, and `more`.
template <Match match>
Properties each_position_with(std::initializer_list<harness::Property> more) {
  return with(linear_with({takes_each_position_alone<match>()}), more);
}

/// What linear operators claim that sum over the positions of a rank.
Properties position_sum() {
  return linear_with({is_independent_of_refinement(),
                      is_equivariant<Outputs::sums, Symmetry::transposed, Symmetry::translated>(),
                      is_independent_of_order(),
                      counts_every_position<Outputs::sums>()});
}

/// What linear operators claim that sum over the positions of all ranks.
Properties position_sum_of_all_ranks() {
  Properties all = position_sum();
  // Where it has always been in reports, behind is_deterministic().
  all.insert(all.begin() + 2, harness::ranks_agree_bitwise());
  return all;
}

Properties cost() {
  return {operator_agrees_with_reference(),
          agrees_at_the_truth(),
          harness::is_deterministic(),
          is_independent_of_partition(),
          is_independent_of_refinement(),
          ignores_unmeasured_pixels(),
          keeps_symmetries(),
          is_independent_of_order(),
          counts_every_position<Outputs::sums>()};
}

template <NoiseModel model>
Properties gradients(const harness::Property& follows_symmetries) {
  return operator_with({is_independent_of_refinement(),
                        ignores_unmeasured_pixels(),
                        keeps_the_raster_ambiguity<Outputs::sums>(),
                        is_independent_of_order(),
                        counts_every_position<Outputs::sums>(),
                        follows_symmetries,
                        has_derivative<model>(),
                        balances_object_and_probe()});
}

Properties preconditioner() {
  return operator_with({is_independent_of_refinement(),
                        is_independent_of_order(),
                        counts_every_position<Outputs::sums>()});
}

void add_patches(Table& all) {
  all.push_back({"crop",
                 each_position_with<Match::exact>({has_adjoint(
                     "has_adjoint_pad", "<crop(x), y> = <x, pad(y)>.", plan_then<"pad">)})});
  all.push_back(
      {"extract",
       linear_with(
           {is_equivariant<Outputs::sums, Symmetry::transposed, Symmetry::translated>(),
            takes_each_position_alone<Match::exact>(),
            is_exact_on_bilinear_objects(),
            has_adjoint(
                "has_adjoint_insert", "<extract(o), y> = <o, insert(y)>.", plan_then<"insert">)})});
  all.push_back({"insert", position_sum()});
  all.push_back(
      {"pad",
       each_position_with<Match::exact>(
           {has_adjoint("has_adjoint_crop", "<pad(x), y> = <x, crop(y)>.", plan_then<"crop">),
            is_undone("is_undone_by_crop", "crop(pad(x)) = x.", plan_then_on_result<"crop">)})});
}

void add_illumination(Table& all) {
  all.push_back({"illuminate",
                 each_position_with<Match::exact>(
                     {is_equivariant<Outputs::sums,
                                     Symmetry::transposed,
                                     Symmetry::translated,
                                     Symmetry::stretched>(),
                      is_patch_times_probe(),
                      has_adjoint("has_adjoint_in_object",
                                  "<illuminate(o, p), y> = <o, illuminate_adjoint_object(y, p)>.",
                                  plan_then<"illuminate_adjoint_object">),
                      has_adjoint("has_adjoint_in_probe",
                                  "<illuminate(o, p), y> = <p, illuminate_adjoint_probe(y, o)>.",
                                  plan_then<"illuminate_adjoint_probe">)})});
  all.push_back({"illuminate_adjoint_object", position_sum_of_all_ranks()});
  all.push_back({"illuminate_adjoint_probe", position_sum()});
  all.push_back({"multislice",
                 each_position_with<Match::bounded>(
                     {is_equivariant<Outputs::sums, Symmetry::transposed, Symmetry::translated>(),
                      is_illuminate_for_one_slice(),
                      is_product_without_distance(),
                      has_degree_of_its_slices(),
                      has_adjoint_in_each_slice(),
                      has_adjoint("has_adjoint_in_probe",
                                  "<multislice(o, p), y> = <p, multislice_adjoint_probe(y, o)>.",
                                  plan_then<"multislice_adjoint_probe">)})});
  all.push_back({"multislice_adjoint_object", position_sum_of_all_ranks()});
  all.push_back({"multislice_adjoint_probe", position_sum()});
  all.push_back({"orthogonalize_modes",
                 {makes_modes_orthogonal(),
                  orders_modes_by_power(),
                  keeps_the_coherence(),
                  harness::is_deterministic(),
                  ranks_agree_on_shared_probes()}});
}

void add_propagation(Table& all) {
  all.push_back({"propagate",
                 each_position_with<Match::bounded>(
                     {keeps_symmetries(),
                      conserves_energy(),
                      has_adjoint("has_adjoint_propagate_inverse",
                                  "<propagate(x), y> = <x, propagate_inverse(y)>.",
                                  plan_then<"propagate_inverse">),
                      is_undone("is_undone_by_propagate_inverse",
                                "propagate_inverse(propagate(x)) = x.",
                                plan_then_on_result<"propagate_inverse">)})});
  all.push_back({"propagate_inverse",
                 each_position_with<Match::bounded>(
                     {keeps_symmetries(),
                      conserves_energy(),
                      has_adjoint("has_adjoint_propagate",
                                  "<propagate_inverse(x), y> = <x, propagate(y)>.",
                                  plan_then<"propagate">),
                      is_undone("is_undone_by_propagate",
                                "propagate(propagate_inverse(x)) = x.",
                                plan_then_on_result<"propagate">)})});
  all.push_back({"propagate_fresnel",
                 each_position_with<Match::bounded>(
                     {keeps_symmetries(),
                      gains_no_energy(),
                      conserves_energy_of_short_waves(),
                      is_undone_by_the_way_back(),
                      adds_distances(),
                      has_adjoint("has_adjoint_propagate_fresnel_adjoint",
                                  "<propagate_fresnel(x), y> = <x, propagate_fresnel_adjoint(y)>.",
                                  plan_then<"propagate_fresnel_adjoint">)})});
  all.push_back({"propagate_fresnel_adjoint",
                 each_position_with<Match::bounded>(
                     {keeps_symmetries(),
                      gains_no_energy(),
                      has_adjoint("has_adjoint_propagate_fresnel",
                                  "<propagate_fresnel_adjoint(x), y> = <x, propagate_fresnel(y)>.",
                                  plan_then<"propagate_fresnel">)})});
}

void add_shifts(Table& all) {
  all.push_back(
      {"shift",
       each_position_with<Match::bounded>({is_equivariant<Outputs::sums, Symmetry::transposed>(),
                                           conserves_energy(),
                                           rolls_by_whole_positions(),
                                           is_a_phase_ramp_at_the_detector(),
                                           has_adjoint("has_adjoint_shift_back",
                                                       "<shift(x), y> = <x, shift_back(y)>.",
                                                       plan_then<"shift_back">),
                                           is_undone("is_undone_by_shift_back",
                                                     "shift_back(shift(x)) = x.",
                                                     plan_then_on_result<"shift_back">)})});
  all.push_back(
      {"shift_back",
       each_position_with<Match::bounded>(
           {is_equivariant<Outputs::sums, Symmetry::transposed>(),
            conserves_energy(),
            has_adjoint(
                "has_adjoint_shift", "<shift_back(x), y> = <x, shift(y)>.", plan_then<"shift">),
            is_undone("is_undone_by_shift",
                      "shift(shift_back(x)) = x.",
                      plan_then_on_result<"shift">)})});
}

void add_costs(Table& all) {
  all.push_back({"intensity",
                 operator_with({takes_each_position_alone<Match::exact>(), keeps_symmetries()})});
  all.push_back({"gaussian_cost", cost()});
  all.push_back({"poisson_cost", cost()});
  all.push_back({"gaussian_gradients",
                 gradients<NoiseModel::gaussian>(
                     follows_every_symmetry<Outputs::sums, Symmetry::brightened>())});
  all.push_back({"poisson_gradients",
                 gradients<NoiseModel::poisson>(follows_every_symmetry<Outputs::sums>())});
  all.push_back({"object_preconditioner", preconditioner()});
  all.push_back({"probe_preconditioner", preconditioner()});
}

void add_exchanges(Table& all) {
  all.push_back({"redistribute", operator_with({})});
  all.push_back({"fuse", operator_with({inverts_redistribute()})});
  all.push_back({"halo_accumulate",
                 with(halo_properties(), {multiplies_when_repeated(), conserves_the_sum()})});
  all.push_back(
      {"halo_blend", with(halo_properties(), {is_idempotent(), stays_between_the_copies()})});
  all.push_back({"halo_replace", with(halo_properties(), {is_idempotent()})});
  for (const char* each : {"partition_compact",
                           "partition_consecutive",
                           "partition_equal_stripes",
                           "partition_interlaced",
                           "partition_random"}) {
    all.push_back({each, equal_partition_properties()});
  }
  for (const char* each : {"partition_grid", "partition_quadrants", "partition_stripes"}) {
    all.push_back({each, partition_properties()});
  }
}

void add_steps(Table& all) {
  all.push_back({"alternating_projections_step",
                 with(weighted_step_properties(),
                      {keeps_the_truth_on_whole_pixels(), grows_as_its_light_does()})});
  all.push_back(
      {"conjugate_gradient_step",
       with(conjugate_gradient_properties<NoiseModel::gaussian>(), {grows_as_its_light_does()})});
  all.push_back(
      {"poisson_conjugate_gradient_step", conjugate_gradient_properties<NoiseModel::poisson>()});
  // Symmetry::ramped is left out: a ramp would turn the exit waves of every position by another
  // phase.
  all.push_back({"difference_map_step",
                 with(step_properties(),
                      {is_equivariant<Outputs::states,
                                      Symmetry::turned,
                                      Symmetry::stretched,
                                      Symmetry::twin,
                                      Symmetry::transposed,
                                      Symmetry::mixed,
                                      Symmetry::translated,
                                      Symmetry::reflected,
                                      Symmetry::dark,
                                      Symmetry::brightened>(),
                       counts_every_position<Outputs::states>(),
                       keeps_the_truth_on_whole_pixels(),
                       waves_grow_by_beta(),
                       fixed_points_are_solutions()})});
  all.push_back({"epie_step",
                 with(weighted_step_properties(), {keeps_the_truth(), grows_as_its_light_does()})});
  // Symmetry::mixed is left out, because mode 0 alone determines the step lengths.
  all.push_back({"lsqml_step",
                 with(step_properties(),
                      {is_equivariant<Outputs::states,
                                      Symmetry::turned,
                                      Symmetry::stretched,
                                      Symmetry::twin,
                                      Symmetry::transposed,
                                      Symmetry::translated,
                                      Symmetry::ramped,
                                      Symmetry::reflected,
                                      Symmetry::dark,
                                      Symmetry::brightened>(),
                       counts_every_position<Outputs::states>(),
                       keeps_the_truth_along_its_directions(),
                       moves_no_more_than_came_back()})});
  all.push_back({"momentum_step",
                 with(weighted_step_properties(), {is_epie_with_memory(), coasts_at_the_truth()})});
  all.push_back(
      {"rpie_step",
       with(weighted_step_properties(),
            {keeps_the_truth(), grows_as_its_light_does(), is_epie_with_other_divisors()})});
}

}  // namespace

std::vector<Claims> claims_of_operators() {
  Table all;
  add_patches(all);
  add_illumination(all);
  add_propagation(all);
  add_shifts(all);
  add_costs(all);
  add_exchanges(all);
  add_steps(all);
  return all;
}

}  // namespace rankcheck::cases

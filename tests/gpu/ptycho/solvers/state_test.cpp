#include "gpu/ptycho/solvers/state.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "reference/registry.hpp"
#include "reference/spec/operator.hpp"

namespace rankcheck::gpu {
namespace {

/// Returns the arrays that are both input and output of a step. A step continues from them.
std::set<spec::Array> kept_by(std::string_view operation) {
  const spec::Contract& contract = reference::contract_named(operation);
  std::set<spec::Array> kept;
  for (const spec::Array array : ptycho(contract).outputs) {
    const auto& in = ptycho(contract).inputs;
    if (std::find(in.begin(), in.end(), array) != in.end()) kept.insert(array);
  }
  return kept;
}

std::set<spec::Array> arrays_of(StepKind kind) {
  std::set<spec::Array> arrays;
  for (const auto& each : state_of<float>(kind)) arrays.insert(each.array);
  return arrays;
}

TEST(StateArraysTest, AreThoseOfTheContracts) {
  EXPECT_EQ(arrays_of(StepKind::rpie), kept_by("rpie_step"));
  EXPECT_EQ(arrays_of(StepKind::epie), kept_by("epie_step"));
  EXPECT_EQ(arrays_of(StepKind::lsqml), kept_by("lsqml_step"));
  EXPECT_EQ(arrays_of(StepKind::alternating_projections), kept_by("alternating_projections_step"));
  EXPECT_EQ(arrays_of(StepKind::difference_map), kept_by("difference_map_step"));
  EXPECT_EQ(arrays_of(StepKind::momentum), kept_by("momentum_step"));
  EXPECT_EQ(arrays_of(StepKind::conjugate_gradient), kept_by("conjugate_gradient_step"));
  EXPECT_EQ(arrays_of(StepKind::poisson_conjugate_gradient),
            kept_by("poisson_conjugate_gradient_step"));
}

}  // namespace
}  // namespace rankcheck::gpu

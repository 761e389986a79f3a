#include <cstddef>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "harness/search/generator.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/inputs.hpp"
#include "tests/cases/collectives/spoiled.hpp"

/// Which kinds of inputs are drawn for operators.
namespace rankcheck::cases {
namespace {

using harness::Case;
using harness::InputKind;

constexpr const char* against_reference = "agrees_with_reference";

/// The kinds of inputs among many drawn cases of an operation.
std::set<InputKind> drawn_kinds(const std::string& operation) {
  const SpoiledBackend backend({});
  harness::Unit unit;
  unit.operation = operation;
  unit.backend = "sim";
  unit.property = against_reference;
  harness::Generator generator(all_operations(), backend, unit, 1);
  harness::RandomSource words(1);
  std::set<InputKind> kinds;
  for (int i = 0; i < 60; ++i) {
    Case c;
    EXPECT_TRUE(generator.next(words.next(), i, c)) << operation;
    generator.cover(c, true);
    kinds.insert(c.input);
  }
  return kinds;
}

/// Every kind that INPUTS.md defines for an operation is also drawn for it.
TEST(KindsOfInputsTest, AllThatAreDefinedAreDrawn) {
  int with_photons = 0;
  for (const harness::Operation& each : all_operations().operations()) {
    const std::string name(each.contract.name);
    const bool is_operator = spec::family(each.contract) == PtychoCase::family;
    // Only an operation with a reference has this property.
    if (!is_operator || all_operations().find_property(name, against_reference) == nullptr)
      continue;
    std::set<InputKind> defined;
    for (std::size_t i = 0; i < harness::input_kind_names.size(); ++i) {
      const auto kind = static_cast<InputKind>(i);
      if (kind != InputKind::given && is_defined(kind, each.contract)) defined.insert(kind);
    }
    with_photons += defined.contains(InputKind::wide_range) ? 1 : 0;
    EXPECT_EQ(drawn_kinds(name), defined) << name;
  }
  EXPECT_EQ(with_photons, 12);
}

}  // namespace
}  // namespace rankcheck::cases

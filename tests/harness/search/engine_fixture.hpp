#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "harness/search/engine.hpp"

#include "tests/harness/fake.hpp"
#include "tests/harness/text.hpp"

/// The engine with a fake backend.
namespace rankcheck::harness {

/// A planted bug: the remainder is dropped if three or more ranks do not divide the count.
inline bool has_remainder(const Case& c) {
  return group_size(c) >= 3 && c.count % group_size(c) != 0;
}

/// 104 pairs of type and op. 11 classes of call sites, without other roots, gaps and empty parts.
/// 1 to 8 ranks. Special values of 4 types and wide values of 8 types.
inline constexpr std::size_t all_cells = 104 + 11 + 8 + 4 + 8;

struct EngineTest : testing::Test {
  Catalogue catalogue = fake::catalogue();
  fake::FakeBackend backend;
  Unit unit = fake::unit("all_reduce");
  RunLimits limits;

  void plant(RunStatus status, const std::function<bool(const Case&)>& where = has_remainder) {
    backend.outcome = [=](const Case& c) { return where(c) ? status : RunStatus::completed; };
  }
  /// Checks this property.
  void use(const Property& property) {
    catalogue = fake::catalogue({property});
    unit.property = property.name;
  }
  Finding run() { return run_unit(catalogue, backend, unit, limits); }
  std::string outcome() { return outcome_of(run()); }
};

}  // namespace rankcheck::harness

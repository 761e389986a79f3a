#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"
#include "harness/base/hash.hpp"
#include "harness/search/generator.hpp"

#include "cases/backends/sim.hpp"
#include "tests/cases/collectives/spoiled.hpp"
#include "tests/harness/sample.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;

constexpr int cases_of_each_property = 3;

/// Returns the hash of a case's text and of its ranks' initial memory. The hash continues from
/// `before`.
std::uint64_t hash_of_case(const Case& c, std::uint64_t before) {
  std::uint64_t hash = harness::hash_of(to_text(c), before);
  for (int rank = 0; rank < harness::group_size(c); ++rank) {
    const harness::Image image = memory_before(c, rank);
    hash = harness::hash_of({reinterpret_cast<const char*>(image.data()), image.size()}, hash);
  }
  return hash;
}

/// Returns the hash of each operation's cases, in hexadecimal. The cases are drawn under seed 1 on
/// simulated devices.
std::map<std::string, std::string> drawn_cases() {
  const auto backend = open_sim({});
  std::map<std::string, std::string> drawn;
  for (const harness::Operation& operation : all_operations().operations()) {
    std::uint64_t hash = harness::hash_of("");
    for (const harness::Property& property : operation.properties) {
      harness::Unit unit = harness::sample_unit(std::string(operation.contract.name));
      unit.algorithm.clear();
      unit.property = property.name;
      harness::Generator generator(all_operations(), *backend, unit, 1);
      harness::RandomSource words(1);
      for (int k = 0; k < cases_of_each_property; ++k) {
        Case c;
        if (!generator.next(words.next(), 20 * k, c)) break;
        hash = hash_of_case(c, hash);
      }
    }
    drawn.emplace(operation.contract.name, fmt::format("{:016x}", hash));
  }
  return drawn;
}

/// Every later version must draw the same cases from a seed, and make the same inputs from a case.
/// The reason is that reports name cases by their text alone. A change that intends other cases
/// must write the file anew:
/// RANKCHECK_WRITE_IDENTITY=1 rankcheck_tests_unit --gtest_filter='IdentityTest.*'
TEST(IdentityTest, SeedsDrawTheCasesAndInputsThatTheyDrewBefore) {
  const auto file =
      std::filesystem::path(RANKCHECK_SOURCE_DIR) / "tests" / "cases" / "identity.json";
  const std::map<std::string, std::string> drawn = drawn_cases();
  if (std::getenv("RANKCHECK_WRITE_IDENTITY") != nullptr) {
    harness::write_file(file, nlohmann::json(drawn).dump(1) + "\n");
  }
  const auto before =
      nlohmann::json::parse(harness::read_file(file)).get<std::map<std::string, std::string>>();
  EXPECT_EQ(drawn, before);
}

}  // namespace
}  // namespace rankcheck::cases

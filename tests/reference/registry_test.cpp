#include "reference/collectives/registry.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "reference/ptycho/registry.hpp"

namespace rankcheck::reference {
namespace {

/// Why an operation has no test of its own reference; empty if it has one.
std::string why_untested(const std::string& family, const std::string& operation) {
  const std::string path = "tests/reference/" + family + "/" + operation + "_test.cpp";
  std::ifstream file(std::filesystem::path(RANKCHECK_SOURCE_DIR) / path);
  if (!file) return path + " is missing\n";
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (text.find("/references.hpp\"") == std::string::npos ||
      text.find("\nnamespace rankcheck::reference::" + operation + " {") == std::string::npos) {
    return path + " does not test the function of reference/" + family + "/references.hpp\n";
  }
  if (text.find("\nTEST(") == std::string::npos) return path + " has no test\n";
  return {};
}

/// All operations of a family that have no test of their own reference.
template <class Operations>
std::string untested(const std::string& family, const Operations& operations) {
  std::string complaints;
  for (const auto& each : operations) {
    complaints += why_untested(family, std::string(each.contract.name));
  }
  return complaints;
}

TEST(RegistryTest, EveryCollectiveHasATestOfItsReference) {
  EXPECT_GE(collectives().size(), 15U);
  EXPECT_EQ(untested("collectives", collectives()), "");
}

TEST(RegistryTest, EveryOperatorHasATestOfItsReference) {
  EXPECT_GE(ptycho().size(), 45U);
  EXPECT_EQ(untested("ptycho", ptycho()), "");
}

}  // namespace
}  // namespace rankcheck::reference

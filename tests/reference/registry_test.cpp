#include "reference/ptycho/registry.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "harness/base/files.hpp"

namespace rankcheck::reference {
namespace {

/// The text of all tests of operators' references.
std::string text_of_tests() {
  std::string text;
  const std::filesystem::path folder = RANKCHECK_SOURCE_DIR "/tests/reference/ptycho";
  for (const auto& each : std::filesystem::directory_iterator(folder)) {
    if (each.path().string().ends_with("_test.cpp")) text += harness::read_file(each.path());
  }
  return text;
}

/// collectives/references_test.cpp asks for the collectives.
TEST(RegistryTest, EveryOperatorHasATestOfItsReference) {
  EXPECT_GE(ptycho().size(), 45U);
  const std::string text = text_of_tests();
  for (const PtychoOperator& each : ptycho()) {
    const std::string call = std::string(each.contract.name) + "::reference";
    const bool is_called = text.find("(" + call) != std::string::npos ||
                           text.find("{" + call) != std::string::npos ||
                           text.find(" " + call) != std::string::npos;
    EXPECT_TRUE(is_called) << "no test in tests/reference/ptycho/ calls " << call;
  }
}

}  // namespace
}  // namespace rankcheck::reference

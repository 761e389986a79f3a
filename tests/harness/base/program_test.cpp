#include "harness/base/program.hpp"

#include <gtest/gtest.h>

namespace rankcheck::harness {
namespace {

/// tests/bundle/ tests the same without /proc.
TEST(ProgramTest, KnowsItsOwnFile) {
  EXPECT_EQ(own_program(), RANKCHECK_BINARY_DIR "/rankcheck_tests_unit");
}

}  // namespace
}  // namespace rankcheck::harness

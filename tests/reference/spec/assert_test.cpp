#include "reference/spec/assert.hpp"

#include <gtest/gtest.h>

namespace rankcheck::spec {
namespace {

TEST(AssertTest, EvaluatesAnInvariantOnce) {
  int evaluated = 0;
  RANKCHECK_ASSERT(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(AssertDeathTest, NamesABrokenInvariantAndItsPlace) {
  const int ranks = 0;
  EXPECT_DEATH(RANKCHECK_ASSERT(ranks > 0),
               "assert_test\\.cpp:[0-9]+: this invariant does not hold: ranks > 0");
}

}  // namespace
}  // namespace rankcheck::spec

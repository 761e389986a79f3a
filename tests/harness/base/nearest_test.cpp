#include "harness/base/nearest.hpp"

#include <gtest/gtest.h>

namespace rankcheck::harness {
namespace {

const std::vector<std::string> names{
    "all_gather", "all_reduce", "all_to_all", "reduce", "reduce_scatter", "ring"};

TEST(DidYouMeanTest, NamesWhatIsClose) {
  EXPECT_EQ(did_you_mean("all_redcue", names), "; did you mean all_reduce?");
  EXPECT_EQ(did_you_mean("rnig", names), "; did you mean ring?");
  EXPECT_EQ(did_you_mean("reducee", names), "; did you mean reduce?");
}

TEST(DidYouMeanTest, NamesWhatBeginsAlike) {
  EXPECT_EQ(did_you_mean("all", names), "; did you mean all_gather, all_reduce, all_to_all?");
  EXPECT_EQ(did_you_mean("red", names), "; did you mean reduce, reduce_scatter?");
}

TEST(DidYouMeanTest, IsSilentWhereNothingIsClose) {
  EXPECT_EQ(did_you_mean("broadcast", names), "");
  EXPECT_EQ(did_you_mean("", names), "");
  EXPECT_EQ(did_you_mean(std::string(1 << 20, 'a'), names), "");
}

}  // namespace
}  // namespace rankcheck::harness

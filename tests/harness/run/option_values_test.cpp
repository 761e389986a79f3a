#include "harness/run/option_values.hpp"

#include <gtest/gtest.h>

#include "harness/case/case.hpp"

namespace rankcheck::harness::run {
namespace {

TEST(OptionValuesTest, WholeNumbersAreDecimalDigits) {
  for (const char* each : {"0", "7", "10", "-3", "18446744073709551616"}) {
    EXPECT_TRUE(is_whole_number(each)) << each;
  }
  for (const char* each :
       {"", "-", "+5", "010", "0x10", "0b1", "0o7", "1e1", "1'000", "1_0", " 1"}) {
    EXPECT_FALSE(is_whole_number(each)) << each;
  }
}

TEST(OptionValuesTest, DecimalNumbersMayHaveAPointAndAnExponent) {
  for (const char* each : {"0", "1.5", ".5", "-2e-4", "1e1", "010"}) {
    EXPECT_TRUE(is_decimal_number(each)) << each;
  }
  for (const char* each : {"", "+1", "0x10", "inf", "nan", "1e999", "1 ", "1s", "0x1p3"}) {
    EXPECT_FALSE(is_decimal_number(each)) << each;
  }
}

TEST(OptionValuesTest, ListsHaveEachValueOnce) {
  EXPECT_EQ(split_list("--backend", "sim,mpi"), (std::vector<std::string>{"sim", "mpi"}));
  for (const char* each : {"", ",", "sim,", ",sim", "sim,,mpi", "sim,mpi,sim"}) {
    EXPECT_THROW((void)split_list("--backend", each), BadInput) << each;
  }
}

TEST(OptionValuesTest, ListsOfARepeatedOptionAreJoined) {
  using Names = std::vector<std::string>;
  const Names lists{"a,b", "c"};
  EXPECT_EQ(split_lists("--operation", lists), (Names{"a", "b", "c"}));
  const Names twice{"a,b", "c,a"};
  EXPECT_THROW((void)split_lists("--operation", twice), BadInput);
  EXPECT_EQ(split_all_backends("--backend", Names{"sim", "mpi,command:./w a,b"}),
            (Names{"sim", "mpi", "command:./w a,b"}));
  EXPECT_THROW((void)split_all_backends("--backend", Names{"sim", "mpi,sim"}), BadInput);
}

TEST(OptionValuesTest, EveryPatternMustMatchAName) {
  const std::set<std::string> names{"gather", "scatter"};
  EXPECT_NO_THROW(require_matches("operation", std::vector<std::string>{"g*", "scatter"}, names));
  EXPECT_NO_THROW(require_matches("operation", std::vector<std::string>{}, names));
  EXPECT_THROW(require_matches("operation", std::vector<std::string>{"gather", "scater"}, names),
               BadInput);
}

TEST(OptionValuesTest, AProgramTakesTheRestOfTheBackends) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(split_backends("--backend", "sim,mpi"), (Names{"sim", "mpi"}));
  EXPECT_EQ(split_backends("--backend", "command:./w a,b"), (Names{"command:./w a,b"}));
  EXPECT_EQ(split_backends("--backend", "sim,mpi,command:./w a,b:c"),
            (Names{"sim", "mpi", "command:./w a,b:c"}));
  EXPECT_THROW((void)split_backends("--backend", "sim,,command:./w"), BadInput);
}

}  // namespace
}  // namespace rankcheck::harness::run

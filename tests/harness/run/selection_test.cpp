#include "harness/run/selection.hpp"

#include <gtest/gtest.h>

#include "harness/case/case.hpp"
#include "harness/run/session.hpp"

namespace rankcheck::harness::run {
namespace {

using nlohmann::json;

TEST(SelectionTest, OnePatternIsATextAndSeveralAreAList) {
  Selection selection;
  selection.operations = {"gather"};
  selection.properties = {"is_*", "splits"};
  EXPECT_EQ(to_json(selection).dump(), R"({"operation":"gather","property":["is_*","splits"]})");
}

TEST(SelectionTest, PatternsAreReadInBothForms) {
  const Selection read = selection_from_json(
      json{{"operation", "gather"}, {"algorithm", {"ring", "tree"}}, {"property", "is_*"}});
  EXPECT_EQ(read.operations, std::vector<std::string>{"gather"});
  EXPECT_EQ(read.algorithms, (std::vector<std::string>{"ring", "tree"}));
  EXPECT_EQ(read.properties, std::vector<std::string>{"is_*"});
  EXPECT_THROW((void)selection_from_json(json{{"operation", 3}}), BadInput);
}

TEST(SelectionTest, FiltersAreComparedAsSets) {
  Selection before;
  before.operations = {"gather", "scatter"};
  before.ranks = {1, 4};
  Selection given;
  given.operations = {"scatter", "gather"};
  EXPECT_NO_THROW(require_unchanged("", before, given));
  given.operations = {"gather"};
  EXPECT_THROW(require_unchanged("", before, given), BadInput);
}

}  // namespace
}  // namespace rankcheck::harness::run

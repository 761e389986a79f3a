#include "harness/known/case_condition.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/case/family.hpp"

#include "tests/harness/text.hpp"

namespace rankcheck::harness {
namespace {

const Family* family() {
  return find_family("all_to_all_v");
}

CaseCondition condition(const std::string& field, const char* json) {
  return {.field = field, .value = ValueCondition(nlohmann::json::parse(json))};
}

Case sample() {
  return case_from_text(
      R"({"operation":"all_to_all_v","ranks":4,"group":[0,2],"counts":[0,5,1,2],"type":"int8"})");
}

bool holds(const std::string& field, const char* json) {
  return condition(field, json).holds(sample(), family());
}

std::string complaint(const std::string& field, const char* json) {
  return complaint_of<BadInput>([&] { require_sense(condition(field, json), family()); });
}

TEST(CaseConditionTest, ComparesAValueOrAListOfValues) {
  EXPECT_TRUE(holds("type", R"("int8")"));
  EXPECT_TRUE(holds("type", R"(["f32","int8"])"));
  EXPECT_FALSE(holds("type", R"(["f32"])"));
}

TEST(CaseConditionTest, ComparesAlsoFieldsThatHaveTheirDefaults) {
  EXPECT_TRUE(holds("offset", "0"));
  EXPECT_TRUE(holds("scale", R"({"min":1,"max":1})"));
  EXPECT_TRUE(holds("input", R"("general")"));
  EXPECT_TRUE(holds("gap", "[0,1]")) << "a field of the family";
  EXPECT_FALSE(holds("gap", R"({"min":1})"));
}

TEST(CaseConditionTest, ComparesWithARange) {
  EXPECT_TRUE(holds("ranks", R"({"min":2,"max":4})"));
  EXPECT_FALSE(holds("ranks", R"({"min":5})"));
  EXPECT_FALSE(holds("ranks", R"({"max":3})"));
}

TEST(CaseConditionTest, KnowsTheNumberOfMembers) {
  EXPECT_TRUE(holds("members", "2"));
  EXPECT_FALSE(holds("members", R"({"min":3})"));
}

TEST(CaseConditionTest, ComparesTheElementsOfAList) {
  EXPECT_TRUE(holds("counts", R"({"any":0})"));
  EXPECT_FALSE(holds("counts", R"({"each":{"min":1}})"));
  EXPECT_TRUE(holds("counts", R"({"each":{"max":5}})"));
  EXPECT_TRUE(holds("counts", R"({"length":4})"));
  EXPECT_TRUE(holds("counts", R"([[1],[0,5,1,2]])")) << "one of two lists";
}

TEST(CaseConditionTest, SaysNothingOfTheElementsOfAnEmptyList) {
  EXPECT_FALSE(holds("hosts", R"({"each":{"min":0}})"));
  EXPECT_FALSE(holds("hosts", R"({"any":{"min":0}})"));
  EXPECT_TRUE(holds("hosts", R"({"length":0})"));
}

TEST(CaseConditionTest, AGroupThatIsNotListedIsTheWholeWorld) {
  EXPECT_TRUE(holds("group", R"([[0,2]])"));
  Case world = sample();
  world.group.clear();
  const auto holds_in_world = [&](const char* json) {
    return condition("group", json).holds(world, family());
  };
  EXPECT_TRUE(holds_in_world(R"([[0,1,2,3]])"));
  EXPECT_TRUE(holds_in_world(R"({"any":0})"));
  EXPECT_TRUE(holds_in_world(R"({"length":4})"));
  EXPECT_FALSE(holds_in_world(R"({"each":{"min":1}})"));
}

TEST(CaseConditionTest, Negates) {
  EXPECT_FALSE(holds("type", R"({"not":"int8"})"));
  EXPECT_TRUE(holds("counts", R"({"not":{"any":{"min":6}}})"));
}

TEST(CaseConditionTest, DoesNotHoldForAFieldThatTheFamilyLacks) {
  EXPECT_FALSE(condition("gap", "0").holds(sample(), nullptr));
}

TEST(CaseConditionTest, RefusesConditionsWithoutAMeaning) {
  for (const char* json : {"[]",
                           "{}",
                           R"({"min":2,"max":1})",
                           R"({"least":1})",
                           R"({"min":"a"})",
                           R"({"any":1,"min":2})",
                           R"({"not":[]})"}) {
    EXPECT_THROW(ValueCondition(nlohmann::json::parse(json)), BadInput) << json;
  }
}

TEST(CaseConditionTest, SaysWhichFieldCannotBeCompared) {
  EXPECT_EQ(complaint("type", R"(["int8"])"), "");
  EXPECT_EQ(complaint("counts", R"({"any":{"min":1}})"), "");
  EXPECT_EQ(complaint("members", R"({"max":3})"), "");
  EXPECT_TRUE(
      has(complaint("typ", R"("int8")"), "typ: unknown field of a case; did you mean type"));
  EXPECT_TRUE(has(complaint("type", R"("int9")"), ", expected one of"));
  EXPECT_EQ(complaint("type", R"({"min":1})"), "type: min and max: expected a field with a number");
  EXPECT_EQ(complaint("ranks", R"({"any":1})"), "ranks: any: expected a field with a list");
  EXPECT_TRUE(has(complaint("counts", "3"), "counts: got 3, expected a list"));
  EXPECT_TRUE(has(complaint("members", R"("two")"), ", expected a whole number"));
}

}  // namespace
}  // namespace rankcheck::harness

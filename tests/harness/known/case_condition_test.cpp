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

CaseCondition condition_on(const std::string& field, const char* json) {
  return {.field = field, .value = ValueCondition(nlohmann::json::parse(json))};
}

Case sample() {
  return case_from_text(
      R"({"operation":"all_to_all_v","ranks":4,"group":[0,2],"counts":[0,5,1,2],"type":"int8"})");
}

std::string complaint(const std::string& field, const char* json) {
  return complaint_of<BadInput>([&] { require_sense(condition_on(field, json), family()); });
}

TEST(CaseConditionTest, ComparesWhatAFieldHolds) {
  struct Row {
    const char* field;
    const char* condition;
    bool holds;
  };
  for (const auto& [field, condition, expected] : {
           // A value, or a list of values.
           Row{"type", R"("int8")", true},
           Row{"type", R"(["f32","int8"])", true},
           Row{"type", R"(["f32"])", false},
           // Fields that have their defaults. The gap is a field of the family.
           Row{"offset", "0", true},
           Row{"scale", R"({"min":1,"max":1})", true},
           Row{"input", R"("general")", true},
           Row{"gap", "[0,1]", true},
           Row{"gap", R"({"min":1})", false},
           // Ranges, and the number of members.
           Row{"ranks", R"({"min":2,"max":4})", true},
           Row{"ranks", R"({"min":5})", false},
           Row{"ranks", R"({"max":3})", false},
           Row{"members", "2", true},
           Row{"members", R"({"min":3})", false},
           // The elements of a list, and one of two lists.
           Row{"counts", R"({"any":0})", true},
           Row{"counts", R"({"each":{"min":1}})", false},
           Row{"counts", R"({"each":{"max":5}})", true},
           Row{"counts", R"({"length":4})", true},
           Row{"counts", R"([[1],[0,5,1,2]])", true},
           // Nothing is said of the elements of an empty list.
           Row{"hosts", R"({"each":{"min":0}})", false},
           Row{"hosts", R"({"any":{"min":0}})", false},
           Row{"hosts", R"({"length":0})", true},
           Row{"group", R"([[0,2]])", true},
           // Negations.
           Row{"type", R"({"not":"int8"})", false},
           Row{"counts", R"({"not":{"any":{"min":6}}})", true},
       }) {
    EXPECT_EQ(condition_on(field, condition).holds(sample(), family()), expected)
        << field << ": " << condition;
  }
}

TEST(CaseConditionTest, AGroupThatIsNotListedIsTheWholeWorld) {
  Case world = sample();
  world.group.clear();
  const auto holds_in_world = [&](const char* json) {
    return condition_on("group", json).holds(world, family());
  };
  EXPECT_TRUE(holds_in_world(R"([[0,1,2,3]])"));
  EXPECT_TRUE(holds_in_world(R"({"any":0})"));
  EXPECT_TRUE(holds_in_world(R"({"length":4})"));
  EXPECT_FALSE(holds_in_world(R"({"each":{"min":1}})"));
}

TEST(CaseConditionTest, DoesNotHoldForAFieldThatTheFamilyLacks) {
  EXPECT_FALSE(condition_on("gap", "0").holds(sample(), nullptr));
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

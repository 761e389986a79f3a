#include "harness/backend/capabilities.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cases/families/collectives/case.hpp"
#include "tests/harness/fake.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness {
namespace {

using cases::collective;
using nlohmann::json;
using spec::ReduceOp;
using spec::Type;

Capabilities declared_as(const std::string& declared, bool are_inputs_sent = true) {
  return {"all_reduce", are_inputs_sent, json::parse(declared)};
}

std::string complaint_about(const std::string& declared) {
  return complaint_of<BadInput>([&] { return declared_as(declared); });
}

Case call_of_four() {
  Case c;
  c.operation = "all_reduce";
  c.ranks = 4;
  c.count = 3;
  collective(c).op = ReduceOp::sum;
  return c;
}

TEST(CapabilitiesTest, TakesOnlyTheDefaultOfWhatIsUndeclared) {
  const Capabilities none = declared_as(R"({"op":["sum"],"type":["f32"]})");
  EXPECT_EQ(none.why_refused(call_of_four()), "");
  const std::vector<std::pair<std::string, std::string>> rows{
      {R"("in_place":true)", "in_place: not offered, got true"},
      {R"("offset":3)", "offset: not offered, got 3"},
      {R"("chunk":2)", "chunk: not offered, got 2"},
      {R"("pending":true)", "pending: not offered, got true"},
      {R"("late":1)", "late: not offered, got 1"},
      {R"("schedule":"random:7")", "schedule: not offered, got \"random:7\""},
      {R"("fault":"drop")", "fault: not offered, got \"drop\""},
      {R"("gap":1)", "gap: not offered, got 1"},
      {R"("root":1)", "root: not offered, got 1"},
      {R"("group":[1,3])", "group: expected all ranks in order"},
  };
  for (const auto& [field, refusal] : rows) {
    json changed = to_json(call_of_four());
    changed.update(json::parse('{' + field + '}'));
    Case c = case_from_json(changed);
    EXPECT_EQ(none.why_refused(c), refusal);
    none.fit(c);
    EXPECT_EQ(none.why_refused(c), "") << field;
    EXPECT_EQ(c.count, 3) << field;
  }
}

/// The stages of repeated calls have no such field, so workers do not declare it.
TEST(CapabilitiesTest, TakesRepeatedCallsUndeclared) {
  const Capabilities none = declared_as(R"({"op":["sum"],"type":["f32"]})", false);
  Case c = call_of_four();
  collective(c).repeat = 2;
  EXPECT_EQ(none.why_refused(c), "");
  none.fit(c);
  EXPECT_EQ(collective(c).repeat, 2);
}

TEST(CapabilitiesTest, TakesValuesThatAreListed) {
  const Capabilities some =
      declared_as(R"({"op":["sum","max"],"type":["f64","f32"],"root":[0,2]})");
  Case c = call_of_four();
  EXPECT_EQ(some.why_refused(c), "");
  collective(c).op = ReduceOp::max;
  collective(c).root = 2;
  EXPECT_EQ(some.why_refused(c), "");
  collective(c).root = 1;
  EXPECT_EQ(some.why_refused(c), "root: not offered with 1");
  collective(c).root = 0;
  c.type = Type::int8;
  EXPECT_EQ(some.why_refused(c), "type: not offered with \"int8\"");
}

TEST(CapabilitiesTest, RefusesADefaultThatIsNotListed) {
  const Capabilities some = declared_as(R"({"op":"any","type":"any","in_place":[true]})");
  Case c = call_of_four();
  EXPECT_EQ(some.why_refused(c), "in_place: not offered with its default");
  some.fit(c);
  EXPECT_TRUE(c.in_place);
  EXPECT_EQ(some.why_refused(c), "");
}

TEST(CapabilitiesTest, FitsWithAValueThatIsListed) {
  const Capabilities some = declared_as(R"({"op":"any","type":"any","root":[2,3]})");
  std::vector<int> found;
  for (std::int64_t count = 1; count < 20; ++count) {
    Case c = call_of_four();
    c.count = count;
    some.fit(c);
    EXPECT_EQ(some.why_refused(c), "");
    found.push_back(collective(c).root);
  }
  EXPECT_EQ(std::count(found.begin(), found.end(), 2) + std::count(found.begin(), found.end(), 3),
            19);
  EXPECT_GT(std::count(found.begin(), found.end(), 2), 0);
  EXPECT_GT(std::count(found.begin(), found.end(), 3), 0);
}

TEST(CapabilitiesTest, KeepsACaseThatIsTaken) {
  const Capabilities all = declared_as(
      R"({"op":"any","type":"any","in_place":"any","offset":"any","group":"any","gap":"any"})");
  Case c = call_of_four();
  c.in_place = true;
  c.offset = 5;
  c.group = {3, 0};
  const Case before = c;
  EXPECT_EQ(all.why_refused(c), "");
  all.fit(c);
  EXPECT_EQ(c, before);
}

TEST(CapabilitiesTest, HasThreeKindsOfGroups) {
  Case c = call_of_four();
  c.group = {3, 1};
  const char* const sorted = R"({"op":["sum"],"group":"sorted"})";
  EXPECT_EQ(declared_as(R"({"op":["sum"],"group":"any"})").why_refused(c), "");
  EXPECT_EQ(declared_as(sorted).why_refused(c), "group: expected ascending ranks");
  declared_as(sorted).fit(c);
  EXPECT_EQ(c.group, (std::vector<int>{1, 3}));
  EXPECT_EQ(declared_as(sorted).why_refused(c), "");
  declared_as(R"({"op":["sum"],"group":"world"})").fit(c);
  EXPECT_TRUE(c.group.empty());
  EXPECT_EQ(c.ranks, 2);
}

TEST(CapabilitiesTest, TakesAWorldThatIsNamed) {
  Case c = call_of_four();
  c.group = {0, 1, 2, 3};
  EXPECT_EQ(declared_as(R"({"op":["sum"]})").why_refused(c), "");
  c.group = {0, 1, 2};
  EXPECT_EQ(declared_as(R"({"op":["sum"]})").why_refused(c), "group: expected all ranks in order");
}

TEST(CapabilitiesTest, LimitsTheMembers) {
  const Capabilities some =
      declared_as(R"({"op":["sum"],"ranks":{"min":2,"max":3},"group":"any"})");
  EXPECT_EQ(some.ranks_min(), 2);
  EXPECT_EQ(some.ranks_max(), 3);
  Case c = call_of_four();
  EXPECT_EQ(some.why_refused(c), "ranks: expected 2..3 members");
  c.group = {3};
  EXPECT_EQ(some.why_refused(c), "ranks: expected 2..3 members");
  c.group = {3, 0};
  EXPECT_EQ(some.why_refused(c), "");
}

TEST(CapabilitiesTest, MayLeaveEmptyPartsOut) {
  const Capabilities some = declared_as(R"({"op":["sum"],"empty":false})");
  Case c = call_of_four();
  c.count = 0;
  EXPECT_EQ(some.why_refused(c), "count: expected no empty part");
  EXPECT_EQ(declared_as(R"({"op":["sum"]})").why_refused(c), "");
  some.fit(c);
  EXPECT_EQ(c.count, 1);
  const Capabilities lists("gather_v", true, json::parse(R"({"empty":false})"));
  c = {};
  c.operation = "gather_v";
  c.ranks = 3;
  c.counts = {2, 0, 1};
  EXPECT_EQ(lists.why_refused(c), "count: expected no empty part");
  lists.fit(c);
  EXPECT_EQ(c.counts, (std::vector<std::int64_t>{2, 1, 1}));
}

TEST(CapabilitiesTest, TakesABarrierAndTilesThoughTheyHaveNoCount) {
  for (const char* text :
       {R"({"operation":"barrier","ranks":2})",
        R"({"operation":"halo_replace","ranks":2,"rows":8,"cols":8,"halo":1})"}) {
    const Case drawn = case_from_text(text);
    json takes{{"empty", false}};
    if (drawn.operation != "barrier") takes["halo"] = "any";
    const Capabilities some(drawn.operation, true, takes);
    EXPECT_EQ(some.why_refused(drawn), "") << text;
    Case c = drawn;
    some.fit(c);
    EXPECT_EQ(c, drawn) << text;
  }
}

TEST(CapabilitiesTest, TakesInputsThatNobodyDraws) {
  const Capabilities plain = declared_as(R"({"op":["sum"],"type":["f32"],"input":["coded"]})");
  Case c = call_of_four();
  c.input = InputKind::special;
  EXPECT_EQ(plain.why_refused(c), "input: not offered with \"special\"");
  for (const InputKind each : {InputKind::coded, InputKind::previous, InputKind::given}) {
    c.input = each;
    EXPECT_EQ(plain.why_refused(c), "") << name(each);
  }
}

TEST(CapabilitiesTest, TakesAllInputsThatAreSent) {
  Case c = call_of_four();
  c.input = InputKind::special;
  c.rotate = 1;
  c.scale = 3;
  collective(c).first_index = 9;
  const char* const declared = R"({"op":["sum"]})";
  EXPECT_EQ(declared_as(declared, true).why_refused(c), "");
  EXPECT_EQ(declared_as(declared, false).why_refused(c), "input: not offered, got \"special\"");
  c.input = InputKind::general;
  c.rotate = 0;
  c.scale = 1;
  EXPECT_EQ(declared_as(declared, false).why_refused(c), "first_index: not offered, got 9");
}

TEST(CapabilitiesTest, NamesWhatIsWrongInADeclaration) {
  EXPECT_EQ(complaint_about("[]"), "got [], expected a JSON object");
  EXPECT_TRUE(complaint_about(R"({"type":["f33"]})")
                  .starts_with("case: type: got \"f33\", expected one of int8,"));
  EXPECT_EQ(complaint_about(R"({"flavour":[1]})"), "case: flavour: unknown field");
  EXPECT_EQ(complaint_about(R"({"gap":3})"), "gap: expected \"any\" or a list of values");
  EXPECT_EQ(complaint_about(R"({"gap":[]})"), "gap: expected \"any\" or a list of values");
  EXPECT_EQ(complaint_about(R"({"group":"some"})"),
            "group: got \"some\", expected one of any, sorted, world");
  EXPECT_EQ(complaint_about(R"({"empty":1})"), "empty: got 1, expected true or false");
  EXPECT_EQ(complaint_about(R"({"ranks":{"most":3}})"), "ranks: most: unknown field");
}

}  // namespace
}  // namespace rankcheck::harness

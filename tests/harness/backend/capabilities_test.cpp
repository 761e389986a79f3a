#include "harness/backend/capabilities.hpp"

#include <map>
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

Capabilities declared_as(const std::string& declared, bool are_inputs_sent = true) {
  return {"all_reduce", are_inputs_sent, json::parse(declared)};
}

std::string complaint_about(const std::string& declared) {
  return complaint_of<BadInput>([&] { return declared_as(declared); });
}

/// An all_reduce of four ranks with these fields besides, as JSON.
Case call_of_four(const std::string& fields = "") {
  json all{{"operation", "all_reduce"}, {"ranks", 4}, {"count", 3}, {"op", "sum"}};
  all.update(json::parse('{' + fields + '}'));
  return case_from_json(all);
}

constexpr const char* sums = R"({"op":["sum"],"type":["f32"]})";

/// What is declared, fields of a call, and a complaint or other fields.
struct Row {
  std::string declared;
  std::string fields;
  std::string expected;
};

TEST(CapabilitiesTest, TakesOnlyTheDefaultOfWhatIsUndeclared) {
  const Capabilities none = declared_as(sums);
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
    Case c = call_of_four(field);
    EXPECT_EQ(none.why_refused(c), refusal);
    none.fit(c);
    EXPECT_EQ(none.why_refused(c), "") << field;
    EXPECT_EQ(c.count, 3) << field;
  }
}

TEST(CapabilitiesTest, SaysWhyACallIsRefused) {
  const std::string listed = R"({"op":["sum","max"],"type":["f64","f32"],"root":[0,2]})";
  const std::string two_or_three = R"({"op":["sum"],"ranks":{"min":2,"max":3},"group":"any"})";
  const std::string not_in_order = "group: expected all ranks in order";
  const std::string coded = R"({"op":["sum"],"type":["f32"],"input":["coded"]})";
  const std::vector<Row> rows{
      {listed, "", ""},
      {listed, R"("op":"max","root":2)", ""},
      {listed, R"("op":"max","root":1)", "root: not offered with 1"},
      {listed, R"("op":"max","type":"int8")", "type: not offered with \"int8\""},
      {R"({"op":["sum"],"group":"any"})", R"("group":[3,1])", ""},
      {R"({"op":["sum"]})", R"("group":[0,1,2,3])", ""},
      {R"({"op":["sum"]})", R"("group":[0,1,2])", not_in_order},
      {R"({"op":["sum"]})", R"("count":0)", ""},
      {R"({"op":["sum"],"empty":false})", R"("count":0)", "count: expected no empty part"},
      {R"({"op":["sum"],"group":"sorted"})", R"("group":[3,1])", "group: expected ascending ranks"},
      {R"({"op":["sum"],"in_place":[true]})", "", "in_place: not offered with its default"},
      {two_or_three, "", "ranks: expected 2..3 members"},
      {two_or_three, R"("group":[3])", "ranks: expected 2..3 members"},
      {two_or_three, R"("group":[3,0])", ""},
      // Nobody draws the inputs of the last two kinds.
      {coded, R"("input":"special")", "input: not offered with \"special\""},
      {coded, R"("input":"coded")", ""},
      {coded, R"("input":"previous")", ""},
      {coded, R"("input":"given")", ""},
  };
  for (const auto& [declared, fields, refusal] : rows) {
    EXPECT_EQ(declared_as(declared).why_refused(call_of_four(fields)), refusal)
        << declared << " " << fields;
  }
  EXPECT_EQ(declared_as(two_or_three).ranks_min(), 2);
  EXPECT_EQ(declared_as(two_or_three).ranks_max(), 3);
}

TEST(CapabilitiesTest, FitsACallToWhatIsTaken) {
  const std::string taken = R"("in_place":true,"offset":5,"group":[3,0])";
  const std::vector<Row> rows{
      {R"({"op":["sum"],"in_place":[true]})", "", R"("in_place":true)"},
      {R"({"op":["sum"],"group":"sorted"})", R"("group":[3,1])", R"("group":[1,3])"},
      {R"({"op":["sum"],"group":"world"})", R"("group":[3,1])", R"("ranks":2)"},
      {R"({"op":["sum"],"empty":false})", R"("count":0)", R"("count":1)"},
      {R"({"op":"any","in_place":"any","offset":"any","group":"any","gap":"any"})", taken, taken},
  };
  for (const auto& [declared, fields, fitting_fields] : rows) {
    const Capabilities some = declared_as(declared);
    Case c = call_of_four(fields);
    some.fit(c);
    EXPECT_EQ(c, call_of_four(fitting_fields)) << declared;
    EXPECT_EQ(some.why_refused(c), "") << declared;
  }
  EXPECT_EQ(declared_as(rows.back().declared).why_refused(call_of_four(taken)), "");
}

/// The stages of repeated calls have no such field, so workers do not declare it.
TEST(CapabilitiesTest, TakesRepeatedCallsUndeclared) {
  const Capabilities none = declared_as(sums, false);
  Case c = call_of_four(R"("repeat":2)");
  EXPECT_EQ(none.why_refused(c), "");
  none.fit(c);
  EXPECT_EQ(collective(c).repeat, 2);
}

TEST(CapabilitiesTest, FitsWithAValueThatIsListed) {
  const Capabilities some = declared_as(R"({"op":"any","type":"any","root":[2,3]})");
  std::map<int, int> found;
  for (int count = 1; count < 20; ++count) {
    Case c = call_of_four(R"("count":)" + std::to_string(count));
    some.fit(c);
    EXPECT_EQ(some.why_refused(c), "");
    ++found[collective(c).root];
  }
  EXPECT_EQ(found[2] + found[3], 19);
  EXPECT_GT(found[2], 0);
  EXPECT_GT(found[3], 0);
}

TEST(CapabilitiesTest, MayLeaveEmptyPartsOfListsOut) {
  const Capabilities lists("gather_v", true, json::parse(R"({"empty":false})"));
  Case c = case_from_text(R"({"operation":"gather_v","ranks":3,"counts":[2,0,1]})");
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

TEST(CapabilitiesTest, TakesAllInputsThatAreSent) {
  const char* const declared = R"({"op":["sum"]})";
  const Case special = call_of_four(R"("input":"special","rotate":1,"scale":3,"first_index":9)");
  EXPECT_EQ(declared_as(declared, true).why_refused(special), "");
  EXPECT_EQ(declared_as(declared, false).why_refused(special),
            "input: not offered, got \"special\"");
  EXPECT_EQ(declared_as(declared, false).why_refused(call_of_four(R"("first_index":9)")),
            "first_index: not offered, got 9");
}

TEST(CapabilitiesTest, NamesWhatIsWrongInADeclaration) {
  EXPECT_EQ(complaint_about("[]"), "got [], expected a JSON object");
  EXPECT_TRUE(begins(complaint_about(R"({"type":["f33"]})"),
                     "case: type: got \"f33\", expected one of int8,"));
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

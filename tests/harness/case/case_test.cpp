#include "harness/case/case.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cases/families/collectives/case.hpp"
#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/symmetry.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness {
namespace {

using cases::collective;
using cases::ptycho;
using cases::Symmetry;

using nlohmann::json;

/// A field of a case and a change to a value that is not its default.
struct Changed {
  std::string field;
  std::function<void(Case& c)> change;
  /// An operation whose cases have the field.
  std::string operation = "all_reduce";
};

Case plain(const std::string& operation = "all_reduce") {
  Case c;
  c.operation = operation;
  return c;
}

std::vector<Changed> changes() {
  return {
      {"operation", [](Case& c) { c.operation = "broadcast"; }},
      {"algorithm", [](Case& c) { c.algorithm = "ring"; }},
      {"backend", [](Case& c) { c.backend = "mpi"; }},
      {"property", [](Case& c) { c.property = "splits"; }},
      {"ranks", [](Case& c) { c.ranks = 3; }},
      {"group",
       [](Case& c) {
         c.group.assign({2, 0});
       }},
      {"root", [](Case& c) { collective(c).root = 1; }},
      {"count", [](Case& c) { c.count = std::numeric_limits<std::int64_t>::max(); }},
      {"counts",
       [](Case& c) {
         c.counts.assign({0, 5, 1});
       }},
      {"gap", [](Case& c) { collective(c).gap = 2; }},
      {"outer", [](Case& c) { collective(c).outer = 2; }},
      {"inner", [](Case& c) { collective(c).inner = 0; }},
      {"send_stride", [](Case& c) { collective(c).send_stride = 2; }},
      {"recv_stride", [](Case& c) { collective(c).recv_stride = 3; }},
      {"type", [](Case& c) { c.type = spec::Type::bf16; }},
      {"op", [](Case& c) { collective(c).op = spec::ReduceOp::premul_sum; }},
      {"pattern", [](Case& c) { collective(c).pattern = spec::Pattern::pairs; }},
      {"shift", [](Case& c) { collective(c).shift = -2; }},
      {"in_place", [](Case& c) { c.in_place = true; }},
      {"offset", [](Case& c) { c.offset = 3; }},
      {"chunk", [](Case& c) { c.chunk = 4; }},
      {"pending", [](Case& c) { c.pending = true; }},
      {"late", [](Case& c) { c.late = 1; }},
      {"repeat", [](Case& c) { collective(c).repeat = 2; }},
      {"input", [](Case& c) { c.input = InputKind::wide_range; }},
      {"data_seed", [](Case& c) { c.data_seed = std::numeric_limits<std::uint64_t>::max(); }},
      {"rotate", [](Case& c) { c.rotate = 1; }},
      {"first_index", [](Case& c) { collective(c).first_index = 7; }},
      {"index_stride", [](Case& c) { collective(c).index_stride = 9; }},
      {"scale", [](Case& c) { c.scale = -1; }},
      {"added_seed", [](Case& c) { c.added_seed = 6; }},
      {"varied", [](Case& c) { ptycho(c).varied = spec::Array::probe; }, "crop"},
      {"halvings", [](Case& c) { ptycho(c).halvings = 5; }, "crop"},
      {"form", [](Case& c) { ptycho(c).symmetry = Symmetry::twin; }, "crop"},
      {"schedule", [](Case& c) { c.schedule = "pct:9"; }},
      {"fault", [](Case& c) { c.fault = "lost:3"; }},
  };
}

/// No field accepts an object. The complaint names the field, the given value and the expected
/// one.
TEST(CaseFieldTest, SurvivesAsTextUnderItsNameAndComplainsByIt) {
  for (const Changed& each : changes()) {
    Case c = plain(each.operation);
    each.change(c);
    EXPECT_EQ(case_from_text(to_text(c)), c) << each.field;
    json written = to_json(plain(each.operation));
    EXPECT_NE(json(to_json(c))[each.field], written[each.field]) << each.field;
    written[each.field] = json{{"a", 1}};
    EXPECT_TRUE(begins(complaint_of<BadInput>([&] { return case_from_json(written); }),
                       "case: " + each.field + ": got {\"a\":1}, expected "));
  }
}

TEST(CaseTest, EveryFieldIsTried) {
  Case all = plain();
  std::size_t fields = 0;
  for (const Changed& each : changes()) {
    if (each.operation != plain().operation) continue;
    each.change(all);
    ++fields;
  }
  EXPECT_EQ(to_json(all).size(), fields);
}

TEST(CaseTest, DefaultsAreLeftOut) {
  EXPECT_EQ(to_text(plain()),
            R"({"operation":"all_reduce","backend":"sim","ranks":1,"type":"f32"})");
}

TEST(CaseTest, FieldsComeInAFixedOrder) {
  EXPECT_EQ(
      to_text(case_from_text(R"({"data_seed":7,"count":4,"ranks":2,"operation":"barrier"})")),
      R"({"operation":"barrier","backend":"sim","ranks":2,"count":4,"type":"f32","data_seed":7})");
}

template <class Enum, class Field>
void expect_names_survive(const Field& field, int last) {
  for (int value = 0; value <= last; ++value) {
    Case c = plain();
    field(c) = static_cast<Enum>(value);
    EXPECT_EQ(case_from_text(to_text(c)), c) << to_text(c);
  }
}

TEST(CaseTest, EveryNameSurvives) {
  expect_names_survive<spec::Type>(
      [](Case & c) -> auto& { return c.type; }, static_cast<int>(spec::type_table.size()) - 1);
  expect_names_survive<spec::ReduceOp>(
      [](Case & c) -> auto& { return collective(c).op; },
      static_cast<int>(spec::reduce_op_names.size()) - 1);
  expect_names_survive<InputKind>(
      [](Case & c) -> auto& { return c.input; }, static_cast<int>(InputKind::given));
  expect_names_survive<spec::Pattern>(
      [](Case & c) -> auto& { return collective(c).pattern; },
      static_cast<int>(spec::Pattern::one_way));
}

/// Returns the complaint about a case. It is one line.
std::string complaint_about_case(const std::string& text) {
  std::string complaint = complaint_of<BadInput>([&] { return case_from_text(text); });
  EXPECT_FALSE(has(complaint, "\n"));
  return complaint;
}

/// Returns a case with one more field, as JSON.
std::string with(const std::string& field) {
  return R"({"operation":"barrier","ranks":2,)" + field + "}";
}

TEST(BadCaseTest, IsExplainedInOneLineThatNamesTheFieldAndWhatItMayBe) {
  const std::string int32 = ", expected a whole number in -2147483648..2147483647";
  const std::vector<std::pair<std::string, std::string>> rows{
      {R"({"ranks":2})", "operation: the field is missing, expected a value"},
      {R"({"operation":"barrier"})", "ranks: the field is missing, expected a value"},
      {"[1]", "got [1], expected a JSON object"},
      {"7", "got 7, expected a JSON object"},
      {R"({"ranks" 2})", R"(not JSON at byte 10: {"ranks" 2})"},
      {R"({"ranks":)", "not JSON at byte 10: "},
      {"", "not JSON at byte 1: "},
      {with(R"("rank":1)"), "rank: unknown field; did you mean ranks?"},
      {with(R"("count":null)"), "count: got null, expected a whole number in "},
      {with(R"("root":"1")"), "root: got \"1\"" + int32},
      {with(R"("root":1.5)"), "root: got 1.5" + int32},
      {with(R"("root":3000000000)"), "root: got 3000000000" + int32},
      {with(R"("root":-3000000000)"), "root: got -3000000000" + int32},
      {with(R"("data_seed":-1)"),
       "data_seed: got -1, expected a whole number in 0..18446744073709551615"},
      {with(R"("group":1)"), "group: got 1, expected a list"},
      {with(R"("group":[0,true])"), "group: got true" + int32},
      {with(R"("in_place":1)"), "in_place: got 1, expected true or false"},
      {with(R"("type":"f31")"), "type: got \"f31\", expected one of int8, uint8, "},
      {with(R"("op":"xor")"), "op: got \"xor\", expected one of none, sum, prod, "},
      {with(R"("pattern":"star")"),
       "pattern: got \"star\", expected one of ring, pairs, self, one_way"},
      {with(R"("input":"x")"),
       "input: got \"x\", expected one of exact, coded, general, cancelling, wide_range, special, "
       "each_special, fine, previous, given, edge"},
  };
  for (const auto& [text, complaint] : rows) {
    EXPECT_TRUE(begins(complaint_about_case(text), "case: " + complaint)) << text;
  }
}

TEST(CaseTest, LongValuesAreCutInComplaints) {
  const std::string complaint =
      complaint_about_case(with(R"("root":")" + std::string(1000, 'x') + '"'));
  EXPECT_TRUE(begins(complaint, "case: root: got "));
  EXPECT_LT(complaint.size(), 200U);
}

TEST(GroupTest, HasAllRanksUnlessMembersAreNamedInTheirOrder) {
  Case c = plain();
  c.ranks = 3;
  EXPECT_EQ(members(c), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(group_size(c), 3);
  c.group = {2, 1};
  EXPECT_EQ(members(c), (std::vector<int>{2, 1}));
  EXPECT_EQ(group_size(c), 2);
  c.group.clear();
  c.ranks = -1;
  EXPECT_TRUE(members(c).empty());
}

TEST(GroupTest, CallIsThatOfTheGroup) {
  Case c = plain();
  for (const Changed& each : changes()) {
    if (each.operation == plain().operation) each.change(c);
  }
  const spec::Call call = cases::collective_call(c);
  EXPECT_EQ(call.ranks, 2);
  EXPECT_EQ(call.root, collective(c).root);
  EXPECT_EQ(call.type, c.type);
  EXPECT_EQ(call.op, collective(c).op);
  EXPECT_EQ(call.count, c.count);
  EXPECT_EQ(call.counts, c.counts);
  EXPECT_EQ(call.gap, collective(c).gap);
  EXPECT_EQ(call.pattern, collective(c).pattern);
  EXPECT_EQ(call.shift, collective(c).shift);
}

TEST(CaseTest, NumbersBeyondAllDoublesAreBadInput) {
  EXPECT_EQ(complaint_about_case(R"({"operation":"x","ranks":1,"wavelength":1e999})"),
            "case: a number is too large, expected at most 1.8e308");
}

}  // namespace
}  // namespace rankcheck::harness

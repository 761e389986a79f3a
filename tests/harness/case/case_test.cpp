#include "harness/case/case.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cases/families/collectives/case.hpp"
#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/symmetry.hpp"
#include "tests/print.hpp"

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

  friend void PrintTo(const Changed& each, std::ostream* out) { *out << each.field; }
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
         c.group = {2, 0};
       }},
      {"root", [](Case& c) { collective(c).root = 1; }},
      {"count", [](Case& c) { c.count = std::numeric_limits<std::int64_t>::max(); }},
      {"counts",
       [](Case& c) {
         c.counts = {0, 5, 1};
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

class CaseFieldTest : public testing::TestWithParam<Changed> {
 protected:
  Case changed() const {
    Case c = plain(GetParam().operation);
    GetParam().change(c);
    return c;
  }
};

TEST_P(CaseFieldTest, SurvivesAsText) {
  EXPECT_EQ(case_from_text(to_text(changed())), changed());
}

TEST_P(CaseFieldTest, IsWrittenUnderItsName) {
  EXPECT_NE(to_json(changed())[GetParam().field],
            to_json(plain(GetParam().operation))[GetParam().field]);
}

/// No field accepts an object. The complaint names the field, the given value and the expected
/// one.
TEST_P(CaseFieldTest, ComplainsByName) {
  json bad = to_json(plain(GetParam().operation));
  bad[GetParam().field] = json{{"a", 1}};
  try {
    static_cast<void>(case_from_json(bad));
    FAIL() << "an object was taken";
  } catch (const BadInput& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("case: " + GetParam().field + ": got {\"a\":1}, expected "))
        << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Field, CaseFieldTest, testing::ValuesIn(changes()), tests::printed_name);

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

TEST(CaseTest, EveryTypeSurvives) {
  expect_names_survive<spec::Type>(
      [](Case & c) -> auto& { return c.type; }, static_cast<int>(spec::type_table.size()) - 1);
}
TEST(CaseTest, EveryOpSurvives) {
  expect_names_survive<spec::ReduceOp>(
      [](Case & c) -> auto& { return collective(c).op; },
      static_cast<int>(spec::reduce_op_names.size()) - 1);
}
TEST(CaseTest, EveryInputKindSurvives) {
  expect_names_survive<InputKind>(
      [](Case & c) -> auto& { return c.input; }, static_cast<int>(InputKind::given));
}
TEST(CaseTest, EveryPatternSurvives) {
  expect_names_survive<spec::Pattern>(
      [](Case & c) -> auto& { return collective(c).pattern; },
      static_cast<int>(spec::Pattern::one_way));
}

struct Bad {
  std::string name;
  std::string text;
  std::string complaint;

  friend void PrintTo(const Bad& each, std::ostream* out) { *out << each.name; }
};

class BadCaseTest : public testing::TestWithParam<Bad> {};

TEST_P(BadCaseTest, IsExplainedInOneLine) {
  try {
    static_cast<void>(case_from_text(GetParam().text));
    FAIL() << "it was taken";
  } catch (const BadInput& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, GetParam().complaint.size()),
              GetParam().complaint);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  }
}

/// Returns a case in which only one field is bad.
std::string with(const std::string& field) {
  return R"({"operation":"barrier","ranks":2,)" + field + "}";
}

const std::string int32_expected = ", expected a whole number in -2147483648..2147483647";

INSTANTIATE_TEST_SUITE_P(
    Bad,
    BadCaseTest,
    testing::Values(
        Bad{"no_operation",
            R"({"ranks":2})",
            "case: operation: the field is missing, expected a value"},
        Bad{"no_ranks",
            R"({"operation":"barrier"})",
            "case: ranks: the field is missing, expected a value"},
        Bad{"list", "[1]", "case: got [1], expected a JSON object"},
        Bad{"number", "7", "case: got 7, expected a JSON object"},
        Bad{"unknown_field", with(R"("rank":1)"), "case: rank: unknown field; did you mean ranks?"},
        Bad{"null", with(R"("count":null)"), "case: count: got null, expected a whole number in "},
        Bad{"text_for_number", with(R"("root":"1")"), "case: root: got \"1\"" + int32_expected},
        Bad{"fraction", with(R"("root":1.5)"), "case: root: got 1.5" + int32_expected},
        Bad{"too_large",
            with(R"("root":3000000000)"),
            "case: root: got 3000000000" + int32_expected},
        Bad{"too_small",
            with(R"("root":-3000000000)"),
            "case: root: got -3000000000" + int32_expected},
        Bad{"negative_seed",
            with(R"("data_seed":-1)"),
            "case: data_seed: got -1, expected a whole number in 0..18446744073709551615"},
        Bad{"no_list", with(R"("group":1)"), "case: group: got 1, expected a list"},
        Bad{"bad_element", with(R"("group":[0,true])"), "case: group: got true" + int32_expected},
        Bad{"number_for_bool",
            with(R"("in_place":1)"),
            "case: in_place: got 1, expected true or false"},
        Bad{"unknown_type",
            with(R"("type":"f31")"),
            "case: type: got \"f31\", expected one of int8, uint8, "},
        Bad{"unknown_op",
            with(R"("op":"xor")"),
            "case: op: got \"xor\", expected one of none, sum, prod, "},
        Bad{"unknown_pattern",
            with(R"("pattern":"star")"),
            "case: pattern: got \"star\", expected one of ring, pairs, self, one_way"},
        Bad{"unknown_input",
            with(R"("input":"x")"),
            "case: input: got \"x\", expected one of exact, coded, general, cancelling, "
            "wide_range, "
            "special, each_special, fine, previous, given, edge"},
        Bad{"not_json", R"({"ranks" 2})", R"(case: not JSON at byte 10: {"ranks" 2})"},
        Bad{"cut_off", R"({"ranks":)", "case: not JSON at byte 10: "},
        Bad{"empty", "", "case: not JSON at byte 1: "}),
    tests::printed_name);

TEST(CaseTest, LongValuesAreCutInComplaints) {
  try {
    static_cast<void>(case_from_text(with(R"("root":")" + std::string(1000, 'x') + '"')));
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_LT(std::string(error.what()).size(), 200U);
  }
}

TEST(GroupTest, AllRanksAreMembersWhereNoneAreNamed) {
  Case c = plain();
  c.ranks = 3;
  EXPECT_EQ(members(c), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(group_size(c), 3);
}

TEST(GroupTest, MembersKeepTheirOrder) {
  Case c = plain();
  c.ranks = 4;
  c.group = {3, 1};
  EXPECT_EQ(members(c), (std::vector<int>{3, 1}));
  EXPECT_EQ(group_size(c), 2);
}

TEST(GroupTest, CountlessRanksHaveNoMembers) {
  Case c = plain();
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
  try {
    static_cast<void>(case_from_text(R"({"operation":"x","ranks":1,"wavelength":1e999})"));
    FAIL();
  } catch (const BadInput& bad) {
    EXPECT_STREQ(bad.what(), "case: a number is too large, expected at most 1.8e308");
  }
}

}  // namespace
}  // namespace rankcheck::harness

#include "harness/compare/report_parser.hpp"

#include <gtest/gtest.h>

#include "harness/base/json_text.hpp"
#include "harness/case/case.hpp"

#include "tests/harness/text.hpp"

namespace rankcheck::harness::compare {
namespace {

using nlohmann::ordered_json;

/// A report's text, parsed.
struct Parsed {
  explicit Parsed(const std::string& text, const SkippedFields& skipped = {})
      : rest(parse_report(
            text, "file", skipped, [this](ordered_json finding, std::vector<std::string> names) {
              findings.push_back(std::move(finding));
              cells.push_back(std::move(names));
            })) {}

  std::vector<ordered_json> findings;
  std::vector<std::vector<std::string>> cells;
  ReportRest rest;
};

TEST(ReportParserTest, HandsOverFindingsAndTheirCells) {
  const Parsed parsed(R"({"run": {"seed": 1}, "total": {"a": [1, {"b": 2}]}, "findings": [
      {"id": "x", "cells": {"f32/sum": 3, "f64\/sum": 4}, "power": {"elements": 5}},
      {"id": "y", "cells": {}, "minimal": {"z": [1.5, null, true], "a": "text"}}],
      "summary": [{"findings": [{"id": "no finding"}]}], "ending": "completed"})");
  ASSERT_EQ(parsed.findings.size(), 2U);
  EXPECT_EQ(parsed.findings[0].dump(), R"({"id":"x","cells":{},"power":{"elements":5}})");
  EXPECT_EQ(parsed.cells[0], (std::vector<std::string>{"f32/sum", "f64/sum"}));
  EXPECT_EQ(parsed.findings[1]["minimal"].dump(), R"({"z":[1.5,null,true],"a":"text"})")
      << "in the order of the text";
  EXPECT_TRUE(parsed.cells[1].empty());
  EXPECT_EQ(parsed.rest.json.dump(), R"({"run":{"seed":1},"findings":[],"ending":"completed"})");
}

TEST(ReportParserTest, LeavesSkippedFieldsOut) {
  const Parsed parsed(R"({"findings": [{"wrong": [{"cells": {"a": 1}}], "id": "x", "marks": "..",
      "values": {"wrong": {"id": 3}}, "cells": {"b": 2}, "cases": 4}], "wrong": 5})",
                      {"marks", "values", "wrong"});
  EXPECT_EQ(parsed.findings.at(0).dump(), R"({"id":"x","cells":{},"cases":4})");
  EXPECT_EQ(parsed.cells[0], std::vector<std::string>{"b"});
  EXPECT_EQ(parsed.rest.json["wrong"], 5) << "this is no field of a finding";
}

TEST(ReportParserTest, TakesTheDurationsOut) {
  const Parsed parsed(R"({"environment": {"host": "h", "durations_s": {"x": 0.5, "y": 2},
      "backends": {"x": 7}}, "durations_s": {"z": 1}})");
  EXPECT_EQ(parsed.rest.durations, (std::map<std::string, double>{{"x", 0.5}, {"y", 2}}));
  EXPECT_EQ(parsed.rest.json["environment"]["backends"].dump(), R"({"x":7})");
  EXPECT_EQ(parsed.rest.json["durations_s"].dump(), R"({"z":1})");
}

TEST(ReportParserTest, KeepsWhatIsNoReport) {
  for (const char* text : {"7",
                           "[]",
                           R"([{"findings":[{"id":1}]}])",
                           R"({"findings":7})",
                           R"({"findings":{"a":{"b":1}}})",
                           R"({"environment":[[1]]})"}) {
    const Parsed parsed(text);
    EXPECT_EQ(parsed.rest.json.dump(), text);
    EXPECT_TRUE(parsed.findings.empty());
  }
}

TEST(ReportParserTest, RefusesWhatIsNoJson) {
  const std::string deep(json_depth_max + 1, '[');
  for (const std::string& text : {std::string("{"),
                                  std::string("{} x"),
                                  std::string(),
                                  deep + std::string(deep.size(), ']'),
                                  R"({"findings": [{"wrong": )" + deep}) {
    EXPECT_THROW(Parsed(text, {"wrong"}), BadInput) << text;
  }
  const std::string allowed(json_depth_max, '[');
  EXPECT_TRUE(Parsed(allowed + std::string(allowed.size(), ']')).rest.json.is_array());
}

TEST(ReportParserTest, NamesAFindingThatIsNoObject) {
  for (const char* wrong : {"7", "[]", "\"text\"", "null"}) {
    const std::string text = std::string(R"({"findings": [{"id": "x"}, )") + wrong + "]}";
    EXPECT_EQ(complaint_of<BadInput>([&] { return Parsed(text).rest; }),
              "file: findings[1]: expected an object")
        << wrong;
  }
}

}  // namespace
}  // namespace rankcheck::harness::compare

#include "harness/base/json_text.hpp"

#include <string>

#include <gtest/gtest.h>

namespace rankcheck::harness {
namespace {

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(ParseJsonTest, ReadsJson) {
  EXPECT_EQ(parse_json(R"({"a":[1,"x"]})")["a"][1], "x");
  EXPECT_EQ(parse_json<nlohmann::ordered_json>(R"({"b":1,"a":2})").dump(), R"({"b":1,"a":2})");
}

TEST(ParseJsonTest, DiscardsWhatIsNoJson) {
  for (const char* text : {"", "{", "]", "nan", "1e999", "\"\xff\"", "{} {}"}) {
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
  }
}

TEST(WhyNotJsonTest, SaysWhere) {
  EXPECT_EQ(why_not_json("{"), "is not JSON at byte 2");
  EXPECT_EQ(why_not_json("[1 2]\n"), "is not JSON at byte 4");
  EXPECT_EQ(why_not_json("[1,\n  2 3]"), "is not JSON at line 2, byte 5");
  EXPECT_EQ(why_not_json(" \n"), "is empty, expected JSON");
  EXPECT_EQ(why_not_json("[1e999]"), "has a number that is too large, expected at most 1.8e308");
  EXPECT_EQ(why_not_json(nested(65)), "is not JSON: has more than 64 open brackets");
}

TEST(ParseJsonTest, DiscardsDeepNesting) {
  EXPECT_TRUE(parse_json(nested(64)).is_array());
  EXPECT_TRUE(parse_json(nested(65)).is_discarded());
  EXPECT_TRUE(parse_json(nested(1 << 20)).is_discarded());
  const std::string object = R"({"a":)" + nested(64) + "}";
  EXPECT_TRUE(parse_json(object).is_discarded());
}

TEST(ParseJsonTest, CountsOnlyBracketsThatAreOpenOutsideOfText) {
  std::string wide = "[[]";
  for (int i = 0; i < 1000; ++i) wide += ",[{}]";
  EXPECT_TRUE(parse_json(wide + "]").is_array());
  EXPECT_TRUE(parse_json(R"(["\"[\\",")" + std::string(1000, '[') + R"("])").is_array());
}

}  // namespace
}  // namespace rankcheck::harness

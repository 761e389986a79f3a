#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rankcheck/detail/json.hpp>

#include "tests/harness/text.hpp"

namespace rankcheck::detail {
namespace {

Json read(const std::string& text) {
  return JsonReader(text).read();
}

std::string complaint(const std::string& text) {
  return harness::complaint_of<ProtocolError>([&] { return read(text); });
}

TEST(JsonReaderTest, ReadsAMessage) {
  const Json header = read(R"( {"run":12, "case":{"type":"f32","in_place":true,"group":[1,0]},
      "blocks":[[0,12],[64,8]],"none":null,"empty":{},"nothing":[]} )");
  EXPECT_EQ(header.at("run").integer(), 12);
  EXPECT_EQ(header.at("case").at("type").text, "f32");
  EXPECT_EQ(header.at("case").at("in_place").text, "true");
  EXPECT_EQ(header.at("case").at("group").integers(), (std::vector<int>{1, 0}));
  EXPECT_EQ(header.at("blocks").items.at(1).sizes(), (std::vector<std::size_t>{64, 8}));
  EXPECT_EQ(header.at("none").kind, Json::Kind::null);
  EXPECT_EQ(header.at("empty").kind, Json::Kind::record);
  EXPECT_TRUE(header.at("nothing").items.empty());
  EXPECT_EQ(header.find("absent"), nullptr);
}

TEST(JsonReaderTest, KeepsNumbersAsTheyAreWritten) {
  EXPECT_EQ(read("18446744073709551615").text, "18446744073709551615");
  EXPECT_EQ(read("-9223372036854775808").integer(), INT64_MIN);
  EXPECT_EQ(read("1.5e-3").text, "1.5e-3");
}

TEST(JsonReaderTest, UnderstandsEscapes) {
  EXPECT_EQ(read(R"("a\"\\\/\b\f\n\r\tz")").text, "a\"\\/\b\f\n\r\tz");
  EXPECT_EQ(read(R"("\u0041\u00e9\u20ac\ud83d\ude00")").text, "A\u00e9\u20ac\U0001F600");
}

TEST(JsonReaderTest, ComplainsAboutWhatIsNoJson) {
  EXPECT_EQ(complaint(""), "JSON: expected a value at byte 0");
  EXPECT_EQ(complaint("[1,"), "JSON: expected a value at byte 3");
  EXPECT_EQ(complaint("[1 2]"), "JSON: expected a comma or ] at byte 3");
  EXPECT_EQ(complaint(R"({"a" 1})"), "JSON: expected a colon at byte 5");
  EXPECT_EQ(complaint(R"({a:1})"), "JSON: expected a name in quotes at byte 1");
  EXPECT_EQ(complaint(R"({"a":1)"), "JSON: expected a comma or } at byte 6");
  EXPECT_EQ(complaint("\"a"), "JSON: expected a closing quote at byte 1");
  EXPECT_EQ(complaint("\"\\"), "JSON: expected an escape at byte 2");
  EXPECT_EQ(complaint(R"("\x")"), "JSON: expected an escape at byte 3");
  EXPECT_EQ(complaint(R"("\u12")"), "JSON: expected four hexadecimal digits at byte 3");
  EXPECT_EQ(complaint(R"("\ud83d")"), "JSON: expected the second half of a character at byte 7");
  EXPECT_EQ(complaint("1 2"), "JSON: expected the end at byte 2");
  EXPECT_EQ(complaint("yes"), "JSON: expected a value at byte 0");
  EXPECT_NE(complaint(std::string(100000, '[')).find("nested"), std::string::npos);
}

TEST(JsonReaderTest, NamesWhatIsMissingOrOfAnotherKind) {
  const Json header = read(R"({"run":"12","big":99999999999999999999,"bytes":-1})");
  EXPECT_THROW(static_cast<void>(header.at("stage")), ProtocolError);
  EXPECT_THROW(static_cast<void>(header.at("run").integer()), ProtocolError);
  EXPECT_THROW(static_cast<void>(header.at("big").integer()), ProtocolError);
  EXPECT_THROW(static_cast<void>(header.at("bytes").size()), ProtocolError);
}

TEST(JsonWriterTest, TextComesBack) {
  const std::string text = "a \"quoted\" \\ line\nwith \x01 and \u20ac";
  EXPECT_EQ(nlohmann::json::parse(json_string(text)).get<std::string>(), text);
  EXPECT_EQ(read(json_string(text)).text, text);
  EXPECT_EQ(listed(std::vector<std::string>{"a", "b"}, json_string), R"(["a","b"])");
  EXPECT_EQ(listed(std::vector<std::string>{}, json_string), "[]");
}

}  // namespace
}  // namespace rankcheck::detail

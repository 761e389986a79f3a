#include "harness/page/page.hpp"

#include <gtest/gtest.h>

#include "harness/base/files.hpp"

#include "tests/harness/page/page_text.hpp"
#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness::page {
namespace {

using nlohmann::ordered_json;
using spec::Type;

Report with(std::vector<Finding> findings) {
  Report report = report_of(std::move(findings));
  report.run = {{"seed", 1}};
  report.environment = ordered_json::object();
  return report;
}

TEST(PageTest, WithoutItsScriptItShowsTheVerdictAndTheFailures) {
  const std::string page = to_html(with({sample_failure(), passed("gather")}));
  EXPECT_TRUE(has(page, "<title>rankcheck: failed</title>"));
  EXPECT_TRUE(has(page, ">Failed: 1 failed (1 falsified), 1 passed, of 2 units.</h1>"));
  EXPECT_TRUE(has(page, "rankcheck replay '{\"operation\":\"all_reduce\""));
}

TEST(PageTest, CarriesTheReport) {
  const Report report = with({sample_failure(), passed("gather")});
  const ordered_json data = data_of(to_html(report));
  EXPECT_EQ(data["verdict"], "Failed: 1 failed (1 falsified), 1 passed, of 2 units.");
  ordered_json carried = data["report"];
  carried["findings"][0] = to_json(report.findings[0]);
  ordered_json whole = to_json(report);
  whole.erase("summary");
  EXPECT_EQ(carried, whole);
}

TEST(PageTest, AFindingHasWhatItsCardShows) {
  const ordered_json finding = to_page_json(sample_failure());
  const ordered_json& page = finding["page"];
  EXPECT_TRUE(page["replay"].get<std::string>().starts_with(
      "rankcheck replay '{\"operation\":\"all_reduce\""));
  EXPECT_EQ(page["says"], ordered_json({"The contribution of rank 2 is missing."}));
  EXPECT_EQ(page["cause"], 0);
  EXPECT_EQ(page["changes"], ordered_json({{"ranks", "5", "3"}, {"count", "65535", "1"}}));
  EXPECT_FALSE(to_page_json(passed("gather")).contains("page"));
  Finding unknown = sample_failure();
  unknown.wrong[0].decoded = "";
  unknown.original = {};
  EXPECT_FALSE(to_page_json(unknown)["page"].contains("cause"));
  EXPECT_FALSE(to_page_json(unknown)["page"].contains("changes"));
}

TEST(PageTest, BitsBecomeValues) {
  Finding failure = sample_failure();
  failure.minimal->type = spec::Type::f32;
  failure.wrong[0].got = "0x3fc00000";
  EXPECT_EQ(to_page_json(failure)["wrong"][0]["got"], "1.5 (0x3fc00000)");
}

/// A script's numbers have 53 bits.
TEST(PageTest, LargeIntegersStayExact) {
  const std::uint64_t large = 18446744073709551615U;
  const ordered_json sent{{"list", {large, 9007199254740991, -9007199254740993}}, {"half", 0.5}};
  const ordered_json got = data_of(document({.title = "", .verdict = "", .text = ""}, sent));
  EXPECT_EQ(got["list"],
            ordered_json({"18446744073709551615", 9007199254740991, "-9007199254740993"}));
  EXPECT_EQ(got["half"], 0.5);
}

TEST(PageTest, HostileTextStaysText) {
  Finding failure = sample_failure();
  failure.unit.operation = "<script>alert(1)</script>";
  failure.reason = "<b>&";
  const std::string page = to_html(with({failure}));
  EXPECT_FALSE(has(page, "<script>alert"));
  EXPECT_TRUE(has(page, "&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_TRUE(has(page, "&lt;b&gt;&amp;"));
  const std::string hostile = document(
      {.title = "<!--data-->", .verdict = "<!--summary-->", .text = "<!--data-->"}, {{"a", 1}});
  EXPECT_EQ(data_of(hostile)["a"], 1);
}

TEST(PageTest, LoadsNothing) {
  const std::string page = to_html(sample_report());
  EXPECT_TRUE(has(page, "default-src 'none'"));
  for (const char* each : {"http://", "https://", "src=", "@import", "url("}) {
    // The only address is the name of SVG's elements.
    const std::size_t at = page.find(each);
    if (at == std::string::npos) continue;
    EXPECT_EQ(page.substr(at, 27), "http://www.w3.org/2000/svg'");
    EXPECT_EQ(page.find(each, at + 1), std::string::npos) << each;
  }
}

TEST(PageTest, EqualReportsGiveEqualPages) {
  EXPECT_EQ(to_html(sample_report()), to_html(sample_report()));
}

TEST(PageTest, IsWrittenBesideTheReport) {
  const TemporaryFolder folder;
  write_page(folder.path(), sample_report());
  EXPECT_EQ(read_file(folder.path() / "report.html"), to_html(sample_report()));
}

TEST(PackedTest, UnpacksToTheSameBytes) {
  // The lengths of these have all remainders by three.
  for (const char* each : {"", "a", "ab", "abc", "abcd", "\xff\xfe", "{\"a\":1}"}) {
    EXPECT_EQ(unpacked(packed(each)), each);
  }
  std::string large(1'000'000, 'x');
  for (std::size_t i = 0; i < large.size(); ++i) large[i] = static_cast<char>(i * i >> 7);
  EXPECT_EQ(unpacked(packed(large)), large);
}

TEST(PackedTest, IsShorterThanWhatRepeats) {
  EXPECT_LT(packed(std::string(1'000'000, 'x')).size(), 3000U);
}

/// A script can only read what has these first bytes: those of gzip, without a time.
TEST(PackedTest, HasTheFormatOfGzip) {
  EXPECT_TRUE(packed("text").starts_with("H4sIAAAAAAAAA"));
}

TEST(PageValuesTest, BitsBecomeValues) {
  EXPECT_EQ(as_value(Type::f32, "0x3fc00000"), "1.5 (0x3fc00000)");
  EXPECT_EQ(as_value(Type::f32, "0x00000001"), "1.40129846e-45 (0x00000001)");
  EXPECT_EQ(as_value(Type::f64, "0xbff0000000000000"), "-1 (0xbff0000000000000)");
  EXPECT_EQ(as_value(Type::f16, "0xfc00"), "-inf (0xfc00)");
  EXPECT_EQ(as_value(Type::bf16, "0x7fc0"), "nan (0x7fc0)");
  EXPECT_EQ(as_value(Type::int8, "0xff"), "-1 (0xff)");
  EXPECT_EQ(as_value(Type::uint8, "0xff"), "255 (0xff)");
  EXPECT_EQ(as_value(Type::int64, "0x8000000000000000"),
            "-9223372036854775808 (0x8000000000000000)");
}

TEST(PageValuesTest, EightBitFloatsFollowTheirTypes) {
  EXPECT_EQ(as_value(Type::f8e4m3, "0x7e"), "448 (0x7e)");
  EXPECT_EQ(as_value(Type::f8e4m3, "0x7f"), "nan (0x7f)");
  EXPECT_EQ(as_value(Type::f8e5m2, "0x7c"), "inf (0x7c)");
}

TEST(PageValuesTest, ComplexNumbersHaveTheirRealPartInTheLowBits) {
  EXPECT_EQ(as_value(Type::complex64, "0x400000003f800000"), "1 + 2i (0x400000003f800000)");
}

TEST(PageValuesTest, OtherTextStays) {
  EXPECT_EQ(as_value(Type::f32, "1.5"), "1.5");
  EXPECT_EQ(as_value(Type::f32, "0x3fc0"), "0x3fc0") << "not as many digits as f32 has";
  EXPECT_EQ(as_value(Type::f32, "0xnothings"), "0xnothings");
}

}  // namespace
}  // namespace rankcheck::harness::page

#include "harness/base/table.hpp"

#include <gtest/gtest.h>

namespace rankcheck::harness {
namespace {

Table sample() {
  Table table({{"name"}, {"n", Align::right}});
  table.add({"a|b", "1"});
  table.add({"µ", "200"});
  return table;
}

TEST(TableTest, TextIsAligned) {
  EXPECT_EQ(sample().text(),
            "name    n\n"
            "a|b     1\n"
            "µ     200\n");
}

TEST(TableTest, WideLastColumnGoesOnBelow) {
  Table table({{"n", Align::right}, {"words"}});
  table.add({"1", "short"});
  table.add({"20", "one two three four five six seven"});
  EXPECT_EQ(table.text(30),
            " n  words\n"
            " 1  short\n"
            "20  one two three four five\n"
            "    six seven\n");
  EXPECT_EQ(table.text(200), table.text());
}

TEST(TableTest, WordIsNeverCut) {
  Table table({{"a"}, {"b"}});
  table.add({"x", "a-word-of-more-than-twenty-four-characters y"});
  EXPECT_EQ(table.text(10), "a  b\nx  a-word-of-more-than-twenty-four-characters\n   y\n");
}

TEST(TableTest, LastColumnMayBeNarrow) {
  Table table({{"a"}, {"b"}});
  table.add({"x", "one two three"});
  EXPECT_EQ(table.text(10, 8), "a  b\nx  one two\n   three\n");
}

TEST(WrappedTest, BreaksBetweenWords) {
  EXPECT_EQ(wrapped("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(wrapped("one two three", 80, 2), "one two three");
  EXPECT_EQ(wrapped("a-word-that-is-too-long b", 5, 0), "a-word-that-is-too-long\nb");
  EXPECT_EQ(wrapped("µµ µµ µ", 5, 0), "µµ µµ\nµ");
  EXPECT_EQ(wrapped("", 5, 2), "");
}

TEST(TableTest, MarkdownEscapesBars) {
  EXPECT_EQ(sample().markdown(),
            "| name | n |\n"
            "| --- | ---: |\n"
            "| a\\|b | 1 |\n"
            "| µ | 200 |\n");
}

TEST(FirstOfTest, CountsWhatItLeavesOut) {
  const std::vector<std::string> names{"a", "b", "c"};
  EXPECT_EQ(first_of(names, 2), "a, b and 1 more");
  EXPECT_EQ(first_of(names, 3), "a, b, c");
  EXPECT_EQ(first_of({}, 2), "");
}

TEST(GroupedTest, PutsCommasBetweenThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-1000), "-1,000");
}

TEST(CountedTest, HasASingular) {
  EXPECT_EQ(counted(1, "batch", "batches"), "1 batch");
  EXPECT_EQ(counted(0, "batch", "batches"), "0 batches");
  EXPECT_EQ(counted(1234, "batch", "batches"), "1,234 batches");
}

TEST(PrintableTest, TakesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("red \x1b[31m\n\ttab"), "red ?[31m  tab");
  EXPECT_EQ(printable("µ \xff \xc2"), "µ ? ?");
}

TEST(ShellQuotedTest, IsOneWordToAShell) {
  EXPECT_EQ(shell_quoted("build/release/rankcheck"), "build/release/rankcheck");
  EXPECT_EQ(shell_quoted(R"({"a":1})"), R"('{"a":1}')");
  EXPECT_EQ(shell_quoted("it's"), R"('it'\''s')");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(ShortenedTest, LeavesOutTheMiddleOfALongText) {
  EXPECT_EQ(shortened("a short text", 12), "a short text");
  EXPECT_EQ(shortened("0123456789abcdefghij", 15), "01234 ... fghij");
  // Characters of several bytes stay whole.
  EXPECT_EQ(shortened("\u00d7\u00d7\u00d7\u00d7\u00d7\u00d7\u00d7\u00d7", 12),
            "\u00d7 ... \u00d7\u00d7");
}

TEST(ShortenedTest, LeavesOutTheMiddlesOfLongWordsFirst) {
  const std::string path(60, 'p');
  const std::string value(80, 'v');
  const std::string text = path + ": got " + value + ", expected a short one";
  ASSERT_EQ(text.size(), 168U);
  // Without its two long words, with their colon and comma, the text has 26 bytes. So each of them
  // gets 52, of which " ... " takes 5.
  EXPECT_EQ(shortened(text, 130),
            std::string(23, 'p') + " ... " + std::string(23, 'p') + ": got " +
                std::string(23, 'v') + " ... " + std::string(23, 'v') + ", expected a short one");
  EXPECT_EQ(shortened(text, 168), text);
}

TEST(ShortenedTest, LeavesOutTheMiddleOfManyShortWords) {
  EXPECT_EQ(shortened("one two three four five six seven eight nine ten", 45),
            "one two three four f ... seven eight nine ten");
}

}  // namespace
}  // namespace rankcheck::harness

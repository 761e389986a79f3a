#include "harness/report/journal.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/case/fields.hpp"
#include "harness/check/finding_json.hpp"

#include "tests/harness/report/journal_text.hpp"
#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness {
namespace {

using nlohmann::ordered_json;

class JournalTest : public testing::Test {
 protected:
  static JournalHeader header() {
    JournalHeader header;
    header.run = {{"seed", 7}};
    header.directory = "/somewhere";
    for (const char* each : {"all_reduce", "broadcast", "gather"}) {
      header.units.push_back(sample_unit(each));
    }
    header.units.back().types = {spec::Type::f32};
    header.pinned[header.units.front().id()] = *sample_failure().minimal;
    header.environment = {{"rankcheck", "0"}};
    return header;
  }

  void write_two_findings() {
    Journal journal(path_, header());
    journal.append({.round = 0, .finding = passed("broadcast")});
    journal.append({.round = 0, .finding = sample_failure()});
  }

  /// Returns the complaint about reading the journal. It begins with the path, which is left out.
  std::string complaint() {
    const std::string all = complaint_of<BadInput>([&] { return read_journal(path_); });
    const std::string place = path_.string() + ": ";
    EXPECT_TRUE(all.empty() || begins(all, place)) << all;
    return all.substr(std::min(place.size(), all.size()));
  }

  void append_raw(const std::string& text) { std::ofstream(path_, std::ios::app) << text; }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "journal.jsonl";
};

TEST_F(JournalTest, KeepsNotes) {
  Journal(path_, header()).note({{"b", 1}, {"a", 2}});
  Journal(path_, read_journal(path_), ordered_json::object()).note({{"c", 3}});
  EXPECT_EQ(read_journal(path_).record.notes(),
            (std::vector<ordered_json>{{{"b", 1}, {"a", 2}}, {{"c", 3}}}));
}

TEST_F(JournalTest, HoldsWhatTheRunSetOutToDo) {
  write_two_findings();
  const JournalHeader read = read_journal(path_).record.header();
  EXPECT_EQ(read.run.dump(), R"({"seed":7})");
  EXPECT_EQ(read.directory, "/somewhere");
  ASSERT_EQ(read.units.size(), 3U);
  EXPECT_EQ(to_json(read.units[2]), to_json(header().units[2]));
  EXPECT_EQ(read.pinned, header().pinned);
  EXPECT_EQ(read.environment, header().environment);
}

TEST_F(JournalTest, HoldsWhatWasAppended) {
  write_two_findings();
  const Record record = read_journal(path_).record;
  EXPECT_EQ(to_json(*record.finding(0)), to_json(sample_failure()));
  EXPECT_TRUE(record.is_done(0, 1));
  EXPECT_FALSE(record.is_done(1, 1));
  EXPECT_FALSE(record.finding(2));
}

TEST_F(JournalTest, KnowsTheTimeThatAKilledSessionTook) {
  Journal(path_, header()).append({.finding = sample_failure(), .at_s = 2.5});
  EXPECT_EQ(read_journal(path_).record.spent_s(), 2.5);
}

TEST_F(JournalTest, KeepsTheTimeThatAUnitTook) {
  {
    Journal journal(path_, header());
    journal.append({.finding = sample_failure(), .at_s = 2.5, .took_s = 0.5});
    journal.append({.round = 1, .finding = sample_failure(), .at_s = 4, .took_s = 1});
    journal.append({.finding = sample_finding("gather", Verdict::skipped)});
  }
  const ordered_json durations = read_journal(path_).record.report().environment["durations_s"];
  EXPECT_EQ(durations, (ordered_json{{sample_failure().unit.id(), 1.5}}))
      << "the rounds are added, and a unit that was not run has no time";
}

TEST_F(JournalTest, ReportsWhatTheRunItselfDoes) {
  Report reported;
  {
    Journal journal(path_, header());
    journal.append({.round = 0, .finding = sample_failure()});
    journal.append({.round = 0, .finding = passed("gather"), .whole = false});
    journal.end({.ending = "time_over", .rounds = 1, .finished = "then", .duration_s = 0.1});
    reported = journal.record().report();
  }
  EXPECT_EQ(reported.findings.size(), 2U);
  EXPECT_EQ(reported.not_run, 1);
  EXPECT_EQ(to_json(read_journal(path_).record.report()).dump(), to_json(reported).dump());
}

TEST_F(JournalTest, DeepNestingOrAnEmptyFileIsNoJournal) {
  const std::string deep = std::string(1 << 18, '[') + std::string(1 << 18, ']');
  append_raw(R"({"journal_version":2,"run":{"x":)" + deep + "}}\n");
  EXPECT_EQ(complaint(), "line 1: is not JSON: has more than 64 open brackets");
  write_file(path_, "");
  EXPECT_THROW(static_cast<void>(read_journal(path_)), BadInput);
}

TEST_F(JournalTest, TornLastLineIsDropped) {
  write_two_findings();
  const auto whole = std::filesystem::file_size(path_);
  append_raw(R"({"round":0,"find)");
  const JournalContent content = read_journal(path_);
  EXPECT_TRUE(content.record.finding(0));
  EXPECT_EQ(content.lines.whole_bytes, whole);
}

TEST_F(JournalTest, ResumingGoesOnBehindTheLastWholeLine) {
  write_two_findings();
  append_raw(R"({"round":0,"find)");
  Journal(path_, read_journal(path_), {{"rankcheck", "1"}})
      .append({.round = 1, .finding = passed("gather")});
  const Record record = read_journal(path_).record;
  EXPECT_TRUE(record.is_done(1, 2));
  EXPECT_TRUE(record.is_done(0, 0));
  EXPECT_EQ(record.header().environment["rankcheck"], "0");
  EXPECT_EQ(record.report().environment["rankcheck"], "1");
}

TEST_F(JournalTest, LineThatDoesNotFitIsNamed) {
  write_two_findings();
  const std::string good = read_file(path_);
  const auto complaint_behind = [&](const std::string& line) {
    write_file(path_, good + line + "\n{}\n");
    return complaint();
  };
  EXPECT_EQ(complaint_behind("nonsense"), "line 4: is not JSON at byte 2");
  EXPECT_TRUE(begins(complaint_behind(line_of({{"round", 0}, {"finding", ordered_json::object()}})),
                     "line 4: finding: id: "));
  EXPECT_EQ(complaint_behind("{\"resumed\":{}}"),
            "line 4: crc32: expected a checksum on every line or on none");
  const std::size_t last = good.rfind('\n', good.size() - 2) + 1;
  EXPECT_EQ(complaint_behind(good.substr(last, good.size() - 1 - last)),
            "line 4: finding: all_reduce/ring/sim/agrees_with_reference: got a second, expected "
            "one in round 0");
}

TEST_F(JournalTest, FindingOfAnotherRunIsNamed) {
  write_two_findings();
  JournalHeader stranger = header();
  stranger.units.push_back(sample_unit("scatter"));
  Journal(folder_.path() / "other", stranger).append({.round = 0, .finding = passed("scatter")});
  const std::string text = read_file(folder_.path() / "other");
  append_raw(text.substr(text.find('\n') + 1));
  EXPECT_EQ(complaint(),
            "line 4: finding: scatter/ring/sim/agrees_with_reference: expected a unit of the "
            "journal's first line");
}

TEST_F(JournalTest, OtherVersionIsRefused) {
  append_raw("{\"journal_version\":99}\n");
  EXPECT_EQ(complaint(),
            "line 1: journal_version: got 99, expected " + std::to_string(journal_version));
}

TEST_F(JournalTest, BytesThatAreNotTextDoNotStopIt) {
  Journal journal(path_, header());
  Finding finding = sample_failure();
  finding.reason = "last words: \xff\xfe";
  journal.append({.round = 0, .finding = finding});
  EXPECT_TRUE(read_journal(path_).record.finding(0));
}

TEST_F(JournalTest, FlippedBitsAreRefused) {
  write_two_findings();
  const std::string text = read_file(path_);
  const std::size_t last_line = 8 * text.rfind('\n', text.size() - 2);
  // The last newline is not changed: without it, the line counts as incomplete.
  const std::size_t bits = 8 * (text.size() - 1);
  // Every byte of the last line is changed, each time in another bit.
  for (std::size_t bit = 0; bit < bits; bit += bit < last_line ? 71 : 7) {
    std::string changed = text;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    write_file(path_, changed);
    EXPECT_NE(complaint(), "") << bit;
  }
}

TEST_F(JournalTest, LineOfAJournalIsJsonThatEndsWithItsChecksum) {
  EXPECT_EQ(line_of({{"a", 1}}), R"({"a":1,"crc32":"a702fc6e"})");
}

TEST_F(JournalTest, JournalWithoutChecksumsIsRead) {
  write_two_findings();
  const std::string report = to_json(read_journal(path_).record.report()).dump();
  EXPECT_TRUE(read_journal(path_).lines.has_checksums);
  write_file(path_, without_checksums(read_file(path_)));
  EXPECT_FALSE(read_journal(path_).lines.has_checksums);
  EXPECT_EQ(to_json(read_journal(path_).record.report()).dump(), report);
}

TEST_F(JournalTest, NegativeCountsAreNamed) {
  const auto complaint_about = [&](const std::string& name) {
    write_two_findings();
    std::string text = read_file(path_);
    text.insert(text.rfind("\"" + name + "\":") + name.size() + 3, "-");
    write_file(path_, with_checksums(text));
    return complaint();
  };
  for (const char* name :
       {"cases", "compared_bytes", "wrong_count", "shrinks", "replays", "replays_failed"}) {
    EXPECT_TRUE(begins(complaint_about(name), fmt::format("line 3: finding: {}: got -", name)));
  }
  EXPECT_TRUE(
      begins(complaint_about(R"(cells":{"f32/sum)"), "line 3: finding: cells: f32/sum: got -"));
}

TEST_F(JournalTest, NoMoreStepsThanShrinksAreRead) {
  write_two_findings();
  std::string changed = read_file(path_);
  const std::string all = "\"shrinks\":4";
  changed.replace(changed.rfind(all), all.size(), "\"shrinks\":2");
  write_file(path_, with_checksums(changed));
  EXPECT_EQ(complaint(),
            "line 3: finding: steps: got 3, expected at most 40, and no more than shrinks");
}

TEST_F(JournalTest, SecondWriterIsRefused) {
  const Journal first(path_, header());
  const JournalContent content = read_journal(path_);
  EXPECT_THROW(Journal(path_, content, {}), FileError);
}

}  // namespace
}  // namespace rankcheck::harness

#include "harness/journal.hpp"

#include <fstream>

#include <gtest/gtest.h>

#include "tests/harness/sample.hpp"

namespace rankcheck::harness {
namespace {

class JournalTest : public testing::Test {
 protected:
  void write_two_findings() {
    Journal journal(path_, JournalHeader{.run = {{"seed", 7}}, .units = 3, .environment = {}});
    journal.append({.round = 0, .finding = sample_finding("broadcast", Verdict::passed)});
    journal.append({.round = 0, .finding = sample_failure()});
  }

  void append_raw(const std::string& text) { std::ofstream(path_, std::ios::app) << text; }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "journal.jsonl";
};

TEST_F(JournalTest, HoldsWhatWasAppended) {
  write_two_findings();
  const JournalContent content = read_journal(path_);
  EXPECT_EQ(content.header.run.dump(), R"({"seed":7})");
  EXPECT_EQ(content.header.units, 3);
  ASSERT_EQ(content.entries.size(), 2U);
  EXPECT_EQ(to_json(content.entries[1].finding), to_json(sample_failure()));
}

TEST_F(JournalTest, TornLastLineIsDropped) {
  write_two_findings();
  const auto whole = std::filesystem::file_size(path_);
  append_raw(R"({"round":0,"find)");
  const JournalContent content = read_journal(path_);
  EXPECT_EQ(content.entries.size(), 2U);
  EXPECT_EQ(content.whole_bytes, whole);
}

TEST_F(JournalTest, ResumingGoesOnBehindTheLastWholeLine) {
  write_two_findings();
  append_raw(R"({"round":0,"find)");
  {
    Journal journal(path_, read_journal(path_));
    journal.append({.round = 1, .finding = sample_finding("gather", Verdict::passed)});
  }
  const JournalContent content = read_journal(path_);
  ASSERT_EQ(content.entries.size(), 3U);
  EXPECT_EQ(content.entries[2].round, 1);
}

TEST_F(JournalTest, BrokenLineInTheMiddleIsNamed) {
  write_two_findings();
  append_raw("nonsense\n{}\n");
  try {
    static_cast<void>(read_journal(path_));
    FAIL() << "expected BadInput";
  } catch (const BadInput& bad) {
    EXPECT_NE(std::string(bad.what()).find("line 4: expected JSON"), std::string::npos)
        << bad.what();
  }
}

TEST_F(JournalTest, EmptyFileIsNoJournal) {
  append_raw("");
  std::ofstream(path_) << "";
  EXPECT_THROW(static_cast<void>(read_journal(path_)), BadInput);
}

TEST_F(JournalTest, OtherVersionIsRefused) {
  append_raw("{\"journal_version\":99,\"units\":0,\"run\":{}}\n");
  EXPECT_THROW(static_cast<void>(read_journal(path_)), BadInput);
}

TEST_F(JournalTest, BytesThatAreNotTextDoNotStopIt) {
  Journal journal(path_, JournalHeader{.run = {{"seed", 7}}, .units = 1, .environment = {}});
  Finding finding = sample_failure();
  finding.reason = "last words: \xff\xfe";
  journal.append({.round = 0, .finding = finding});
  EXPECT_EQ(read_journal(path_).entries.size(), 1U);
}

TEST_F(JournalTest, SecondWriterIsRefused) {
  const Journal first(path_, JournalHeader{.run = {{"seed", 7}}, .units = 1, .environment = {}});
  const JournalContent content = read_journal(path_);
  EXPECT_THROW(Journal(path_, content), FileError);
}

TEST(LineFile, FullDiskIsOneClearError) {
  LineFile file("/dev/full");
  try {
    file.append("a line");
    FAIL() << "expected FileError";
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(), "cannot write: /dev/full: No space left on device");
  }
}

TEST(WriteFile, LeavesNothingBehindWhereItFails) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "taken");
  EXPECT_THROW(write_file(folder.path() / "taken", "text"), FileError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteFile, ReplacesTheOldContent) {
  const TemporaryFolder folder;
  write_file(folder.path() / "file", "a long old text");
  write_file(folder.path() / "file", "new");
  EXPECT_EQ(read_file(folder.path() / "file"), "new");
}

}  // namespace
}  // namespace rankcheck::harness

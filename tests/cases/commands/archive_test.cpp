#include "cases/commands/archive.hpp"

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <zip.h>

#include "harness/base/files.hpp"
#include "harness/case/fields.hpp"

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::cases {
namespace {

namespace fs = std::filesystem;

class ArchiveTest : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    harness::write_file(folder_ / name, text);
  }

  /// Returns text that no compression makes shorter.
  static std::string noise(std::size_t bytes) {
    std::mt19937 engine(1);
    std::string text(bytes, '\0');
    for (char& each : text) each = static_cast<char>(engine());
    return text;
  }

  /// Returns the files of an archive and their content.
  static std::map<std::string, std::string> content(const fs::path& path) {
    std::map<std::string, std::string> files;
    zip_t* archive = ::zip_open(path.c_str(), ZIP_RDONLY, nullptr);
    if (archive == nullptr) return files;
    for (std::int64_t i = 0; i < ::zip_get_num_entries(archive, 0); ++i) {
      zip_stat_t entry;
      ::zip_stat_index(archive, static_cast<std::uint64_t>(i), 0, &entry);
      std::string text(entry.size, '\0');
      zip_file_t* file = ::zip_fopen_index(archive, static_cast<std::uint64_t>(i), 0);
      ::zip_fread(file, text.data(), text.size());
      ::zip_fclose(file);
      files[entry.name] = text;
    }
    ::zip_close(archive);
    return files;
  }

  harness::TemporaryFolder parent_;
  fs::path folder_ = parent_.path() / "run";
  fs::path archive_ = parent_.path() / "run.zip";
};

TEST_F(ArchiveTest, HoldsEveryFileOfTheFolder) {
  put("report.json", "{}");
  put("suites/journal.jsonl", "one\ntwo\n");
  EXPECT_TRUE(write_archive(folder_, archive_).empty());
  const std::map<std::string, std::string> expected{{"report.json", "{}"},
                                                    {"suites/journal.jsonl", "one\ntwo\n"}};
  EXPECT_EQ(content(archive_), expected);
  // A later archive replaces the first one.
  put("report.json", "{1}");
  EXPECT_TRUE(write_archive(folder_, archive_).empty());
  EXPECT_EQ(content(archive_).at("report.json"), "{1}");
}

TEST_F(ArchiveTest, LeavesItselfOut) {
  put("report.json", "{}");
  for (int i = 0; i < 2; ++i) write_archive(folder_, folder_ / "run.zip");
  EXPECT_EQ(content(folder_ / "run.zip").size(), 1U);
}

TEST_F(ArchiveTest, LeavesOutTheLargestFilesButNotTheReport) {
  put("report.json", noise(3000));
  put("summary.md", noise(100));
  put("soak/journal.jsonl", noise(2000));
  put("suites/journal.jsonl", noise(1000));
  put("suites/zeros", std::string(100'000, '0'));
  const std::vector<std::string> left_out = write_archive(folder_, archive_, 5500);
  EXPECT_EQ(left_out, (std::vector<std::string>{"soak/journal.jsonl"}));
  EXPECT_LE(fs::file_size(archive_), 5500U);
  const auto files = content(archive_);
  EXPECT_EQ(files.size(), 5U);
  EXPECT_EQ(files.at("LEFT_OUT.txt"), "soak/journal.jsonl\n");
  // The report and two more files stay even if the report alone exceeds the limit.
  EXPECT_EQ(write_archive(folder_, archive_, 100).size(), 3U);
  for (const char* each : {"report.json", "summary.md", "LEFT_OUT.txt"}) {
    EXPECT_TRUE(content(archive_).contains(each)) << each;
  }
}

TEST_F(ArchiveTest, IsTold) {
  put("report.json", "{}");
  put("journal.jsonl", noise(2000));
  const auto said = [&](const auto&... arguments) {
    testing::internal::CaptureStdout();
    pack(folder_, arguments...);
    return testing::internal::GetCapturedStdout();
  };
  const std::string whole = said(archive_.string());
  EXPECT_TRUE(harness::begins(whole, "archive: " + archive_.string() + ", "));
  EXPECT_TRUE(harness::ends(whole, " bytes\n"));
  EXPECT_TRUE(harness::ends(said(archive_.string(), 1000),
                            "\narchive: left out, because it is too large: journal.jsonl\n"));
  EXPECT_EQ(said(""), "");
}

TEST_F(ArchiveTest, RefusesPathsThatNoFileCanHave) {
  EXPECT_NO_THROW(require_archive(archive_.string()));
  EXPECT_THROW(require_archive((folder_ / "absent" / "run.zip").string()), harness::BadInput);
  EXPECT_THROW(require_archive((parent_.path() / "run.tar").string()), harness::BadInput);
  fs::create_directory(archive_);
  EXPECT_THROW(require_archive(archive_.string()), harness::BadInput);
}

TEST_F(ArchiveTest, ReplacesNothingButAnArchive) {
  put("report.json", "{}");
  write_archive(folder_, archive_);
  EXPECT_NO_THROW(require_archive(archive_.string()));
  harness::write_file(archive_, "no archive");
  EXPECT_THROW(require_archive(archive_.string()), harness::BadInput);
}

TEST_F(ArchiveTest, SaysWhatCannotBePacked) {
  EXPECT_THROW(write_archive(folder_ / "absent", archive_), harness::FileError);
  put("report.json", "{}");
  EXPECT_THROW(write_archive(folder_, folder_ / "absent" / "run.zip"), harness::FileError);
}

}  // namespace
}  // namespace rankcheck::cases

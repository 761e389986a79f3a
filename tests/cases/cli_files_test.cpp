#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/cases/cli.hpp"
#include "tests/memory.hpp"

namespace rankcheck {
namespace {

/// Paths given as input files that are not regular files.
class CliFilesTest : public tests::CliTest {
 protected:
  CliFilesTest() {
    program_ = tests::last_resort + program_;
    std::filesystem::create_directory(path_to("r"));
  }
};

TEST_F(CliFilesTest, DevicesWithoutAnEndAreRefused) {
  // A program that reads such a device takes no more than 4 GiB. Sanitizers reserve more addresses.
  if (!tests::has_sanitizer) program_ = "ulimit -v 4194304 && " + program_;
  const std::string complaint = "cannot read: /dev/zero: found a device, expected a file";
  expect_unable("bench --topology /dev/zero --ranks 2", complaint);
  expect_unable("replay /dev/zero", complaint);
  expect_unable("export /dev/zero", complaint);
  if (tests::reconstructs) expect_unable("reconstruct /dev/zero", complaint);
  std::filesystem::create_symlink("/dev/zero", path_to("s.json"));
  expect_unable("run s.json", "cannot read: s.json: found a device, expected a file");
}

TEST_F(CliFilesTest, PipesAreRefused) {
  for (const char* name : {"pipe", "s.json", "r/journal.jsonl"}) {
    ASSERT_EQ(::mkfifo(path_to(name).c_str(), 0600), 0);
  }
  const std::string complaint = "cannot read: pipe: found a pipe, expected a file";
  expect_unable("bench --topology pipe --ranks 2", complaint);
  expect_unable("replay pipe", complaint);
  if (tests::reconstructs) expect_unable("reconstruct pipe", complaint);
  expect_unable("run s.json", "cannot read: s.json: found a pipe, expected a file");
  const std::string journal = "cannot read: r/journal.jsonl: found a pipe, expected a file";
  expect_unable("report r", journal);
  expect_unable("run --resume r", journal);
  expect_unable("run hardware --resume r", journal);
}

TEST_F(CliFilesTest, RunsThatCouldNotBeMadeSayWhyOnStderr) {
  ASSERT_EQ(rankcheck("run --backend sim --operation barrier --cases 5 --report run").status, 0);
  change_journal("run/journal.jsonl",
                 R"("verdict":"passed")",
                 R"("verdict":"errored","reason":"no such thing")");
  expect_unable("report run", "run: could not be checked: barrier/");
}

TEST_F(CliFilesTest, NamesThatAreTooLongAreRefusedWithTheLimit) {
  const std::string name(300, 'n');
  for (const std::string arguments : {"run --operation barrier --report ",
                                      "run --resume ",
                                      "run --backend python:",
                                      "run --known ",
                                      "report ",
                                      "check-worker python:"}) {
    expect_unable(arguments + name, "File name too long (at most 255 bytes each, 4095 in all)");
  }
}

TEST_F(CliFilesTest, FoldersThatCannotBeAreRefusedBeforeTheWork) {
  if (tests::reconstructs) {
    ASSERT_EQ(rankcheck("simulate scan.cxi --positions 4 --detector 16 --step 4").status, 0);
    expect_unable("reconstruct scan.cxi --iterations 1 --pictures /proc/none/deeper",
                  ", expected a writable folder");
    EXPECT_FALSE(exists("reconstruction.cxi"));
  }
  expect_unable(R"(export '{"operation":"broadcast","ranks":2}' --output /proc/none)",
                ", expected a writable folder");
  expect_unable("bench --topology nvlink8 --json /proc/none",
                ", expected a file in a writable folder");
}

}  // namespace
}  // namespace rankcheck

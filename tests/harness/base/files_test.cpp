#include "harness/base/files.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness {
namespace {

/// Returns the complaint about reading the file.
std::string complaint(const std::filesystem::path& path) {
  return complaint_of<FileError>([&] { return read_file(path); });
}

class FilesTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "file";
};

TEST_F(FilesTest, AreReadUpToALimit) {
  write_file(file_, "four");
  EXPECT_EQ(read_file(file_, 4), "four");
  EXPECT_THROW(static_cast<void>(read_file(file_, 3)), FileError);
}

TEST_F(FilesTest, AreRefusedBeforeTheyAreReadIfTheyAreLarge) {
  write_file(file_, "");
  std::filesystem::resize_file(file_, std::uintmax_t{1} << 40);
  EXPECT_EQ(complaint(file_),
            "cannot read: " + file_.string() + ": expected at most 1073741824 bytes");
}

TEST_F(FilesTest, AreReadIfTheSystemMakesThemUp) {
  EXPECT_NE(read_file("/proc/self/status").find("Name:"), std::string::npos);
}

TEST_F(FilesTest, AreRefusedIfTheyAreNotRegular) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  // Nobody writes into the pipe, so reading it would wait for ever.
  EXPECT_EQ(complaint(file_), "cannot read: " + file_.string() + ": found a pipe, expected a file");
  EXPECT_EQ(complaint("/dev/zero"), "cannot read: /dev/zero: found a device, expected a file");
  EXPECT_EQ(complaint(folder_.path()),
            "cannot read: " + folder_.path().string() + ": Is a directory");
  EXPECT_THROW(require_regular_file(file_), FileError);
  EXPECT_THROW(require_regular_file(folder_.path() / "none"), FileError);
}

TEST_F(FilesTest, HaveASealOfTheirContent) {
  for (const std::size_t size : {0, 1, 14, 15, 16, 1 << 20, (1 << 20) + 7}) {
    const std::string content(size, 'c');
    write_file(file_, sealed(content));
    EXPECT_NO_THROW(require_seal(file_)) << size;
    for (const std::string& wrong : {sealed(content) + 'c', content}) {
      write_file(file_, wrong);
      EXPECT_THROW(require_seal(file_), FileError) << size;
    }
  }
}

TEST_F(FilesTest, LeaveNothingBehindWhereTheyCannotBeWritten) {
  std::filesystem::create_directory(file_);
  EXPECT_THROW(write_file(file_, "text"), FileError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(FilesTest, ReplaceTheirOldContent) {
  write_file(file_, "a long old text");
  write_file(file_, "new");
  EXPECT_EQ(read_file(file_), "new");
}

TEST(LineFileTest, FullDiskIsOneClearError) {
  LineFile file("/dev/full");
  EXPECT_EQ(complaint_of<FileError>([&] { file.append("a line"); }),
            "cannot write: /dev/full: No space left on device");
}

}  // namespace
}  // namespace rankcheck::harness

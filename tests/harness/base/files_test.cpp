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

TEST(ReadFileTest, HasALimit) {
  const TemporaryFolder folder;
  write_file(folder.path() / "file", "four");
  EXPECT_EQ(read_file(folder.path() / "file", 4), "four");
  EXPECT_THROW(static_cast<void>(read_file(folder.path() / "file", 3)), FileError);
}

TEST(ReadFileTest, RefusesALargeFileBeforeItReads) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "large";
  write_file(path, "");
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
  EXPECT_EQ(complaint(path),
            "cannot read: " + path.string() + ": expected at most 1073741824 bytes");
}

TEST(ReadFileTest, ReadsWhatTheSystemMakesUp) {
  EXPECT_NE(read_file("/proc/self/status").find("Name:"), std::string::npos);
}

TEST(ReadFileTest, RefusesWhatIsNoRegularFile) {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // Nobody writes into the pipe, so reading it would wait for ever.
  EXPECT_EQ(complaint(pipe), "cannot read: " + pipe.string() + ": found a pipe, expected a file");
  EXPECT_EQ(complaint("/dev/zero"), "cannot read: /dev/zero: found a device, expected a file");
  EXPECT_EQ(complaint(folder.path()),
            "cannot read: " + folder.path().string() + ": Is a directory");
  EXPECT_THROW(require_regular_file(pipe), FileError);
  EXPECT_THROW(require_regular_file(folder.path() / "none"), FileError);
}

TEST(SealTest, IsThatOfTheContent) {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "file";
  for (const std::size_t size : {0, 1, 14, 15, 16, 1 << 20, (1 << 20) + 7}) {
    const std::string content(size, 'c');
    write_file(path, sealed(content));
    EXPECT_NO_THROW(require_seal(path)) << size;
    write_file(path, sealed(content) + 'c');
    EXPECT_THROW(require_seal(path), FileError) << size;
    write_file(path, content);
    EXPECT_THROW(require_seal(path), FileError) << size;
  }
}

TEST(WriteFileTest, LeavesNothingBehindWhereItFails) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "taken");
  EXPECT_THROW(write_file(folder.path() / "taken", "text"), FileError);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(WriteFileTest, ReplacesTheOldContent) {
  const TemporaryFolder folder;
  write_file(folder.path() / "file", "a long old text");
  write_file(folder.path() / "file", "new");
  EXPECT_EQ(read_file(folder.path() / "file"), "new");
}

TEST(LineFileTest, FullDiskIsOneClearError) {
  LineFile file("/dev/full");
  EXPECT_EQ(complaint_of<FileError>([&] { file.append("a line"); }),
            "cannot write: /dev/full: No space left on device");
}

}  // namespace
}  // namespace rankcheck::harness

#include "harness/worker/shared_file.hpp"

#include <cstddef>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "harness/base/files.hpp"

namespace rankcheck::harness::worker {
namespace {

TEST(SharedFileTest, KeepsItsBytesWhenItGrows) {
  const auto file = SharedFile::make();
  ASSERT_NE(file, nullptr);
  EXPECT_TRUE(file->bytes().empty());
  ASSERT_TRUE(file->reserve(1));
  EXPECT_EQ(file->bytes().size(), SharedFile::alignment);
  file->bytes()[0] = std::byte{'a'};
  ASSERT_TRUE(file->reserve(100 * SharedFile::alignment));
  file->bytes()[1] = std::byte{'b'};
  EXPECT_EQ(read_file(file->path()).substr(0, 2), "ab");
  EXPECT_EQ(read_file(file->path()).size(), file->bytes().size());
}

TEST(SharedFileTest, IsGoneWithItsOwner) {
  auto file = SharedFile::make();
  const std::string path = file->path();
  EXPECT_EQ(::access(path.c_str(), R_OK | W_OK), 0);
  file.reset();
  EXPECT_NE(::access(path.c_str(), F_OK), 0);
}

TEST(SharedFileTest, CannotBeShortenedByAWorker) {
  const auto file = SharedFile::make();
  ASSERT_TRUE(file->reserve(SharedFile::alignment));
  const Descriptor theirs(::open(file->path().c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_NE(::ftruncate(theirs.get(), 0), 0);
}

TEST(SharedFileTest, TwoFilesHaveTwoPaths) {
  auto file = SharedFile::make();
  const std::string first = file->path();
  file = SharedFile::make();
  EXPECT_NE(file->path(), first);
}

}  // namespace
}  // namespace rankcheck::harness::worker

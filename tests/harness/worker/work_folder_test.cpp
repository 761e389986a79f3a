#include "harness/worker/work_folder.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <latch>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/sample.hpp"

namespace rankcheck::harness::worker {
namespace {

class WorkFolderTest : public testing::Test {
 protected:
  std::ptrdiff_t entries() const {
    return std::distance(std::filesystem::directory_iterator(base_.path()), {});
  }

  TemporaryFolder base_;
};

TEST_F(WorkFolderTest, GoesWithAllThatIsInIt) {
  {
    const WorkFolder folder(base_.path().string());
    std::ofstream(folder.path() + "/file") << "text";
    EXPECT_EQ(entries(), 1);
  }
  EXPECT_EQ(entries(), 0);
}

TEST_F(WorkFolderTest, LeavesAloneThoseInUse) {
  const WorkFolder first(base_.path().string());
  const WorkFolder second(base_.path().string());
  EXPECT_TRUE(std::filesystem::exists(first.path()));
  EXPECT_EQ(entries(), 2);
}

TEST_F(WorkFolderTest, RemovesThoseOfKilledProcesses) {
  const pid_t child = ::fork();
  if (child == 0) {
    const WorkFolder folder(base_.path().string());
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_EQ(entries(), 1);
  const WorkFolder next(base_.path().string());
  EXPECT_EQ(entries(), 1);
}

TEST_F(WorkFolderTest, LeavesAFolderOfTheUserAlone) {
  const std::filesystem::path notes = base_.path() / "rankcheck-workers-notes";
  std::filesystem::create_directory(notes);
  std::ofstream(notes / "file") << "text";
  const WorkFolder folder(base_.path().string());
  EXPECT_TRUE(std::filesystem::exists(notes / "file"));
}

TEST_F(WorkFolderTest, LeavesFoldersOfOtherUsersAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make one";
  const std::filesystem::path other = base_.path() / "rankcheck-workers-other1";
  std::filesystem::create_directory(other);
  ASSERT_EQ(::chown(other.c_str(), 12345, 12345), 0);
  const WorkFolder folder(base_.path().string());
  EXPECT_TRUE(std::filesystem::exists(other));
}

TEST_F(WorkFolderTest, GoesThoughFilesAreAddedMeanwhile) {
  std::jthread other;
  std::latch begun(1);
  {
    const WorkFolder folder(base_.path().string());
    other = std::jthread([&begun, path = folder.path()] {
      const auto add = [&](int i) { std::ofstream(path + "/" + std::to_string(i)) << "text"; };
      int i = 0;
      add(i++);
      begun.count_down();
      while (std::filesystem::exists(path + "/0")) add(i++);
      for (const int end = i + 100; i < end; ++i) add(i);
    });
    begun.wait();
  }
  other.join();
  EXPECT_EQ(entries(), 0);
}

TEST_F(WorkFolderTest, LeavesOtherFilesAlone) {
  std::ofstream(base_.path() / "rankcheck-workers-notes") << "text";
  std::filesystem::create_directory(base_.path() / "rankcheck-other");
  const WorkFolder folder(base_.path().string());
  EXPECT_EQ(entries(), 3);
}

TEST_F(WorkFolderTest, NeedsAPlace) {
  EXPECT_THROW(WorkFolder(base_.path().string() + "/absent"), std::runtime_error);
}

}  // namespace
}  // namespace rankcheck::harness::worker

#include "harness/worker/work_folder.hpp"

#include <filesystem>
#include <fstream>
#include <optional>

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/sample.hpp"

namespace rankcheck::harness::worker {
namespace {

class WorkFolderTest : public testing::Test {
 protected:
  std::size_t entries() const {
    const std::filesystem::directory_iterator all(base_.path());
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }

  TemporaryFolder base_;
};

TEST_F(WorkFolderTest, GoesWithAllThatIsInIt) {
  {
    const WorkFolder folder(base_.path().string());
    std::ofstream(folder.path() + "/file") << "text";
    EXPECT_EQ(entries(), 1U);
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(WorkFolderTest, LeavesAloneThoseInUse) {
  const WorkFolder first(base_.path().string());
  const WorkFolder second(base_.path().string());
  EXPECT_TRUE(std::filesystem::exists(first.path()));
  EXPECT_EQ(entries(), 2U);
}

TEST_F(WorkFolderTest, RemovesThoseOfKilledProcesses) {
  const pid_t child = ::fork();
  if (child == 0) {
    const WorkFolder folder(base_.path().string());
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_EQ(entries(), 1U);
  const WorkFolder next(base_.path().string());
  EXPECT_EQ(entries(), 1U);
}

TEST_F(WorkFolderTest, LeavesOtherFilesAlone) {
  std::ofstream(base_.path() / "rankcheck-workers-notes") << "text";
  std::filesystem::create_directory(base_.path() / "rankcheck-other");
  const WorkFolder folder(base_.path().string());
  EXPECT_EQ(entries(), 3U);
}

TEST_F(WorkFolderTest, NeedsAPlace) {
  EXPECT_THROW(WorkFolder(base_.path().string() + "/absent"), std::runtime_error);
}

}  // namespace
}  // namespace rankcheck::harness::worker

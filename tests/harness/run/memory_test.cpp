#include "harness/run/memory.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "harness/base/files.hpp"

#include "tests/harness/sample.hpp"

namespace rankcheck::harness::run {
namespace {

class AvailableMemoryTest : public testing::Test {
 protected:
  AvailableMemoryTest() {
    plant("proc/meminfo", "MemTotal: 9 kB\nMemAvailable:  1000 kB\nCached: 7 kB\n");
  }

  void plant(const std::string& name, const std::string& text) {
    const std::filesystem::path path = root_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    harness::write_file(path, text);
  }
  [[nodiscard]] std::int64_t available() const { return available_memory(root_.path()); }

  harness::TemporaryFolder root_;
};

TEST_F(AvailableMemoryTest, IsWhatLinuxEstimates) {
  EXPECT_EQ(available(), 1'024'000);
  EXPECT_GT(available_memory(), 0);
}

TEST_F(AvailableMemoryTest, IsAtMostWhatItsControlGroupLeaves) {
  plant("proc/self/cgroup", "0::/job/task\n");
  plant("sys/fs/cgroup/job/task/memory.max", "max\n");
  EXPECT_EQ(available(), 1'024'000);
  plant("sys/fs/cgroup/job/memory.max", "500000\n");
  plant("sys/fs/cgroup/job/memory.current", "200000\n");
  plant("sys/fs/cgroup/job/memory.stat", "anon 100000\ninactive_file 50000\n");
  EXPECT_EQ(available(), 350'000) << "the limit of the group around it";
  plant("sys/fs/cgroup/job/memory.current", "700000\n");
  EXPECT_EQ(available(), 0);
}

/// In a container, the files of its own group lie at the top.
TEST_F(AvailableMemoryTest, TakesTheLimitOfAContainer) {
  plant("proc/self/cgroup", "0::/\n");
  plant("sys/fs/cgroup/memory.max", "500000\n");
  EXPECT_EQ(available(), 500'000);
}

TEST_F(AvailableMemoryTest, KnowsTheFirstVersionOfControlGroups) {
  plant("proc/self/cgroup", "5:cpu,cpuacct:/\n4:hugetlb,memory:/not/shown/here\n0::/\n");
  plant("sys/fs/cgroup/memory/memory.limit_in_bytes", "400000\n");
  plant("sys/fs/cgroup/memory/memory.usage_in_bytes", "100000\n");
  plant("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 40000\n");
  EXPECT_EQ(available(), 340'000);
}

}  // namespace
}  // namespace rankcheck::harness::run

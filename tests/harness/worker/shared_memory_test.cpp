#include "harness/worker/shared_memory.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/base/descriptor.hpp"

#include "tests/harness/sample.hpp"

namespace rankcheck::harness::worker {
namespace {

class SharedMemoryTest : public testing::Test {
 protected:
  std::filesystem::path make(const std::string& name) const {
    std::ofstream(folder_.path() / name) << "text";
    return folder_.path() / name;
  }

  TemporaryFolder folder_;
};

/// A file that this process maps.
class Mapped {
 public:
  explicit Mapped(const std::filesystem::path& file) {
    const Descriptor opened(::open(file.c_str(), O_RDWR | O_CLOEXEC));
    begin_ = ::mmap(nullptr, 1, PROT_READ, MAP_SHARED, opened.get(), 0);
    EXPECT_NE(begin_, MAP_FAILED);
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() { ::munmap(begin_, 1); }

 private:
  void* begin_;
};

TEST_F(SharedMemoryTest, OfANotedProcessIsRemoved) {
  SharedMemory memory(folder_.path());
  const std::filesystem::path file = make("of a library");
  const Mapped mapped(file);
  memory.note(::getpid());
  EXPECT_TRUE(std::filesystem::exists(file));
  memory.remove();
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(SharedMemoryTest, ThatWasThereBeforeIsLeftAlone) {
  const std::filesystem::path file = make("of the user");
  SharedMemory memory(folder_.path());
  const Mapped mapped(file);
  memory.note(::getpid());
  memory.remove();
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(SharedMemoryTest, ThatNoNotedProcessMapsIsLeftAlone) {
  SharedMemory memory(folder_.path());
  const std::filesystem::path file = make("of another program");
  memory.note(::getpid());
  memory.remove();
  EXPECT_TRUE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace rankcheck::harness::worker

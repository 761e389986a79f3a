#include "harness/run/outputs.hpp"

#include <filesystem>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "harness/base/files.hpp"
#include "harness/case/case.hpp"

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness::run {
namespace {

namespace fs = std::filesystem;

class OutputsTest : public testing::Test {
 protected:
  OutputsTest() { write_file(file_, "taken"); }

  /// Returns the complaint about a path, without its folder.
  std::string complaint(const std::function<void(const fs::path&)>& require,
                        const std::string& name) {
    std::string text = complaint_of<BadInput>([&] { require(folder_.path() / name); });
    const std::string folder = folder_.path().string() + '/';
    for (std::size_t at = 0; (at = text.find(folder)) != std::string::npos;) {
      text.erase(at, folder.size());
    }
    return text;
  }

  TemporaryFolder folder_;
  fs::path file_ = folder_.path() / "file";
};

TEST_F(OutputsTest, MayBeFilesThatAreNewOrReplaced) {
  EXPECT_EQ(complaint(require_writable_file, "new"), "");
  EXPECT_EQ(complaint(require_writable_file, "file"), "");
  EXPECT_NO_THROW(require_writable_file("in-the-working-folder"));
}

TEST_F(OutputsTest, MayBeNoFilesWhereNoneCanBe) {
  fs::create_directory(folder_.path() / "folder");
  EXPECT_EQ(complaint(require_writable_file, "folder"), "folder: found a folder, expected a file");
  EXPECT_EQ(complaint(require_writable_file, "none/new"),
            "none/new: found no folder none, expected a file in a writable folder");
  EXPECT_EQ(complaint(require_writable_file, "file/new"),
            "file/new: found file, which is not a folder, expected a file in a writable folder");
  EXPECT_THROW(require_writable_file("/dev/null"), BadInput);
}

TEST_F(OutputsTest, AreTriedBecauseAFileSystemMayRefuseMoreThanItSays) {
  // Nobody may write there, not even root.
  EXPECT_THROW(require_writable_file("/proc/new"), BadInput);
  EXPECT_THROW(require_writable_folder("/proc/new/deeper"), BadInput);
  EXPECT_THROW(require_writable_folder("/proc"), BadInput);
  const std::string name(300, 'n');
  const std::string limit =
      "cannot be written: File name too long (at most 255 bytes each, 4095 in all)";
  EXPECT_TRUE(has(complaint(require_writable_file, name), limit));
  EXPECT_TRUE(has(complaint(require_writable_folder, "new/" + name), limit));
}

TEST_F(OutputsTest, AreNotCreatedBeforeTheirTime) {
  require_writable_file(folder_.path() / "new");
  require_writable_folder(folder_.path() / "new" / "deeper");
  require_writable_folder(folder_.path());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(OutputsTest, MayBeFoldersThatAreNewOrFilled) {
  EXPECT_EQ(complaint(require_writable_folder, "new"), "");
  EXPECT_EQ(complaint(require_writable_folder, "new/deeper/still"), "");
  EXPECT_EQ(complaint(require_writable_folder, "."), "");
  EXPECT_NO_THROW(require_writable_folder("in-the-working-folder"));
}

TEST_F(OutputsTest, MayBeNoFoldersWhereNoneCanBe) {
  EXPECT_EQ(complaint(require_writable_folder, "file"),
            "file: found file, which is not a folder, expected a writable folder");
  EXPECT_EQ(complaint(require_writable_folder, "file/new"),
            "file/new: found file, which is not a folder, expected a writable folder");
}

TEST_F(OutputsTest, AreTheSameByAnyName) {
  const fs::path folder = folder_.path();
  EXPECT_TRUE(is_same_file(folder / "new", folder / "none" / ".." / "new"));
  EXPECT_FALSE(is_same_file(folder / "new", folder / "old"));
  EXPECT_TRUE(is_same_file("new", fs::current_path() / "new"));
  fs::create_hard_link(file_, folder / "link");
  EXPECT_TRUE(is_same_file(file_, folder / "link"));
  EXPECT_FALSE(is_same_file(file_, folder / "new"));
}

}  // namespace
}  // namespace rankcheck::harness::run

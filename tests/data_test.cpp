#include "tests/data.hpp"

#include <cstdlib>
#include <string>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "harness/base/files.hpp"

#include "tests/harness/sample.hpp"

namespace rankcheck::tests {
namespace {

/// Restores the environment variable RANKCHECK_DATA after each test.
class DataFolderTest : public testing::Test {
 protected:
  DataFolderTest() {
    const char* const named = std::getenv("RANKCHECK_DATA");
    if (named != nullptr) before_ = named;
  }
  ~DataFolderTest() override {
    if (before_) {
      ::setenv("RANKCHECK_DATA", before_->c_str(), 1);
    } else {
      ::unsetenv("RANKCHECK_DATA");
    }
  }

  std::optional<std::string> before_;
  harness::TemporaryFolder folder_;
};

TEST_F(DataFolderTest, IsWhatTheEnvironmentSays) {
  harness::write_file(folder_.path() / "scan.cxi", "data");
  ::setenv("RANKCHECK_DATA", folder_.path().c_str(), 1);
  EXPECT_EQ(data_file("scan.cxi"), folder_.path() / "scan.cxi");
}

TEST_F(DataFolderTest, ThatIsNamedHasItsFiles) {
  ::setenv("RANKCHECK_DATA", folder_.path().c_str(), 1);
  EXPECT_NONFATAL_FAILURE(EXPECT_EQ(data_file("scan.cxi"), std::nullopt), "is absent");
}

TEST_F(DataFolderTest, ThatNobodyNamedMayLackFiles) {
  ::unsetenv("RANKCHECK_DATA");
  EXPECT_EQ(data_file("no such file"), std::nullopt);
}

}  // namespace
}  // namespace rankcheck::tests

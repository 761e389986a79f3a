#include "tests/data.hpp"

#include <cstdlib>
#include <string>

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "harness/base/files.hpp"
#include "harness/base/program.hpp"

#include "tests/harness/sample.hpp"

namespace rankcheck::tests {
namespace {

class DataFolderTest : public testing::Test {
 protected:
  /// Restores the variable after each test.
  harness::EnvironmentVariable folder_of_data_{"RANKCHECK_DATA", std::nullopt};
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
  EXPECT_EQ(data_file("no such file"), std::nullopt);
}

}  // namespace
}  // namespace rankcheck::tests

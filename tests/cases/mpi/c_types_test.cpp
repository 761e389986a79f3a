#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cases/backends/mpi.hpp"
#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

/// Open MPI 4.1.4 compares MPI_UNSIGNED_LONG, but not MPI_UINT64_T, as if it were signed.
class MpiCTypesTest : public tests::CliTest {
 protected:
  void SetUp() override {
    const std::string why = cases::mpi_backend().why_unavailable();
    if (!why.empty()) GTEST_SKIP() << why;
    const std::string version = cases::mpi_backend().describe({}).at("mpi");
    // Another version may have the defect, or not.
    if (version.find("Open MPI v4.1.4") == std::string::npos)
      GTEST_SKIP() << "another version: " << version;
  }

  static constexpr const char* run =
      "run --backend mpi --algorithm c_types --operation all_reduce --type uint64 "
      "--property agrees_with_reference --ranks 2..3 --cases 20 --report out";
};

TEST_F(MpiCTypesTest, ShowThatUnsignedLongIsComparedAsSigned) {
  const tests::Outcome outcome = rankcheck(run);
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  const nlohmann::json findings = report("out").at("findings");
  for (const nlohmann::json& each : findings) {
    EXPECT_EQ(each.at("verdict"), "falsified") << each;
    if (each.at("unit").contains("pinned")) continue;
    const nlohmann::json& minimal = each.at("minimal");
    EXPECT_EQ(minimal.at("ranks"), 2) << minimal;
    EXPECT_EQ(minimal.at("count"), 1) << minimal;
  }
}

TEST_F(MpiCTypesTest, KnownFailuresEndNoRun) {
  const auto known =
      std::filesystem::path(RANKCHECK_SOURCE_DIR) / "cases/known/open-mpi-4.1.4.json";
  const tests::Outcome outcome =
      rankcheck(std::string(run) + " --known " + harness::shell_quoted(known.string()));
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

}  // namespace
}  // namespace rankcheck

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "harness/base/files.hpp"
#include "harness/compare/comparison_text.hpp"

#include "tests/harness/schema.hpp"

namespace rankcheck::harness::compare {
namespace {

/// Two reports in golden/, cut from real ones, with their measurements: Open MPI and code with a
/// planted bug before, MPICH and the same code without the bug now.
class RealReportsTest : public testing::Test {
 protected:
  static std::filesystem::path folder() {
    return RANKCHECK_SOURCE_DIR "/tests/harness/compare/golden";
  }

  static RunReport read(const char* name) {
    RunReport report = read_run_report(folder() / name);
    report.name = name;
    return report;
  }

  [[nodiscard]] ComparedRuns compared() const {
    return {runs_[0], runs_[1], comparison_, matters_, trend_};
  }

  std::vector<RunReport> runs_{read("before"), read("now")};
  std::set<FailOn> matters_ = fail_on_from("broken,coverage,speed");
  Comparison comparison_ = compare::compare(runs_[0], runs_[1]);
  Trend trend_ = trend_of(runs_);
};

/// With RANKCHECK_WRITE_GOLDEN in the environment, the text is written instead.
TEST_F(RealReportsTest, SayWhatTheKeptTextSays) {
  const std::filesystem::path file = folder() / "expected.out";
  const std::string text = to_text(compared(), "rankcheck");
  if (std::getenv("RANKCHECK_WRITE_GOLDEN") != nullptr) write_file(file, text);
  EXPECT_EQ(text, read_file(file));
  EXPECT_TRUE(is_worse(compared()));
  EXPECT_EQ(complaints(to_json(compared()), "comparison.schema.json"), "");
}

TEST_F(RealReportsTest, HaveNoChangeAgainstThemselves) {
  for (const RunReport& each : runs_) {
    const Comparison itself = compare::compare(each, each);
    EXPECT_TRUE(itself.is_empty());
    EXPECT_EQ(itself.common_units, std::ssize(each.findings));
    EXPECT_FALSE(is_worse(itself, matters_));
    EXPECT_EQ(itself.compared_speeds, 2);
  }
}

}  // namespace
}  // namespace rankcheck::harness::compare

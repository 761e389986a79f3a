#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "harness/compare/comparison_text.hpp"
#include "harness/files.hpp"

#include "tests/harness/schema.hpp"

namespace rankcheck::harness::compare {
namespace {

/// Two real reports in golden/, and the file there with what the comparison of them says.
struct Example {
  const char* name;
  const char* before;
  const char* now;
  bool is_worse;
};

class RealReportsTest : public testing::TestWithParam<Example> {
 protected:
  static std::filesystem::path folder() {
    return RANKCHECK_SOURCE_DIR "/tests/harness/compare/golden";
  }

  static RunReport read(const char* name) {
    RunReport report = read_run_report(folder() / name);
    report.name = name;
    return report;
  }
};

/// With RANKCHECK_WRITE_GOLDEN in the environment, the text is written instead.
TEST_P(RealReportsTest, SaysWhatTheKeptTextSays) {
  const Example& example = GetParam();
  std::vector<RunReport> runs{read(example.before), read(example.now)};
  const std::set<FailOn> matters = fail_on_from("broken,coverage,speed");
  const Comparison comparison = compare::compare(runs[0], runs[1]);
  const Trend trend = trend_of(runs);
  const ComparedRuns compared{.before = runs[0],
                              .now = runs[1],
                              .comparison = comparison,
                              .matters = matters,
                              .trend = trend};
  const std::filesystem::path file = folder() / (std::string(example.name) + ".out");
  const std::string text = to_text(compared, "rankcheck");
  if (std::getenv("RANKCHECK_WRITE_GOLDEN") != nullptr) write_file(file, text);
  EXPECT_EQ(text, read_file(file));
  EXPECT_EQ(is_worse(compared), example.is_worse);
  EXPECT_EQ(complaints(to_json(compared), "comparison.schema.json"), "");
}

INSTANTIATE_TEST_SUITE_P(
    Examples,
    RealReportsTest,
    testing::Values(Example{"open_mpi_and_mpich", "open_mpi_ci", "mpich_ci", true},
                    Example{"right_and_planted_bug", "right", "planted_bug", true},
                    Example{"planted_bug_and_right", "planted_bug", "right", false},
                    Example{"without_a_backend", "all_backends", "no_mpi", true},
                    Example{"slowed_algorithm", "fast", "slow", true},
                    Example{"itself", "open_mpi", "open_mpi", false}),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace rankcheck::harness::compare

#include "harness/run/run_plan.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "harness/base/files.hpp"

#include "cases/backends/registry.hpp"
#include "cases/suites/catalogue.hpp"
#include "tests/harness/sample.hpp"

namespace rankcheck::harness::run {
namespace {

class RunPlanTest : public testing::Test {
 protected:
  /// Writes a suite with a time limit in seconds and one operation on sim. Returns its path.
  std::string suite(const std::string& operation, int time_limit_s) {
    const std::filesystem::path path = folder_.path() / (operation + ".json");
    harness::write_file(path,
                        R"({"name":"s","summary":"s","time_limit_s":)" +
                            std::to_string(time_limit_s) +
                            R"(,"entries":[{"backends":["sim"],"operation":")" + operation +
                            R"(","property":"agrees_with_reference"}]})");
    return path.string();
  }

  harness::TemporaryFolder folder_;
};

TEST_F(RunPlanTest, EverySuiteThatIsNamedIsPlanned) {
  Selection selection;
  selection.suites = {suite("broadcast", 10), suite("insert", 20), suite("scatter", 30)};
  const RunPlan plan = make_plan(selection, cases::make_catalogue(), cases::available_backends());
  std::set<std::string> operations;
  for (const harness::Unit& unit : plan.units) operations.insert(unit.operation);
  EXPECT_EQ(operations, (std::set<std::string>{"broadcast", "insert", "scatter"}));
  EXPECT_EQ(plan.time_limit_s, 60);
}

TEST_F(RunPlanTest, AGivenNumberOfCasesIsNotForLargeCallsAndUnitsThatAreLeftOut) {
  const std::filesystem::path path = folder_.path() / "suite.json";
  const std::string rest = R"("backends":["sim"],"property":"agrees_with_reference"},)";
  harness::write_file(path,
                      R"({"name":"s","summary":"s","entries":[{"operation":"broadcast",)" + rest +
                          R"({"operation":"broadcast","algorithm":"binomial","cases":0,)" + rest +
                          R"({"operation":"scatter","count":99,"cases":2,)" +
                          rest.substr(0, rest.size() - 1) + "]}");
  Selection selection;
  selection.suites = {path.string()};
  selection.cases = 5;
  const RunPlan plan = make_plan(selection, cases::make_catalogue(), cases::available_backends());
  ASSERT_FALSE(plan.units.empty());
  for (const harness::Unit& unit : plan.units) {
    EXPECT_NE(unit.operation + "/" + unit.algorithm, "broadcast/binomial");
    EXPECT_EQ(unit.cases, unit.operation == "scatter" ? 2 : 5) << unit.id();
  }
}

}  // namespace
}  // namespace rankcheck::harness::run

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

#include "harness/case/family.hpp"
#include "harness/check/operation.hpp"

#include "cases/backends/hybrid.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/suites/catalogue.hpp"

/// Collectives of the real worker: what it takes, late ranks, and the end of a process.
namespace rankcheck::cases::hybrid_tests {
namespace {

using harness::Case;

/// Two devices a process: the last process has one.
constexpr int world = 5;

Case make_case(const harness::Operation& operation, const std::vector<int>& group) {
  const spec::Contract& contract = operation.contract;
  Case c;
  c.property = operation.properties.front().name;
  c.operation = contract.name;
  c.backend = "hybrid";
  c.ranks = group.empty() ? world : 1 + *std::max_element(group.begin(), group.end());
  c.group = group;
  if (collective(contract).reduces) collective(c).op = spec::ReduceOp::avg;
  const auto n = spec::to_size(harness::group_size(c));
  if (collective(contract).rooted) collective(c).root = static_cast<int>(n) - 1;
  const spec::Sizes sizes = collective(contract).sizes;
  if (sizes == spec::Sizes::count) c.count = 37;
  if (sizes == spec::Sizes::counts_per_rank) c.counts.resize(n);
  if (sizes == spec::Sizes::counts_per_pair) c.counts.resize(n * n);
  if (sizes == spec::Sizes::counts_per_array) c.counts.resize(4);
  if (sizes == spec::Sizes::lengths_along_axis) {
    c.counts.resize(n);
    collective(c).outer = 3;
    collective(c).inner = 2;
  }
  for (std::size_t b = 0; b < c.counts.size(); ++b) {
    c.counts[b] = static_cast<std::int64_t>((b * 5 + 3) % 11);
  }
  c.offset = 1;
  return c;
}

class HybridCallsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const harness::BackendEntry entry = hybrid_backend();
    if (entry.why_unavailable().empty()) backend = entry.open({.ranks_max = world});
  }
  static void TearDownTestSuite() { backend.reset(); }
  void SetUp() override {
    if (!backend) GTEST_SKIP() << hybrid_backend().why_unavailable();
  }

  [[nodiscard]] std::vector<harness::Operation> calls() const {
    std::vector<harness::Operation> all;
    for (const harness::Operation& each : catalogue_.operations()) {
      if (family(each.contract) == "collectives") all.push_back(each);
    }
    return all;
  }

  static std::unique_ptr<harness::Backend> backend;
  harness::Catalogue catalogue_ = make_catalogue();
};

std::unique_ptr<harness::Backend> HybridCallsTest::backend;

/// The suite ci judges such calls, and leaves out those that are refused.
TEST_F(HybridCallsTest, AreTakenByBothAlgorithms) {
  for (const harness::Operation& operation : calls()) {
    std::vector<Case> cases;
    for (const std::vector<int>& group :
         {std::vector<int>{}, {0}, {0, 1}, {3}, {4, 1}, {2, 4, 0}, {4, 3, 2, 1}}) {
      cases.push_back(make_case(operation, group));
    }
    cases.emplace_back(make_case(operation, {})).late = world - 1;
    if (operation.contract.in_place != spec::InPlace::none) {
      Case& c = cases.emplace_back(make_case(operation, {}));
      c.in_place = true;
      harness::family_of(operation.contract).settle(operation.contract, c);
    }
    for (Case& c : cases) {
      for (const char* algorithm : {"staged", "direct"}) {
        c.algorithm = algorithm;
        EXPECT_EQ(backend->why_refused(c), "") << harness::to_text(c);
      }
    }
  }
}

/// The last rank has a process of its own. Without the pause, its call would be shorter at least
/// once, even on a busy machine.
TEST_F(HybridCallsTest, TakeAsLongAsALateRankPauses) {
  Case c = make_case(*catalogue_.find("broadcast"), {});
  c.algorithm = "staged";
  collective(c).root = 0;
  c.late = world - 1;
  harness::Observation observation;
  for (int run = 0; run < 9; ++run) {
    backend->run({&c, 1}, observation);
    ASSERT_EQ(observation.status, harness::RunStatus::completed) << observation.reason;
    const harness::Stamp& stamp = observation.stages[0].stamps.back();
    EXPECT_GE(stamp.left - stamp.entered, 200'000) << run;
  }
}

TEST_F(HybridCallsTest, RefuseAnotherAlgorithm) {
  Case c = make_case(calls().front(), {});
  c.algorithm = "stagd";
  EXPECT_NE(backend->why_refused(c).find("did you mean staged"), std::string::npos)
      << backend->why_refused(c);
}

/// Ends the process that hosts a rank, as a crash would.
TEST_F(HybridCallsTest, GoOnAfterAProcessWasKilled) {
  Case c = make_case(*catalogue_.find("all_gather"), {});
  c.algorithm = "staged";
  harness::Observation observation;
  backend->run({&c, 1}, observation);
  ASSERT_EQ(observation.status, harness::RunStatus::completed) << observation.reason;
  const std::string launcher = "$(pgrep --oldest --parent " + std::to_string(::getpid()) + ")";
  const std::string killing = "kill -KILL $(pgrep --newest --parent " + launcher + ")";
  ASSERT_EQ(std::system(killing.c_str()), 0);
  backend->run({&c, 1}, observation);
  EXPECT_EQ(observation.status, harness::RunStatus::crashed) << observation.reason;
  backend->run({&c, 1}, observation);
  EXPECT_EQ(observation.status, harness::RunStatus::completed) << observation.reason;
}

}  // namespace
}  // namespace rankcheck::cases::hybrid_tests

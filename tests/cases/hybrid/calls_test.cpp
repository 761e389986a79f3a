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

/// Runs collectives through the real worker, and judges them as a suite would.
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

  /// Examines the case with both algorithms.
  void examine(Case c) {
    for (const char* algorithm : {"staged", "direct"}) {
      c.algorithm = algorithm;
      ASSERT_EQ(backend->why_refused(c), "") << harness::to_text(c);
      // A barrier of one rank separates nothing.
      if (harness::group_size(c) == 1 && c.operation == "barrier") continue;
      harness::Judgement judgement;
      examiner_.examine(c, judgement);
      EXPECT_EQ(judgement.verdict, harness::Verdict::passed)
          << judgement.reason << "\n  " << harness::to_text(c);
    }
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
  harness::Examiner examiner_{catalogue_, *backend};
};

std::unique_ptr<harness::Backend> HybridCallsTest::backend;

TEST_F(HybridCallsTest, AgreeWithTheReferenceInTheWholeWorldAndItsPrefixes) {
  for (const harness::Operation& operation : calls()) {
    for (int n = 1; n <= world; ++n) {
      std::vector<int> group;
      for (int r = 0; r < n; ++r) group.push_back(r);
      examine(make_case(operation, group));
    }
  }
}

/// Some groups have one rank of each process, some have all ranks of a process in another order.
TEST_F(HybridCallsTest, AgreeWithTheReferenceInGroupsOfAnyOrder) {
  for (const harness::Operation& operation : calls()) {
    for (const std::vector<int>& group :
         {std::vector{3}, {4, 1}, {1, 0}, {2, 4, 0}, {3, 0, 2, 1}, {4, 3, 2, 1}}) {
      examine(make_case(operation, group));
    }
  }
}

TEST_F(HybridCallsTest, AgreeWithTheReferenceInPlace) {
  for (const harness::Operation& operation : calls()) {
    if (operation.contract.in_place == spec::InPlace::none) continue;
    Case c = make_case(operation, {});
    c.in_place = true;
    harness::family_of(operation.contract).settle(operation.contract, c);
    examine(c);
  }
}

TEST_F(HybridCallsTest, AgreeWithTheReferenceIfARankIsLate) {
  for (const harness::Operation& operation : calls()) {
    for (const int late : {0, 1, world - 1}) {
      Case c = make_case(operation, {});
      c.late = late;
      examine(c);
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

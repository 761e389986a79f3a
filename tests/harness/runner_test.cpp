#include "harness/runner.hpp"

#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "harness/files.hpp"

#include "tests/harness/fake.hpp"
#include "tests/harness/sample.hpp"

namespace rankcheck::harness {
namespace {

class RunnerTest : public testing::Test {
 protected:
  RunnerTest() {
    for (int i = 0; i < 6; ++i) units_.push_back(sample_unit("operation_" + std::to_string(i)));
    hooks_.open = [this](const std::string&) {
      const std::lock_guard lock(mutex_);
      ++opened_;
      return std::make_unique<fake::FakeBackend>(catalogue_);
    };
    hooks_.check = [](Backend&, const Unit& unit, const RunLimits&) {
      Finding finding = sample_finding(unit.operation, Verdict::passed);
      finding.cases = unit.cases;
      return finding;
    };
    hooks_.finish = [this](std::size_t index, Finding finding, bool whole) {
      verdicts_[index] = finding.verdict;
      reasons_[index] = finding.reason;
      if (whole) whole_.insert(index);
    };
  }

  Ending run() {
    Runner runner(options_, hooks_);
    return runner.run_round(units_, std::vector<bool>(units_.size(), false), 1);
  }

  Catalogue catalogue_ = fake::catalogue();
  std::vector<Unit> units_;
  RunnerOptions options_;
  RunnerHooks hooks_;
  std::mutex mutex_;
  int opened_ = 0;
  std::map<std::size_t, Verdict> verdicts_;
  std::map<std::size_t, std::string> reasons_;
  std::set<std::size_t> whole_;
};

TEST_F(RunnerTest, ChecksEveryUnitOnce) {
  options_.jobs = 3;
  EXPECT_EQ(run(), Ending::completed);
  EXPECT_EQ(verdicts_.size(), units_.size());
  EXPECT_EQ(whole_.size(), units_.size());
}

TEST_F(RunnerTest, EachThreadOpensABackendAtMostOnce) {
  options_.jobs = 2;
  run();
  EXPECT_GE(opened_, 1);
  EXPECT_LE(opened_, 2);
}

TEST_F(RunnerTest, LeavesOutWhatIsDone) {
  std::vector<bool> done(units_.size(), true);
  done[4] = false;
  Runner(options_, hooks_).run_round(units_, done, 1);
  ASSERT_EQ(verdicts_.size(), 1U);
  EXPECT_TRUE(verdicts_.contains(4));
}

TEST_F(RunnerTest, FailFastStopsAtTheFirstFailure) {
  options_.fail_fast = true;
  hooks_.check = [](Backend&, const Unit&, const RunLimits&) { return sample_failure(); };
  EXPECT_EQ(run(), Ending::failed_fast);
  EXPECT_EQ(verdicts_.size(), 1U);
}

TEST_F(RunnerTest, BackendThatDoesNotOpenIsErroredWithItsReason) {
  hooks_.open = [](const std::string&) -> std::unique_ptr<Backend> {
    throw std::runtime_error("no cable");
  };
  EXPECT_EQ(run(), Ending::completed);
  EXPECT_EQ(verdicts_[0], Verdict::errored);
  EXPECT_EQ(reasons_[5], "the backend did not open: no cable");
}

TEST_F(RunnerTest, ExceptionOfACheckIsErrored) {
  hooks_.check = [](Backend&, const Unit&, const RunLimits&) -> Finding {
    throw std::runtime_error("out of paper");
  };
  run();
  EXPECT_EQ(verdicts_[3], Verdict::errored);
  EXPECT_EQ(reasons_[3], "out of paper");
}

TEST_F(RunnerTest, BackendThatEndsBadlySpoilsTheLastUnitThatPassed) {
  hooks_.open = [this](const std::string&) {
    auto backend = std::make_unique<fake::FakeBackend>(catalogue_);
    backend->trouble = Trouble{.status = RunStatus::crashed, .reason = "tripped on its way out"};
    return backend;
  };
  hooks_.check = [](Backend&, const Unit& unit, const RunLimits&) {
    return sample_finding(unit.operation,
                          unit.operation == "operation_5" ? Verdict::vacuous : Verdict::passed);
  };
  Runner runner(options_, hooks_);
  runner.run_round(units_, std::vector<bool>(units_.size(), false), 1);
  EXPECT_EQ(verdicts_[4], Verdict::passed);
  runner.close(units_);
  EXPECT_EQ(verdicts_[4], Verdict::crashed);
  EXPECT_EQ(reasons_[4], "tripped on its way out");
  EXPECT_EQ(verdicts_[5], Verdict::vacuous);
}

TEST_F(RunnerTest, WhatFinishThrowsIsThrownOn) {
  hooks_.finish = [](std::size_t, Finding, bool) { throw FileError("disk full"); };
  EXPECT_THROW(run(), FileError);
}

TEST_F(RunnerTest, InterruptedUnitIsDroppedUnlessItFailed) {
  std::atomic<bool> stop{false};
  options_.limits.stop = &stop;
  hooks_.check = [&](Backend&, const Unit& unit, const RunLimits&) {
    if (unit.operation == "operation_1") stop.store(true);
    Finding finding = sample_finding(unit.operation, Verdict::passed);
    finding.cases = stop.load() ? 3 : unit.cases;
    return finding;
  };
  EXPECT_EQ(run(), Ending::interrupted);
  EXPECT_EQ(verdicts_.size(), 1U);
}

TEST_F(RunnerTest, UnitThatTheDeadlineCutsIsNotWhole) {
  options_.limits.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  hooks_.check = [](Backend&, const Unit& unit, const RunLimits& limits) {
    std::this_thread::sleep_until(limits.deadline);
    return sample_finding(unit.operation, Verdict::vacuous);
  };
  EXPECT_EQ(run(), Ending::time_over);
  EXPECT_EQ(verdicts_.size(), 1U);
  EXPECT_TRUE(whole_.empty());
}

}  // namespace
}  // namespace rankcheck::harness

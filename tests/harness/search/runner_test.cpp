#include "harness/search/runner.hpp"

#include <atomic>
#include <latch>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/base/files.hpp"

#include "tests/harness/base/moved_clock.hpp"
#include "tests/harness/fake.hpp"
#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"
#include "tests/memory.hpp"

namespace rankcheck::harness {
namespace {

class RunnerTest : public testing::Test {
 protected:
  RunnerTest() {
    for (int i = 0; i < 6; ++i) units_.push_back(sample_unit("operation_" + std::to_string(i)));
    hooks_.open = [this](const std::string&) {
      const std::lock_guard lock(mutex_);
      ++opened_;
      return std::make_unique<fake::FakeBackend>();
    };
    hooks_.check = [](Backend&, const Unit& unit, const RunLimits&) {
      Finding finding = passed(unit.operation);
      finding.cases = unit.cases;
      return finding;
    };
    hooks_.finish = [this](std::size_t index, const Finding& finding, bool whole) {
      outcomes_[index] = outcome_of(finding);
      if (whole) whole_.insert(index);
    };
  }

  Ending run() {
    Runner runner(options_, hooks_);
    return runner.run_round(units_, std::vector<bool>(units_.size(), false), 1);
  }

  std::vector<Unit> units_;
  RunnerOptions options_;
  RunnerHooks hooks_;
  std::mutex mutex_;
  int opened_ = 0;
  std::map<std::size_t, std::string> outcomes_;
  std::set<std::size_t> whole_;
};

TEST_F(RunnerTest, ChecksEveryUnitOnce) {
  options_.jobs = 3;
  EXPECT_EQ(run(), Ending::completed);
  EXPECT_EQ(outcomes_.size(), units_.size());
  EXPECT_EQ(whole_.size(), units_.size());
}

TEST_F(RunnerTest, EachThreadOpensABackendAtMostOnceAndThereAreNoMoreThanUnits) {
  options_.jobs = 2;
  run();
  EXPECT_GE(opened_, 1);
  EXPECT_LE(opened_, 2);
  opened_ = 0;
  options_.jobs = 64;
  run();
  EXPECT_LE(opened_, 6);
}

TEST_F(RunnerTest, ThreadsStayWithTheirAlgorithms) {
  for (std::size_t i = 0; i < units_.size(); ++i) {
    units_[i].operation = "all_reduce";
    units_[i].algorithm = i < units_.size() / 2 ? "ring" : "tree";
  }
  options_.jobs = 2;
  std::map<std::thread::id, std::vector<std::string>> algorithms;
  // No thread goes on before both have begun.
  std::latch begun(2);
  hooks_.check = [&, check = hooks_.check](Backend& backend, const Unit& unit, const auto& limits) {
    bool is_first = false;
    {
      const std::lock_guard lock(mutex_);
      std::vector<std::string>& own = algorithms[std::this_thread::get_id()];
      is_first = own.empty();
      if (is_first || own.back() != unit.algorithm) own.push_back(unit.algorithm);
    }
    if (is_first) begun.arrive_and_wait();
    return check(backend, unit, limits);
  };
  EXPECT_EQ(run(), Ending::completed);
  ASSERT_EQ(algorithms.size(), 2U);
  const auto& one = algorithms.begin()->second;
  const auto& other = algorithms.rbegin()->second;
  EXPECT_NE(one.front(), other.front());
  // The thread that ends first helps the other one.
  EXPECT_LE(one.size(), 2U);
  EXPECT_LE(other.size(), 2U);
}

TEST_F(RunnerTest, UnitsWithACountOfTheirOwnRunOneAtATime) {
  for (std::size_t i = 0; i < units_.size(); ++i) units_[i].count = i < 4 ? 1 : 0;
  options_.jobs = 2;
  std::atomic<std::int64_t> memory = 100;
  hooks_.available_memory = [&] { return memory.load(); };
  std::vector<std::int64_t> seen;
  // A large unit ends after one without a count, which another thread can run beside it.
  std::latch other(1);
  hooks_.check = [&, check = hooks_.check](Backend& backend, const Unit& unit, const auto& limits) {
    if (unit.count > 0) {
      seen.push_back(limits.memory_bytes);
      memory -= 60;
      other.wait();
      memory += 60;
    } else {
      EXPECT_EQ(limits.memory_bytes, RunLimits().memory_bytes);
      other.count_down();
    }
    return check(backend, unit, limits);
  };
  units_.pop_back();
  EXPECT_EQ(run(), Ending::completed);
  EXPECT_EQ(outcomes_.size(), units_.size());
  EXPECT_EQ(seen, std::vector<std::int64_t>(4, 100)) << "the memory before each large unit";
}

TEST_F(RunnerTest, NoThreadWaitsForALargeUnitThatWasInterrupted) {
  for (Unit& unit : units_) unit.count = 1;
  options_.jobs = 2;
  hooks_.check = [](Backend&, const Unit&, const RunLimits&) -> Finding { throw Interrupted(); };
  EXPECT_EQ(run(), Ending::interrupted);
  EXPECT_TRUE(outcomes_.empty());
}

TEST_F(RunnerTest, LeavesOutWhatIsDone) {
  std::vector<bool> done(units_.size(), true);
  done[4] = false;
  Runner(options_, hooks_).run_round(units_, done, 1);
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_TRUE(outcomes_.contains(4));
}

TEST_F(RunnerTest, FailFastStopsAtTheFirstFailure) {
  options_.fail_fast = true;
  hooks_.check = [](Backend&, const Unit&, const RunLimits&) { return sample_failure(); };
  EXPECT_EQ(run(), Ending::failed_fast);
  EXPECT_EQ(outcomes_.size(), 1U);
}

TEST_F(RunnerTest, BackendThatDoesNotOpenIsErroredWithItsReason) {
  hooks_.open = [](const std::string&) -> std::unique_ptr<Backend> {
    throw std::runtime_error("no cable");
  };
  EXPECT_EQ(run(), Ending::completed);
  EXPECT_EQ(outcomes_[0], "errored: the backend could not be opened: no cable");
  EXPECT_EQ(outcomes_[5], "errored: the backend could not be opened: no cable");
}

TEST_F(RunnerTest, ExceptionOfACheckIsErroredAndEndsAFailFastRun) {
  hooks_.check = [](Backend&, const Unit&, const RunLimits&) -> Finding {
    throw std::runtime_error("out of paper");
  };
  run();
  EXPECT_EQ(outcomes_[3], "errored: out of paper");
  outcomes_.clear();
  options_.fail_fast = true;
  EXPECT_EQ(run(), Ending::failed_fast);
  EXPECT_EQ(outcomes_.size(), 1U);
}

#if !RANKCHECK_HAS_SANITIZER
TEST_F(RunnerTest, ThreadThatDoesNotStartEndsTheRoundInOneLine) {
  units_.resize(200, units_.front());
  options_.jobs = 200;
  // All units stay under way until the round shows its progress. Then it starts no thread any more.
  std::atomic<bool> has_ticked = false;
  hooks_.tick = [&] {
    has_ticked = true;
    has_ticked.notify_all();
  };
  hooks_.check = [&](Backend&, const Unit& unit, const RunLimits&) {
    has_ticked.wait(false);
    return passed(unit.operation);
  };
  // The address space has room for seven stacks and a little more. Root ignores the other limits.
  rlimit before{};
  ::getrlimit(RLIMIT_AS, &before);
  const std::uint64_t pages = std::stoull(read_file("/proc/self/statm"));
  rlimit tight = before;
  tight.rlim_cur = pages * static_cast<std::uint64_t>(::getpagesize()) + (std::uint64_t{60} << 20);
  ::setrlimit(RLIMIT_AS, &tight);
  const std::string reason = complaint_of<std::exception>([&] { run(); });
  ::setrlimit(RLIMIT_AS, &before);
  EXPECT_TRUE(begins(reason, "cannot start thread "));
}
#endif

TEST_F(RunnerTest, BackendThatEndsBadlySpoilsTheLastUnitUnlessThatFailed) {
  const auto run_to = [this](const BackendFailure& end, Verdict all, Verdict last) {
    hooks_.open = [end](const std::string&) {
      auto backend = std::make_unique<fake::FakeBackend>();
      backend->failure = end;
      return backend;
    };
    hooks_.check = [=](Backend&, const Unit& unit, const RunLimits&) {
      return sample_finding(unit.operation, unit.operation == "operation_5" ? last : all);
    };
    Runner runner(options_, hooks_);
    runner.run_round(units_, std::vector<bool>(units_.size(), false), 1);
    runner.close(units_);
  };
  run_to({.status = RunStatus::hung, .reason = "stays"}, Verdict::errored, Verdict::errored);
  EXPECT_TRUE(begins(outcomes_[4], "errored"));
  EXPECT_TRUE(begins(outcomes_[5], "hung"));
  run_to({.status = RunStatus::crashed, .reason = "trips"}, Verdict::passed, Verdict::falsified);
  EXPECT_EQ(outcomes_[4], "passed");
  EXPECT_TRUE(begins(outcomes_[5], "falsified"));
}

TEST_F(RunnerTest, WhatFinishThrowsIsThrownOn) {
  hooks_.finish = [](std::size_t, const Finding&, bool) { throw FileError("disk full"); };
  EXPECT_THROW(run(), FileError);
}

/// Each hung unit takes many time-outs, and the fourth one says little more than three.
TEST_F(RunnerTest, AfterThreeHungUnitsFurtherOnesGetOneCase) {
  std::vector<int> cases;
  hooks_.check = [&](Backend&, const Unit& unit, const RunLimits&) {
    cases.push_back(unit.cases);
    Finding finding = passed(unit.operation);
    finding.cases = unit.cases;
    if (cases.size() <= 3) finding.verdict = Verdict::hung;
    return finding;
  };
  run();
  const int all = units_[0].cases;
  EXPECT_EQ(cases, (std::vector<int>{all, all, all, 1, 1, 1}));
  EXPECT_EQ(outcomes_[3], "vacuous: only one case was run, because 3 units of sim hung before");
}

TEST_F(RunnerTest, InterruptedUnitCountsTheCasesThatItRan) {
  std::atomic<bool> stop{false};
  options_.limits.stop = {.flag = &stop};
  hooks_.check = [&](Backend&, const Unit& unit, const RunLimits&) {
    if (unit.operation == "operation_1") stop.store(true);
    Finding finding = passed(unit.operation);
    finding.cases = stop.load() ? 3 : unit.cases;
    return finding;
  };
  EXPECT_EQ(run(), Ending::interrupted);
  EXPECT_EQ(outcomes_.size(), 2U);
  EXPECT_EQ(whole_.size(), 1U);
}

TEST_F(RunnerTest, InterruptedUnitIsDroppedIfItRanNoCase) {
  std::atomic<bool> stop{false};
  options_.limits.stop = {.flag = &stop};
  hooks_.check = [&](Backend&, const Unit& unit, const RunLimits&) {
    stop.store(true);
    Finding finding = passed(unit.operation);
    finding.cases = 0;
    return finding;
  };
  EXPECT_EQ(run(), Ending::interrupted);
  EXPECT_TRUE(outcomes_.empty());
}

TEST_F(RunnerTest, UnitWithoutAFindingEndsTheRound) {
  hooks_.check = [](Backend&, const Unit& unit, const RunLimits&) {
    if (unit.operation == "operation_1") throw Interrupted();
    return passed(unit.operation);
  };
  EXPECT_EQ(run(), Ending::interrupted);
  EXPECT_EQ(outcomes_.size(), 1U);
}

TEST_F(RunnerTest, BackendThatIsInterruptedWhileItOpensIsNotErrored) {
  hooks_.open = [](const std::string&) -> std::unique_ptr<Backend> { throw Interrupted(); };
  EXPECT_EQ(run(), Ending::interrupted);
  EXPECT_TRUE(outcomes_.empty());
}

TEST_F(RunnerTest, PauseEndsTheRoundAsAnInterruptDoes) {
  options_.limits.stop.pause = std::chrono::steady_clock::now();
  EXPECT_EQ(run(), Ending::interrupted);
  EXPECT_TRUE(outcomes_.empty());
}

/// The first unit runs until the time is over.
class CutUnitTest : public RunnerTest {
 protected:
  CutUnitTest() {
    options_.limits.deadline = RunClock::now() + std::chrono::hours(1);
    hooks_.check = [this](Backend&, const Unit& unit, const RunLimits& limits) {
      MovedClock::move_to(limits.deadline);
      return sample_finding(unit.operation, verdict_of_cut_);
    };
  }

  MovedClock clock_;
  Verdict verdict_of_cut_ = Verdict::passed;
};

TEST_F(CutUnitTest, IsNotWholeAndPassedWhereItCoveredEverything) {
  EXPECT_EQ(run(), Ending::time_over);
  EXPECT_EQ(outcomes_.size(), 1U);
  EXPECT_EQ(outcomes_[0], "passed");
  EXPECT_TRUE(whole_.empty());
}

TEST_F(CutUnitTest, IsSkippedWhereItLacksCoverage) {
  verdict_of_cut_ = Verdict::vacuous;
  options_.fail_fast = true;
  EXPECT_EQ(run(), Ending::time_over);
  EXPECT_EQ(outcomes_[0], "skipped: time_over");
}

/// Also a round that others follow.
TEST_F(CutUnitTest, CutsTheRunAlsoAsItsLast) {
  units_.resize(1);
  EXPECT_EQ(run(), Ending::time_over);
  options_.limits.deadline = RunClock::now() + std::chrono::hours(1);
  options_.coverage_grows = true;
  EXPECT_EQ(run(), Ending::time_over);
}

TEST_F(CutUnitTest, StaysVacuousWhereFurtherRoundsFollow) {
  verdict_of_cut_ = Verdict::vacuous;
  options_.coverage_grows = true;
  EXPECT_EQ(run(), Ending::time_over);
  EXPECT_TRUE(begins(outcomes_[0], "vacuous"));
}

TEST_F(CutUnitTest, FailsWithWhatItFound) {
  hooks_.check = [](Backend&, const Unit&, const RunLimits& limits) {
    MovedClock::move_to(limits.deadline);
    return sample_failure();
  };
  EXPECT_EQ(run(), Ending::time_over);
  EXPECT_TRUE(begins(outcomes_[0], "falsified"));
  EXPECT_EQ(whole_.size(), 1U);
}

}  // namespace
}  // namespace rankcheck::harness

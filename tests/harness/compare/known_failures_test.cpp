#include "harness/compare/known_failures.hpp"

#include <gtest/gtest.h>

#include "tests/harness/compare/sample_run.hpp"

namespace rankcheck::harness::compare {
namespace {

/// A run on MPICH in which a maximum of unsigned numbers is wrong.
class KnownFailuresTest : public testing::Test {
 protected:
  KnownFailuresTest() {
    run_.environment["backends"]["mpi"]["versions"]["mpi"] = "MPICH Version: 4.0.2";
    failure().minimal = {
        {"operation", "all_reduce"}, {"ranks", 2}, {"type", "uint8"}, {"op", "max"}};
  }

  RunFinding& failure() { return run_.findings.at(failing); }
  /// Whether the entry makes the failure a known one.
  bool is_known() {
    mark_known(run_, defects_);
    return failure().is_known;
  }
  [[nodiscard]] KnownStatus status() const { return known_statuses(run_, defects_).front(); }

  RunReport run_ = sample_run();
  std::vector<KnownDefect> defects_ = known_from_json(nlohmann::json::parse(R"({
    "known_version": 1,
    "defects": [{"id": "max", "operation": "*reduce*", "backend": "mpi",
                 "library": {"name": "MPICH", "versions": "4.0.2"},
                 "cases": {"type": ["uint8", "uint64"], "op": "max"},
                 "reason": "compares as signed", "expires": "2026-06-30"}]})"),
                                                      "test");
};

TEST_F(KnownFailuresTest, AFailureIsKnownIfItsCaseIsAsTheEntrySays) {
  EXPECT_TRUE(is_known());
  EXPECT_TRUE(failure().may_hide_others);
  ASSERT_EQ(failure().known.size(), 1U);
  EXPECT_EQ(failure().known.front().id, "max");
  EXPECT_FALSE(run_.findings.at(ring).is_known) << "it passed";
  EXPECT_EQ(known_line(status()), "max: 1 unit fails as known: compares as signed");
}

TEST_F(KnownFailuresTest, AnotherCaseVerdictVersionOrOperationIsNotKnown) {
  failure().minimal["op"] = "sum";
  EXPECT_FALSE(is_known());
  failure().minimal["op"] = "max";
  failure().verdict = Verdict::crashed;
  EXPECT_FALSE(is_known());
  failure().verdict = Verdict::falsified;
  run_.environment["backends"]["mpi"]["versions"]["mpi"] = "MPICH Version: 4.1";
  EXPECT_FALSE(is_known());
  EXPECT_EQ(status().state, KnownState::not_applied);
  run_.environment["backends"]["mpi"]["versions"]["mpi"] = "MPICH Version: 4.0.2";
  failure().operation = "broadcast";
  EXPECT_FALSE(is_known());
}

TEST_F(KnownFailuresTest, AnotherSymptomIsNotKnown) {
  failure().symptom = Symptom::outside;
  EXPECT_FALSE(is_known());
  failure().symptom = Symptom::value;
  EXPECT_TRUE(is_known());
}

/// Another version of rankcheck may have other fields.
TEST_F(KnownFailuresTest, ACaseThatCannotBeReadIsNotKnown) {
  failure().minimal["planet"] = "mars";
  EXPECT_FALSE(is_known());
  failure().minimal = nullptr;
  EXPECT_FALSE(is_known());
}

TEST_F(KnownFailuresTest, WhatTheRunKnewItselfHidesNothing) {
  failure().is_known = true;
  failure().known = {{.id = "max", .covered = 9, .failed = 4}};
  EXPECT_TRUE(is_known());
  EXPECT_FALSE(failure().may_hide_others);
  EXPECT_EQ(status().failed, 4);
}

TEST_F(KnownFailuresTest, AnEntryWithoutAFailureOrThatExpiredIsStale) {
  failure().verdict = Verdict::passed;
  EXPECT_TRUE(status().is_stale());
  EXPECT_EQ(known_line(status()), "stale: max: no failure is as it says: compares as signed");
  failure().verdict = Verdict::falsified;
  EXPECT_TRUE(is_known());
  EXPECT_FALSE(status().is_stale());
  run_.environment["started"] = "2026-07-01T00:00:00Z";
  EXPECT_TRUE(status().is_stale());
  EXPECT_EQ(known_line(status()),
            "stale: max: 1 unit fails as known, and it expired on 2026-06-30: compares as signed");
}

}  // namespace
}  // namespace rankcheck::harness::compare

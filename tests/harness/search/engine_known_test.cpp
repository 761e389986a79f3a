#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/known/known_defects.hpp"
#include "harness/search/known_cases.hpp"

#include "tests/harness/search/engine_fixture.hpp"

/// The engine with known defects.
namespace rankcheck::harness {
namespace {

struct EngineKnownTest : EngineTest {
  /// Makes the entries known. Each is the JSON of `cases` and, if there are any, other fields.
  void know(const std::vector<std::string>& entries) {
    nlohmann::json all = nlohmann::json::array();
    for (const std::string& each : entries) {
      nlohmann::json entry = nlohmann::json::parse("{" + each + "}");
      entry["id"] = "known-" + std::to_string(all.size());
      entry["reason"] = "why";
      all.push_back(entry);
    }
    defects = known_from_json({{"known_version", 1}, {"defects", all}}, "here");
    limits.known.clear();
    for (const KnownDefect& each : defects) limits.known.push_back(&each);
  }

  /// Returns the verdict, and whether the finding is known or red.
  static std::string judged(const Finding& finding) {
    return std::string(name(finding.verdict)) + (finding.is_known ? ", known" : "") +
           (is_red(finding) ? ", red" : "");
  }
  std::string judged_run() { return judged(run()); }

  static bool is_int8(const Case& c) { return c.type == spec::Type::int8; }

  /// All cases of int8 fail in this way. An entry covers them, with these fields besides.
  void know_and_plant_int8(RunStatus status, const std::string& fields = "") {
    know({R"("cases":{"type":"int8"})" + fields});
    plant(status, is_int8);
  }

  std::vector<KnownDefect> defects;
  const Case one_of_int8 = case_from_text(
      R"({"operation":"all_reduce","algorithm":"direct","backend":"fake","property":"completes",)"
      R"("ranks":2,"count":1,"type":"int8","op":"sum"})");
};

TEST_F(EngineKnownTest, CountsKnownFailuresAndGoesOn) {
  know({R"("cases":{"type":"int8","ranks":{"min":2}})"});
  plant(RunStatus::failed, [](const Case& c) { return is_int8(c) && c.ranks > 3; });
  const Finding finding = run();
  EXPECT_EQ(judged(finding), "falsified, known");
  EXPECT_EQ(finding.reason, "planted");
  EXPECT_EQ(finding.cases, 200) << "the unit did not end at its first failure";
  ASSERT_EQ(finding.known.size(), 1U);
  EXPECT_GT(finding.known[0].failed, 0);
  EXPECT_GT(finding.known[0].covered, finding.known[0].failed);
  EXPECT_EQ(finding.minimal, finding.known[0].minimal);
  EXPECT_TRUE(is_int8(*finding.minimal));
  EXPECT_EQ(backend.restarts, 0) << "a known failure is not replayed";
}

TEST_F(EngineKnownTest, AKnownDefectHidesNoOther) {
  know({R"("cases":{"type":"int8"})"});
  plant(RunStatus::failed, [](const Case& c) { return is_int8(c) || has_remainder(c); });
  const Finding finding = run();
  EXPECT_EQ(judged(finding), "falsified, red");
  ASSERT_TRUE(finding.minimal);
  EXPECT_TRUE(has_remainder(*finding.minimal)) << to_text(*finding.minimal);
  EXPECT_FALSE(is_int8(*finding.minimal));
  EXPECT_EQ(finding.replays_failed, 5);
}

/// A case that fails in another way than the entry says is another defect.
TEST_F(EngineKnownTest, AnotherVerdictIsAnotherDefect) {
  know_and_plant_int8(RunStatus::crashed);
  EXPECT_EQ(judged_run(), "crashed, red");
}

TEST_F(EngineKnownTest, AnotherSymptomIsAnotherDefect) {
  plant(RunStatus::failed, is_int8);
  for (const Symptom each : {Symptom::error, Symptom::outside, Symptom::race, Symptom::path}) {
    know({R"("cases":{"type":"int8"})"});
    backend.symptom = [=](const Case&) { return each; };
    const Finding finding = run();
    EXPECT_EQ(judged(finding), "falsified, red") << name(each);
    EXPECT_EQ(finding.symptom, each);
  }
  know({R"("cases":{"type":"int8"},"symptoms":["race","value"])"});
  backend.symptom = [](const Case& c) { return c.ranks > 2 ? Symptom::race : Symptom::value; };
  EXPECT_FALSE(is_red(run()));
}

/// A backend that reports an error names no symptom.
TEST_F(EngineKnownTest, AnErrorMustBeNamed) {
  plant(RunStatus::failed, is_int8);
  backend.symptom = [](const Case&) { return Symptom::none; };
  know({R"("cases":{"type":"int8"})"});
  EXPECT_EQ(run().symptom, Symptom::error);
  know({R"("cases":{"type":"int8"},"symptoms":["error"])"});
  EXPECT_FALSE(is_red(run()));
}

/// Workers may die between two runs. That says nothing about the next case.
TEST_F(EngineKnownTest, ACrashFromBeforeIsNeverKnown) {
  know({R"("cases":{"type":"int8"},"verdicts":["crashed","flaky","falsified"])"});
  plant(RunStatus::crashed, is_int8);
  backend.symptom = [](const Case&) { return Symptom::from_before; };
  EXPECT_EQ(judged_run(), "crashed, red");
  unit.pinned = "all_reduce/one";
  EXPECT_TRUE(is_red(run_pinned(catalogue, backend, unit, one_of_int8, limits)));
}

/// The simplest types are f32 and int32, so that an unrestricted search would slip into them.
TEST_F(EngineKnownTest, ShrinkingDoesNotSlipIntoAKnownDefect) {
  know({R"("cases":{"type":["f32","int32"]})"});
  plant(RunStatus::failed, [](const Case& c) {
    return c.type == spec::Type::f32 || c.type == spec::Type::int32 || has_remainder(c);
  });
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::falsified);
  ASSERT_TRUE(finding.minimal);
  EXPECT_EQ(finding.minimal->type, spec::Type::int8);
  EXPECT_TRUE(has_remainder(*finding.minimal));
  EXPECT_GT(finding.shrinks, 0);
}

/// More than 14 elements leave the backend in a bad state until it is restarted, so that at first
/// every simpler case fails. In a backend that starts afresh, 8 to 14 elements fail as known.
TEST_F(EngineKnownTest, ShrinkingAfreshDoesNotSlipIntoAKnownDefect) {
  know({R"("cases":{"count":{"min":8,"max":14}})"});
  plant(RunStatus::failed, [this, spoiled = false, restarts = 0](const Case& c) mutable {
    spoiled = (spoiled && backend.restarts == restarts) || c.count > 14;
    restarts = backend.restarts;
    return spoiled || c.count > 7;
  });
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::falsified);
  ASSERT_TRUE(finding.minimal);
  EXPECT_EQ(finding.minimal->count, 15);
}

TEST_F(EngineKnownTest, TheFirstEntryThatCoversAFailureHasIt) {
  know({R"("cases":{"type":"int8","op":"sum"})", R"("cases":{"type":"int8"})"});
  plant(RunStatus::failed, is_int8);
  const Finding finding = run();
  ASSERT_EQ(finding.known.size(), 2U);
  EXPECT_EQ(finding.known[0].failed, finding.known[0].covered);
  EXPECT_EQ(finding.known[1].failed, finding.known[1].covered - finding.known[0].failed);
}

TEST_F(EngineKnownTest, AnEntryThatPassesIsCounted) {
  know({R"("cases":{"type":"int8"})"});
  const Finding finding = run();
  EXPECT_EQ(finding.verdict, Verdict::passed);
  ASSERT_EQ(finding.known.size(), 1U);
  EXPECT_GT(finding.known[0].covered, 0);
  EXPECT_EQ(finding.known[0].failed, 0);
}

TEST_F(EngineKnownTest, CellsThatOnlyKnownFailuresReachAreNamed) {
  know_and_plant_int8(RunStatus::failed);
  const Finding finding = run();
  EXPECT_TRUE(finding.is_known) << finding.reason;
  EXPECT_FALSE(finding.known_cells.empty());
  EXPECT_TRUE(finding.missing_cells.empty());
  for (const std::string& cell : finding.known_cells) {
    EXPECT_TRUE(has(cell, "int8/"));
    EXPECT_FALSE(finding.cells.contains(cell)) << cell;
  }
  EXPECT_EQ(finding.cells.size() + finding.known_cells.size(), all_cells);
}

/// Somebody accepts that all of a unit is broken. The finding says so.
TEST_F(EngineKnownTest, AUnitMayFailInAllCases) {
  know({R"("operation":"*")"});
  plant(RunStatus::failed, [](const Case&) { return true; });
  unit.ranks_required = 4;
  const Finding finding = run();
  EXPECT_EQ(judged(finding), "falsified, known") << finding.reason;
  EXPECT_TRUE(finding.cells.empty()) << "known failures cover nothing";
  EXPECT_EQ(finding.known_cells.size(), all_cells);
  EXPECT_EQ(known_text(finding), "known known-0 (200 of 200 cases failed)");
}

/// Known failures excuse only the cells that they reach.
TEST_F(EngineKnownTest, ACellThatNoCaseReachedIsStillMissing) {
  know_and_plant_int8(RunStatus::failed);
  unit.cases = 20;
  const Finding finding = run();
  EXPECT_EQ(judged(finding), "vacuous, red");
  EXPECT_TRUE(has(finding.reason, "; known known-0 ("));
  EXPECT_FALSE(finding.minimal);
}

TEST_F(EngineKnownTest, ACrashRestartsTheBackendAndSuchCasesAreLeftOutSoon) {
  know_and_plant_int8(RunStatus::crashed, R"(,"verdicts":["crashed"])");
  const Finding finding = run();
  EXPECT_EQ(judged(finding), "crashed, known") << finding.reason;
  EXPECT_EQ(finding.known[0].failed, known_restarts_max);
  EXPECT_GT(finding.known[0].left_out, 0);
  EXPECT_EQ(finding.cases + finding.known[0].left_out, 200);
  EXPECT_EQ(backend.renewals, known_restarts_max);
}

/// The known defect is in the second call of the property.
TEST_F(EngineKnownTest, CasesWithSuchAStageAreLeftOutSoon) {
  Property twice = fake::completes("twice");
  twice.program = [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
    stages = {c, c};
    stages[1].operation = "broadcast";
  };
  use(twice);
  know({R"("operation":"broadcast","cases":{"type":"int8"},"verdicts":["hung"])"});
  plant(RunStatus::hung, is_int8);
  const Finding finding = run();
  EXPECT_TRUE(finding.is_known) << finding.reason;
  ASSERT_EQ(finding.known.size(), 1U);
  EXPECT_EQ(finding.known[0].failed, known_restarts_max);
  EXPECT_GT(finding.known[0].left_out, 0);
}

/// Such a case may leave memory in which a later case fails in any way.
TEST_F(EngineKnownTest, ADamageOfMemoryRestartsTheBackend) {
  know({R"("cases":{"type":"int8"},"symptoms":["value","outside"])"});
  // Every second case shows nothing.
  backend.symptom = [](const Case&) { return Symptom::outside; };
  plant(RunStatus::failed, [n = 0](const Case& c) mutable { return is_int8(c) && ++n % 2 == 0; });
  const Finding finding = run();
  EXPECT_TRUE(finding.is_known) << finding.reason;
  EXPECT_EQ(finding.cases, 200);
  EXPECT_EQ(finding.known[0].failed, finding.known[0].covered / 2);
  EXPECT_EQ(backend.renewals, finding.known[0].covered);
}

TEST_F(EngineKnownTest, AKnownHangHidesNoOtherDefect) {
  know({R"("cases":{"type":"int8"},"verdicts":["hung"])"});
  backend.outcome = [](const Case& c) {
    if (is_int8(c)) return RunStatus::hung;
    return has_remainder(c) ? RunStatus::failed : RunStatus::completed;
  };
  EXPECT_EQ(judged_run(), "falsified, red");
}

TEST_F(EngineKnownTest, AFlakyEntryCoversOnlyFailuresThatComeAndGoWithTheSymptom) {
  know({R"("cases":{"type":"int8"},"verdicts":["flaky"])"});
  plant(RunStatus::failed, [&](const Case& c) { return is_int8(c) && backend.restarts % 2 == 0; });
  EXPECT_EQ(judged_run(), "flaky, known");
  backend.restarts = 0;
  backend.symptom = [](const Case&) { return Symptom::outside; };
  EXPECT_TRUE(is_red(run()));
  backend.symptom = [](const Case&) { return Symptom::value; };
  plant(RunStatus::failed, is_int8);
  EXPECT_EQ(judged_run(), "falsified, red");
}

TEST_F(EngineKnownTest, APinnedCaseCanBeKnown) {
  know_and_plant_int8(RunStatus::failed);
  unit.pinned = "all_reduce/one";
  Case c = one_of_int8;
  const Finding finding = run_pinned(catalogue, backend, unit, c, limits);
  EXPECT_EQ(judged(finding), "falsified, known");
  EXPECT_EQ(finding.minimal, c);
  plant(RunStatus::failed, [](const Case&) { return true; });
  c.type = spec::Type::f32;
  EXPECT_TRUE(is_red(run_pinned(catalogue, backend, unit, c, limits)));
}

/// A composition takes any algorithm for what it compares with.
TEST_F(EngineKnownTest, AStageThatRanAnotherAlgorithmMayBeTheKnownOne) {
  know({R"("operation":"broadcast","algorithm":"chain","cases":{"type":"int8"})",
        R"("operation":"gather")"});
  KnownCases known(unit, limits.known);
  std::vector<Case> stages(2);
  stages[0].operation = "all_reduce";
  stages[1].operation = "broadcast";
  stages[1].algorithm = "chain";
  stages[1].type = spec::Type::int8;
  Judgement failure;
  failure.fail(Verdict::falsified, "wrong");
  Judgement crash;
  crash.fail(Verdict::crashed, "died", Symptom::none);
  EXPECT_TRUE(known.covers_stages(stages, failure));
  EXPECT_FALSE(known.covers_stages(stages, crash));
  EXPECT_FALSE(known.count(stages[0], stages, {}, Verdict::passed));
  EXPECT_TRUE(known.count(stages[0], stages, failure, Verdict::falsified));
  stages[1].algorithm = "tree";
  EXPECT_FALSE(known.count(stages[0], stages, failure, Verdict::falsified));
  ASSERT_EQ(known.counts().size(), 1U);
  EXPECT_EQ(known.counts()[0].covered, 1);
  EXPECT_EQ(known.counts()[0].failed, 1);
}

TEST_F(EngineKnownTest, TheSameSeedGivesTheSameFinding) {
  know_and_plant_int8(RunStatus::failed);
  EXPECT_EQ(to_json(run()), to_json(run()));
}

TEST_F(EngineKnownTest, CasesAreTheSameWithAndWithoutKnownDefects) {
  std::vector<std::string> drawn;
  backend.outcome = [&](const Case& c) {
    drawn.push_back(to_text(c));
    return RunStatus::completed;
  };
  run();
  const std::vector<std::string> without = std::exchange(drawn, {});
  know({R"("cases":{"type":"int8"})"});
  run();
  EXPECT_EQ(drawn, without);
}

}  // namespace
}  // namespace rankcheck::harness

#include "cases/hardware/gate_journal.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "harness/report/journal.hpp"

#include "tests/cases/hardware/made_up.hpp"
#include "tests/harness/report/journal_text.hpp"
#include "tests/harness/sample.hpp"

/// A gate that is killed. Its devices and links are made up.
namespace rankcheck::cases::hardware {
namespace {

namespace fs = std::filesystem;
using harness::BadInput;
using nlohmann::ordered_json;

struct Killed {};

class GateJournalTest : public testing::Test {
 protected:
  static GateHeader header() {
    GateHeader header;
    header.run = {{"suites", {"hardware"}}, {"seed", 3}};
    header.environment = {{"host", "made up"}};
    header.doctor = {{"cuda", "made up"}};
    header.options = {.seed = 3, .parts = made_up_parts(2), .bytes = 1024};
    header.devices = made_up_devices(2);
    return header;
  }

  fs::path folder(const std::string& name) {
    fs::path path = parent_.path() / name;
    fs::create_directories(path);
    return path;
  }

  /// Returns hooks that are killed at the answer after `answers_max` answers. `soak_s` is the
  /// soak's time in seconds.
  Hooks surroundings(const fs::path& folder, int answers_max, double soak_s) {
    seconds_ = 0;
    left_ = answers_max;
    soak_s_ = soak_s;
    return {.probe =
                [this](const ProbeRequest& request) {
                  answer();
                  ProbeOutcome outcome = good_probe(request);
                  if (is_slow(request)) outcome.result.seconds.assign(4, 1e-3);
                  return outcome;
                },
            .run =
                [this, folder](const PhaseRequest& request) {
                  // The part's findings are on disk before the kill.
                  if (left_ == 0) leave_report(folder / folder_of(request), request);
                  answer();
                  return leave_report(folder / folder_of(request), request);
                },
            .soak_s = [this] { return std::exchange(soak_s_, 0); },
            .now_s = [this] { return seconds_; },
            .why_end = [] { return std::string(); },
            .say = [](const std::string&) {}};
  }

  static bool is_slow(const ProbeRequest& request) { return request.from == 0 && request.to == 1; }

  void answer() {
    if (left_-- == 0) throw Killed();
    ++asked_;
    seconds_ += 1;
  }

  /// Leaves the files of a run that was not interrupted.
  static PhaseOutcome leave_report(const fs::path& folder, const PhaseRequest& request) {
    PhaseOutcome outcome = passing_phase(request);
    fs::create_directories(folder);
    if (request.phase == Phase::speed) {
      const ordered_json measured{{"name", "cases/cuda/manual_time"}, {"cases_per_second", 30}};
      harness::write_file(speed_file(folder),
                          ordered_json{{"benchmarks", ordered_json::array({measured})}}.dump());
      return outcome;
    }
    const harness::Finding& finding = outcome.report.findings.front();
    harness::Journal journal(gate_journal(folder),
                             harness::JournalHeader{.run = ordered_json::object(),
                                                    .directory = "/",
                                                    .units = {finding.unit},
                                                    .pinned = {}});
    journal.append({.finding = finding});
    journal.end({.ending = "completed", .rounds = 1, .finished = "", .duration_s = 1});
    outcome.report = journal.record().report();
    return outcome;
  }

  /// Returns whether the gate was killed.
  bool begin(const fs::path& folder, int answers_max) {
    GateSession session(folder, header());
    return run(session, surroundings(folder, answers_max, soak_total_s));
  }
  /// Resumes the gate with a soak of `soak_s` seconds in total. Returns whether the gate was
  /// killed.
  bool go_on(const fs::path& folder, int answers_max, double soak_s = soak_total_s) {
    GateContent content = read_gate(folder);
    const double left_s = soak_s - soaked_s(content.answers);
    GateSession session(folder, std::move(content), {{"host", "another"}});
    return run(session, surroundings(folder, answers_max, left_s));
  }

  static bool run(GateSession& session, const Hooks& hooks) {
    try {
      const GateReport gate = session.run(hooks);
      session.end({.ending = gate.report.ending, .finished = "later", .duration_s = 1});
      return false;
    } catch (const Killed&) {
      return true;
    }
  }

  /// Returns the report as JSON, without the session's environment.
  static std::string told(const fs::path& folder) {
    GateReport gate = report_of(folder);
    gate.report.environment = {{"hardware", gate.report.environment.at("hardware")}};
    return harness::to_json(gate.report).dump(1);
  }

  static constexpr double soak_total_s = 10;
  harness::TemporaryFolder parent_;
  int asked_ = 0;

 private:
  double soak_s_ = 0;
  double seconds_ = 0;
  int left_ = 0;
};

constexpr int no_end = 1 << 20;

/// A quick gate stays quick when it is resumed or reported.
TEST_F(GateJournalTest, KeepsWhetherItIsQuick) {
  const fs::path place = folder("quick");
  GateHeader quick = header();
  EXPECT_FALSE(quick.options.is_quick);
  quick.options.parts.clear();
  quick.options.is_quick = true;
  GateSession session(place, quick);
  session.run(surroundings(place, 100, 0));
  session.end({.ending = "completed", .finished = "later", .duration_s = 1});
  EXPECT_TRUE(read_gate(place).header.options.is_quick);
  const GateReport gate = report_of(place);
  EXPECT_TRUE(gate.is_quick);
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  EXPECT_EQ(gate.links.size(), 8U);
}

TEST_F(GateJournalTest, KnownDefectsAreJudgedOverAllParts) {
  const fs::path place = folder("known");
  GateHeader given = header();
  given.known = {{"known_version", 1},
                 {"defects", {{{"id", "one"}, {"operation", "broadcast"}, {"reason", "why"}}}}};
  GateSession session(place, given);
  session.run(surroundings(place, no_end, soak_total_s));
  session.end({.ending = "completed", .finished = "later", .duration_s = 1});
  EXPECT_EQ(read_gate(place).header.known, given.known);
  GateReport gate = report_of(place);
  ASSERT_EQ(gate.report.known.size(), 1U);
  EXPECT_EQ(gate.report.known.front().state, harness::KnownState::unmatched);
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  EXPECT_NE(short_text(gate).find("\nknown one: covers no case of this run"), std::string::npos)
      << short_text(gate);
  // A strict gate with the same journal fails.
  given.run["strict_known"] = true;
  const fs::path strict = folder("strict");
  GateSession other(strict, given);
  other.run(surroundings(strict, no_end, soak_total_s));
  other.end({.ending = "completed", .finished = "later", .duration_s = 1});
  const GateReport failed = report_of(strict);
  EXPECT_EQ(failed.status, 1);
  EXPECT_NE(short_text(failed).find("FAILED, because 1 known defect is stale"), std::string::npos)
      << short_text(failed);
}

TEST_F(GateJournalTest, ReportOfAWholeGateIsThatOfItsEnd) {
  const fs::path here = folder("whole");
  ASSERT_FALSE(begin(here, no_end));
  const GateReport gate = report_of(here);
  EXPECT_EQ(gate.report.ending, "completed");
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  EXPECT_EQ(gate.report.environment.at("finished"), "later");
  EXPECT_EQ(gate.report.environment.at("hardware").at("doctor"), header().doctor);
}

TEST_F(GateJournalTest, KilledGateKeepsTheLinksThatItMeasured) {
  const fs::path here = folder("killed");
  // The gate is killed at the second method of the slow link.
  ASSERT_TRUE(begin(here, 3));
  const GateReport gate = report_of(here);
  EXPECT_EQ(gate.report.ending, "killed");
  EXPECT_EQ(gate.status, 2);
  ASSERT_EQ(gate.links.size(), 8U);
  EXPECT_DOUBLE_EQ(gate.links[0].gigabytes_per_s(), 1.024);
  EXPECT_DOUBLE_EQ(gate.links[2].gigabytes_per_s(), 0.001024);
  for (std::size_t i = 0; i < gate.links.size(); ++i) {
    EXPECT_EQ(gate.links[i].volume.bytes > 0, i < 3) << i;
  }
}

TEST_F(GateJournalTest, KilledAnywhereItGoesOnToWhatAWholeOneReports) {
  const fs::path whole = folder("whole");
  ASSERT_FALSE(begin(whole, no_end));
  const std::string expected = told(whole);
  const int answers = asked_;
  ASSERT_GT(answers, 20);
  // Only every third place is tested: each flushes dozens of files to the disk.
  for (int k = 0; k < answers; k += 3) {
    const fs::path here = folder(std::to_string(k));
    asked_ = 0;
    ASSERT_TRUE(begin(here, k));
    EXPECT_EQ(report_of(here).report.ending, "killed") << k;
    ASSERT_TRUE(go_on(here, (answers - k) / 2));
    ASSERT_FALSE(go_on(here, no_end));
    EXPECT_EQ(told(here), expected) << k;
    // Nothing is asked twice.
    EXPECT_EQ(asked_, answers) << k;
    EXPECT_EQ(report_of(here).report.environment.at("host"), "another");
  }
}

TEST_F(GateJournalTest, GoesOnForLongerWhereItStopped) {
  const fs::path whole = folder("whole");
  ASSERT_FALSE(begin(whole, no_end));
  const int before = asked_;
  const std::string shorter = told(whole);
  ASSERT_FALSE(go_on(whole, no_end, 20));
  const std::string expected = told(whole);
  EXPECT_NE(expected, shorter);
  const int answers = asked_;
  // Five probes take half of the budget. The suites take the other half and answer once.
  EXPECT_EQ(answers, before + 5 + 1);
  for (int k = 0; k < answers - before; ++k) {
    const fs::path here = folder(std::to_string(k));
    asked_ = 0;
    // The remaining time of the first budget is used first.
    ASSERT_TRUE(begin(here, before - 3));
    ASSERT_TRUE(go_on(here, 3 + k, 20));
    EXPECT_EQ(report_of(here).report.ending, "killed") << k;
    ASSERT_FALSE(go_on(here, no_end, 20));
    EXPECT_EQ(told(here), expected) << k;
    EXPECT_EQ(asked_, answers) << k;
  }
}

TEST_F(GateJournalTest, WritesItsReportsBeforeEachPhase) {
  const fs::path here = folder("reports");
  // Eight links are measured, and the first phase has begun.
  ASSERT_TRUE(begin(here, 8));
  const auto links = [&] {
    const ordered_json report = ordered_json::parse(harness::read_file(here / "report.json"));
    return report.at("findings").size();
  };
  EXPECT_EQ(links(), 8U);
  // The phase's own findings are in its own folder and in the next report.
  ASSERT_TRUE(go_on(here, 1));
  EXPECT_EQ(links(), 9U);
  // Verdicts on the parts come before the findings of all of them.
  const std::string summary = harness::read_file(here / "summary.md");
  const std::size_t parts = summary.find("| cuda | passed | 100 |");
  EXPECT_LT(parts, summary.find("all_reduce")) << summary;
  EXPECT_NE(summary.find("all_reduce"), std::string::npos) << summary;
}

TEST_F(GateJournalTest, GateWhoseTimeIsOverGoesOnAtTheNextPart) {
  const fs::path whole = folder("whole");
  ASSERT_FALSE(begin(whole, no_end));
  const std::string expected = told(whole);
  for (int most = 0;; most += 3) {
    const fs::path here = folder(std::to_string(most));
    {
      GateSession session(here, header());
      Hooks hooks = surroundings(here, no_end, soak_total_s);
      int ends = 0;
      hooks.why_end = [&] { return ++ends > most ? std::string("time_over") : std::string(); };
      const GateReport gate = session.run(hooks);
      if (gate.report.ending == "completed") {
        EXPECT_GT(most, 20);
        return;
      }
      session.end({.ending = gate.report.ending, .finished = "later", .duration_s = 1});
    }
    EXPECT_EQ(report_of(here).status, 2) << most;
    EXPECT_EQ(report_of(here).report.ending, "time_over") << most;
    ASSERT_FALSE(go_on(here, no_end)) << most;
    EXPECT_EQ(told(here), expected) << most;
  }
}

TEST_F(GateJournalTest, PhaseThatWasEndedIsReportedAsFarAsItCame) {
  const fs::path here = folder("phase");
  // All eight links are measured, and the suites have found something.
  ASSERT_TRUE(begin(here, 8));
  const GateReport gate = report_of(here);
  EXPECT_EQ(gate.cases, 100);
  EXPECT_EQ(gate.report.findings.size(), 9U);
  EXPECT_EQ(gate.status, 2);
}

TEST_F(GateJournalTest, PhaseThatWasEndedIsRunAgain) {
  const fs::path here = folder("ended");
  {
    GateSession session(here, header());
    Hooks hooks = surroundings(here, no_end, soak_total_s);
    hooks.run = [](const PhaseRequest&) { return PhaseOutcome{.ended_early = "time_over"}; };
    ASSERT_FALSE(run(session, hooks));
  }
  EXPECT_EQ(report_of(here).report.ending, "time_over");
  ASSERT_FALSE(go_on(here, no_end));
  const GateReport gate = report_of(here);
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  ASSERT_GT(gate.phases.size(), 1U);
  EXPECT_EQ(gate.phases[1].cases, 100);
}

/// It may have been killed before it said the last one.
TEST_F(GateJournalTest, SaysNoAnswerAgainButTheLast) {
  const fs::path here = folder("said");
  ASSERT_TRUE(begin(here, 3));
  std::vector<std::string> said;
  GateSession session(here, read_gate(here), ordered_json::object());
  Hooks hooks = surroundings(here, 2, soak_total_s);
  hooks.say = [&](const std::string& line) { said.push_back(line); };
  ASSERT_TRUE(run(session, hooks));
  ASSERT_EQ(said.size(), 3U);
  EXPECT_EQ(said.front().find("link 0 to 1     copy"), 0U) << said.front();
}

TEST_F(GateJournalTest, PhaseThatWasKilledBeforeItsHeaderFoundNothing) {
  const fs::path here = folder("header");
  ASSERT_TRUE(begin(here, 8));
  const fs::path journal = gate_journal(here / "cuda");
  ASSERT_TRUE(harness::holds_run(journal));
  fs::resize_file(journal, 20);
  EXPECT_EQ(report_of(here).cases, 0);
}

TEST_F(GateJournalTest, LineThatWasTornIsDropped) {
  const fs::path here = folder("torn");
  ASSERT_TRUE(begin(here, 3));
  fs::resize_file(gate_journal(here), fs::file_size(gate_journal(here)) - 2);
  EXPECT_EQ(read_gate(here).answers.size(), 2U);
  ASSERT_FALSE(go_on(here, no_end));
  EXPECT_EQ(report_of(here).status, 0);
}

TEST_F(GateJournalTest, AnswersToOtherQuestionsAreRefused) {
  const fs::path here = folder("other");
  ASSERT_TRUE(begin(here, 3));
  std::string journal = harness::read_file(gate_journal(here));
  const std::string seed = R"("doctor":{"cuda":"made up"},"seed":3)";
  const std::size_t at = journal.find(seed);
  ASSERT_NE(at, std::string::npos);
  journal[at + seed.size() - 1] = '4';
  harness::write_file(gate_journal(here), harness::with_checksums(journal));
  EXPECT_THROW((void)report_of(here), BadInput);
}

TEST_F(GateJournalTest, LinesThatChangedAreRefused) {
  const fs::path here = folder("changed");
  ASSERT_TRUE(begin(here, 3));
  const std::string journal = harness::read_file(gate_journal(here));
  EXPECT_TRUE(read_gate(here).lines.has_checksums);
  std::string changed = journal;
  changed[changed.find(R"("seed":3)") + 7] = '4';
  harness::write_file(gate_journal(here), changed);
  EXPECT_THROW((void)read_gate(here), BadInput);
  // Journals of older versions have no checksums. They can still be reported.
  harness::write_file(gate_journal(here), harness::without_checksums(journal));
  EXPECT_FALSE(read_gate(here).lines.has_checksums);
  EXPECT_EQ(report_of(here).status, 2);
}

TEST_F(GateJournalTest, OtherVersionsAreRefused) {
  const fs::path here = folder("version");
  ASSERT_TRUE(begin(here, 3));
  std::string journal = harness::read_file(gate_journal(here));
  const std::string version = R"("gate_journal_version":)";
  journal.insert(journal.find(version) + version.size(), "9");
  harness::write_file(gate_journal(here), harness::with_checksums(journal));
  EXPECT_THROW((void)read_gate(here), BadInput);
}

TEST_F(GateJournalTest, FileOfSpeedsWithoutATargetIsNamed) {
  const fs::path here = folder("speeds");
  harness::write_file(speed_file(here), R"({"benchmarks":[]})");
  try {
    (void)read_speeds(here);
    ADD_FAILURE() << "expected BadInput";
  } catch (const BadInput& bad) {
    EXPECT_EQ(bad.what(), speed_file(here).string() + ": expected a measurement that has a target");
  }
}

TEST_F(GateJournalTest, NegativeNumbersAreRefused) {
  const fs::path here = folder("negative");
  ASSERT_TRUE(begin(here, 3));
  std::string journal = harness::read_file(gate_journal(here));
  journal.insert(journal.find(R"("at_s":)") + 7, "-1,\"was\":");
  harness::write_file(gate_journal(here), harness::with_checksums(journal));
  EXPECT_THROW((void)read_gate(here), BadInput);
}

TEST_F(GateJournalTest, JournalsOfGatesAndOfRunsAreToldApart) {
  const fs::path here = folder("here");
  EXPECT_FALSE(is_gate(here));
  ASSERT_FALSE(begin(here, no_end));
  EXPECT_TRUE(is_gate(here));
  EXPECT_FALSE(is_gate(here / "suites"));
  EXPECT_THROW((void)read_gate(here / "suites"), BadInput);
}

}  // namespace
}  // namespace rankcheck::cases::hardware

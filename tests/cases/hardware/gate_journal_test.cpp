#include "cases/hardware/gate_journal.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "harness/report/journal.hpp"

#include "tests/cases/hardware/made_up.hpp"
#include "tests/harness/report/journal_text.hpp"
#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

/// A gate that is killed. Its devices and links are made up.
namespace rankcheck::cases::hardware {
namespace {

namespace fs = std::filesystem;
using harness::BadInput;
using nlohmann::ordered_json;

struct Killed {};

constexpr int no_end = 1 << 20;

class GateJournalTest : public testing::Test {
 protected:
  static harness::JournalHeader header(bool is_quick = false) {
    GateHeader gate{.options = {.bytes = 1024, .is_quick = is_quick},
                    .devices = made_up_devices(2),
                    .doctor = {{"cuda", "made up"}}};
    if (!is_quick) gate.options.parts = made_up_parts(2);
    harness::JournalHeader header;
    header.run = {{"suites", {"hardware"}}, {"seed", 3}};
    header.environment = {{"host", "made up"}, {"hardware", to_json(gate)}};
    return header;
  }

  fs::path folder(const std::string& name) {
    fs::path path = parent_.path() / name;
    fs::create_directories(path);
    return path;
  }

  /// Returns hooks that are killed at the answer after `answers_max` answers.
  Hooks surroundings(const fs::path& folder, int answers_max) {
    seconds_ = 0;
    left_ = answers_max;
    return {.probe =
                [this](const ProbeRequest& request) {
                  answer();
                  ProbeOutcome outcome = good_probe(request);
                  if (is_slow(request)) outcome.result.seconds.assign(4, 1e-3);
                  return outcome;
                },
            .keep = {},
            .run =
                [this, folder](const PhaseRequest& request) {
                  const fs::path own = folder / folder_of(request);
                  // The part's findings are on disk before the kill.
                  if (left_ == 0) leave_report(own, request, false);
                  answer();
                  return leave_report(own, request, true);
                },
            .soak_s = [this] { return soak_s_; },
            .now_s = [this] { return seconds_; },
            .why_end = [] { return std::string(); },
            .say = [this](const std::string& line) { said_.push_back(line); }};
  }

  static bool is_slow(const ProbeRequest& request) { return request.from == 0 && request.to == 1; }

  void answer() {
    if (left_-- == 0) throw Killed();
    ++asked_;
    seconds_ += 1;
  }

  /// Leaves the files of a phase that ended or was killed.
  static PhaseOutcome leave_report(const fs::path& folder,
                                   const PhaseRequest& request,
                                   bool has_ended) {
    PhaseOutcome outcome = passing_phase(request);
    fs::create_directories(folder);
    if (request.phase == Phase::speed) {
      const ordered_json measured{{"name", "cases/cuda/manual_time"}, {"cases_per_second", 30}};
      harness::write_file(speed_file(folder),
                          ordered_json{{"context", ordered_json::object()},
                                       {"benchmarks", ordered_json::array({measured})}}
                              .dump());
      return outcome;
    }
    const harness::Finding& finding = outcome.report.findings.front();
    harness::JournalHeader header;
    header.run = ordered_json::object();
    header.units = {finding.unit};
    harness::Journal journal(gate_journal(folder), std::move(header));
    journal.append({.finding = finding});
    if (has_ended) {
      journal.end(
          {.ending = "completed", .rounds = 1, .finished = "", .duration_s = request.budget_s});
    }
    outcome.report = journal.record().report();
    outcome.spent_s = request.budget_s;
    return outcome;
  }

  /// Returns whether the gate was killed.
  bool begin(const fs::path& folder, int answers_max) {
    return begin(folder, answers_max, header());
  }
  bool begin(const fs::path& folder, int answers_max, harness::JournalHeader header) {
    harness::Journal journal(gate_journal(folder), std::move(header));
    return run(folder, journal, surroundings(folder, answers_max));
  }
  /// The same for a gate that nobody kills, with other hooks.
  bool begin(const fs::path& folder, const std::function<void(Hooks&)>& change) {
    harness::Journal journal(gate_journal(folder), header());
    Hooks hooks = surroundings(folder, no_end);
    change(hooks);
    return run(folder, journal, hooks);
  }
  /// Resumes the gate with a soak of `soak_s` seconds in total. Returns whether the gate was
  /// killed.
  bool go_on(const fs::path& folder, int answers_max, double soak_s = soak_total_s) {
    const fs::path path = gate_journal(folder);
    harness::Journal journal(path, harness::read_journal(path), {{"host", "another"}});
    return run(folder, journal, surroundings(folder, answers_max), soak_s);
  }

  bool run(const fs::path& folder,
           harness::Journal& journal,
           const Hooks& hooks,
           double soak_s = soak_total_s) {
    Gate gate = gate_in(folder, journal.record());
    soak_s_ = soak_s - gate.soaked_s();
    try {
      const std::string ending = run_gate(folder, std::move(gate), journal, hooks);
      journal.end({.ending = ending, .finished = "later", .duration_s = 1});
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
  std::vector<std::string> said_;

 private:
  double soak_s_ = 0;
  double seconds_ = 0;
  int left_ = 0;
};

/// A quick gate stays quick when it is resumed or reported.
TEST_F(GateJournalTest, KeepsWhetherItIsQuick) {
  const fs::path place = folder("quick");
  ASSERT_FALSE(begin(place, no_end, header(true)));
  const GateReport gate = report_of(place);
  EXPECT_TRUE(gate.is_quick);
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  EXPECT_EQ(gate.links.size(), 8U);
}

TEST_F(GateJournalTest, KnownDefectsAreJudgedOverAllParts) {
  const fs::path place = folder("known");
  harness::JournalHeader given = header();
  given.known = {{"known_version", 1},
                 {"defects", {{{"id", "one"}, {"operation", "broadcast"}, {"reason", "why"}}}}};
  ASSERT_FALSE(begin(place, no_end, given));
  const GateReport gate = report_of(place);
  ASSERT_EQ(gate.report.known.size(), 1U);
  EXPECT_EQ(gate.report.known.front().state, harness::KnownState::unmatched);
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  EXPECT_TRUE(harness::has(short_text(gate), "\nknown one: covers no case of this run"));
  // A strict gate with the same journal fails.
  given.run["strict_known"] = true;
  const fs::path strict = folder("strict");
  ASSERT_FALSE(begin(strict, no_end, given));
  const GateReport failed = report_of(strict);
  EXPECT_EQ(failed.status, 1);
  EXPECT_TRUE(harness::has(short_text(failed), "FAILED, because 1 known defect is stale"));
}

TEST_F(GateJournalTest, ReportOfAWholeGateIsThatOfItsEnd) {
  const fs::path here = folder("whole");
  ASSERT_FALSE(begin(here, no_end));
  const GateReport gate = report_of(here);
  EXPECT_EQ(gate.report.ending, "completed");
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  EXPECT_EQ(gate.report.environment.at("finished"), "later");
  EXPECT_EQ(gate.report.environment.at("hardware").at("doctor"),
            (ordered_json{{"cuda", "made up"}}));
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
  EXPECT_TRUE(harness::has(summary, "all_reduce"));
  EXPECT_LT(summary.find("| cuda | passed | 100 |"), summary.find("all_reduce")) << summary;
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

TEST_F(GateJournalTest, PhaseThatWasKilledBeforeItsHeaderFoundNothing) {
  const fs::path here = folder("header");
  ASSERT_TRUE(begin(here, 8));
  const fs::path journal = gate_journal(here / "cuda");
  ASSERT_TRUE(harness::holds_run(journal));
  fs::resize_file(journal, 20);
  EXPECT_EQ(report_of(here).cases, 0);
}

TEST_F(GateJournalTest, GoesOnForLongerWhereItStopped) {
  const fs::path whole = folder("whole");
  ASSERT_FALSE(begin(whole, no_end));
  const int before = asked_;
  const std::string shorter = told(whole);
  ASSERT_FALSE(go_on(whole, no_end, 20));
  const std::string expected = told(whole);
  EXPECT_NE(expected, shorter);
  // Five probes take half of the budget. The suites take the other half and answer once.
  constexpr int further = 5 + 1;
  EXPECT_EQ(asked_, before + further);
  for (int k = 0; k < further; ++k) {
    const fs::path here = folder(std::to_string(k));
    asked_ = 0;
    ASSERT_FALSE(begin(here, no_end));
    ASSERT_TRUE(go_on(here, k, 20));
    EXPECT_EQ(report_of(here).report.ending, "killed") << k;
    ASSERT_FALSE(go_on(here, no_end, 20));
    EXPECT_EQ(told(here), expected) << k;
    EXPECT_EQ(asked_, before + further) << k;
  }
}

TEST_F(GateJournalTest, GateWhoseTimeIsOverGoesOnAtTheNextPart) {
  const fs::path whole = folder("whole");
  ASSERT_FALSE(begin(whole, no_end));
  const std::string expected = told(whole);
  for (int most = 0;; most += 3) {
    const fs::path here = folder(std::to_string(most));
    int ends = 0;
    ASSERT_FALSE(begin(here, [&](Hooks& hooks) {
      hooks.why_end = [&] { return ++ends > most ? std::string("time_over") : std::string(); };
    }));
    if (report_of(here).report.ending == "completed") {
      EXPECT_GT(most, 20);
      return;
    }
    EXPECT_EQ(report_of(here).status, 2) << most;
    EXPECT_EQ(report_of(here).report.ending, "time_over") << most;
    ASSERT_FALSE(go_on(here, no_end)) << most;
    EXPECT_EQ(told(here), expected) << most;
  }
}

TEST_F(GateJournalTest, PhaseThatWasEndedIsRunAgain) {
  const fs::path here = folder("ended");
  ASSERT_FALSE(begin(here, [](Hooks& hooks) {
    hooks.run = [](const PhaseRequest&) { return PhaseOutcome{.ended_early = "time_over"}; };
  }));
  EXPECT_EQ(report_of(here).report.ending, "time_over");
  ASSERT_FALSE(go_on(here, no_end));
  const GateReport gate = report_of(here);
  EXPECT_EQ(gate.status, 0) << to_markdown(gate);
  ASSERT_GT(gate.phases.size(), 1U);
  EXPECT_EQ(gate.phases[1].cases, 100);
}

/// Nothing was left in the folder of such a part.
TEST_F(GateJournalTest, PartThatCouldNotBeRunIsReportedAndNotRunAgain) {
  const fs::path here = folder("broken");
  ASSERT_FALSE(begin(here, [](Hooks& hooks) {
    hooks.run = [run = hooks.run](const PhaseRequest& request) {
      return request.number == 4 ? PhaseOutcome{.broken = "no rank"} : run(request);
    };
  }));
  const int before = asked_;
  ASSERT_FALSE(go_on(here, no_end));
  EXPECT_EQ(asked_, before);
  const GateReport gate = report_of(here);
  EXPECT_EQ(gate.status, 2);
  EXPECT_EQ(gate.phases[3].name, "nccl 4 ranks");
  EXPECT_EQ(harness::outcome_of(gate.phases[3]), "errored: no rank");
}

/// Otherwise, a gate without a failed part would pass.
TEST_F(GateJournalTest, PartThatEndedMustKeepItsResults) {
  const fs::path here = folder("lost");
  ASSERT_FALSE(begin(here, no_end));
  fs::remove_all(here / "sanitizer");
  EXPECT_THROW((void)report_of(here), harness::FileError);
}

TEST_F(GateJournalTest, SaysNoAnswerAgain) {
  const fs::path here = folder("said");
  ASSERT_TRUE(begin(here, 3));
  said_.clear();
  ASSERT_TRUE(go_on(here, 2));
  ASSERT_EQ(said_.size(), 2U);
  EXPECT_TRUE(harness::begins(said_.front(), "link 0 to 1     load"));
}

TEST_F(GateJournalTest, RefusesWhatNoGateCanHaveWritten) {
  const fs::path here = folder("other");
  ASSERT_TRUE(begin(here, 3));
  const std::string journal = harness::read_file(gate_journal(here));
  for (const auto& [from, to] :
       {std::pair(R"("suites":["hardware"],"seed":3)", R"("suites":["hardware"],"seed":4)"),
        std::pair(R"("took_s":1)", R"("took_s":-1)"),
        std::pair(R"("device-1")", R"("device-2")")}) {
    std::string changed = journal;
    ASSERT_NE(changed.find(from), std::string::npos) << from;
    changed.replace(changed.find(from), std::string(from).size(), to);
    harness::write_file(gate_journal(here), harness::with_checksums(changed));
    EXPECT_THROW((void)report_of(here), BadInput) << to;
  }
}

TEST_F(GateJournalTest, JournalsOfGatesAndOfRunsAreToldApart) {
  const fs::path here = folder("here");
  EXPECT_FALSE(is_gate(here));
  ASSERT_FALSE(begin(here, no_end));
  EXPECT_TRUE(is_gate(here));
  EXPECT_FALSE(is_gate(here / "suites"));
  EXPECT_THROW((void)report_of(here / "suites"), BadInput);
}

}  // namespace
}  // namespace rankcheck::cases::hardware

#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "reference/spec/assert.hpp"

#include "harness/case/case.hpp"
#include "harness/check/finding.hpp"
#include "harness/report/report.hpp"
#include "harness/report/summary.hpp"

namespace rankcheck::harness {

/// The request of a run: the first line of its journal.
struct JournalHeader {
  /// Suites, seed and options. They must match when a run is resumed.
  nlohmann::ordered_json run;
  /// The folder at which relative paths of suites start.
  std::string directory;
  /// The units of one round, sorted.
  std::vector<Unit> units;
  /// The case of each pinned unit, by the unit's id.
  std::map<std::string, Case> pinned;
  /// Whether the run starts again with new seeds until its time is over.
  bool cycles = false;
  /// The known defects that the run was given, as in their files; null if there are none.
  nlohmann::ordered_json known = nullptr;
  /// The environment of the first session.
  nlohmann::ordered_json environment = nlohmann::ordered_json::object();
};

/// One finding of one round. Suites that do not cycle have only round 0.
struct JournalEntry {
  int round = 0;
  Finding finding;
  /// False if the time was over before all cases were run. Then the finding is reported, and the
  /// next session checks the unit again.
  bool whole = true;
  /// Seconds since the start of the session.
  double at_s = 0;
  /// Seconds that the unit took in this round. 0 if it was not run.
  double took_s = 0;
};

/// How a session ended. A killed session leaves no such line.
struct JournalEnd {
  /// "completed", or why it ended early.
  std::string ending;
  int rounds = 0;
  /// UTC time of the end.
  std::string finished;
  double duration_s = 0;
};

/// All findings of a run so far. The run and a later reader of its journal add the same entries, so
/// that both report the same.
class Record {
 public:
  /// Throws BadInput if the header's known defects cannot be read.
  explicit Record(JournalHeader header);

  /// Begins a further session in this environment. Partial findings of the previous session are
  /// dropped.
  void resume(nlohmann::ordered_json environment);
  /// Throws BadInput if the header has no such unit, or if the unit already has a finding in this
  /// round. A finding about a backend that ended badly may be added to another one.
  void add(JournalEntry entry);
  void end(JournalEnd end);
  /// Adds what only the command understands whose run this is, such as the gate for hardware.
  void note(nlohmann::ordered_json note) { notes_.push_back(std::move(note)); }

  [[nodiscard]] const JournalHeader& header() const { return header_; }
  [[nodiscard]] const std::vector<nlohmann::ordered_json>& notes() const { return notes_; }
  [[nodiscard]] const std::vector<KnownDefect>& known() const { return known_; }
  /// The environment of this session.
  [[nodiscard]] const nlohmann::ordered_json& environment() const { return environment_; }
  /// Index of the unit in the header. Throws BadInput if the header does not list it.
  [[nodiscard]] std::size_t index_of(const Unit& unit) const;
  /// The findings of units[index] in all completed rounds, merged; empty if there are none. One
  /// unit's finding may be read while another unit's is added.
  [[nodiscard]] const std::optional<Finding>& finding(std::size_t index) const {
    RANKCHECK_ASSERT(index < findings_.size());
    return findings_[index];
  }
  [[nodiscard]] bool is_done(int round, std::size_t index) const {
    RANKCHECK_ASSERT(round >= 0 && index < findings_.size());
    return done_.contains({round, index});
  }
  /// Seconds that all sessions took so far. A killed session counts up to its last finding.
  [[nodiscard]] double spent_s() const { return spent_s_ + session_s_; }
  /// The sums over all findings.
  [[nodiscard]] Tally tally() const;
  /// The report of the run so far. The ending is "killed" if its last session has no end.
  [[nodiscard]] Report report() const;

 private:
  /// The finding of a unit, including the partial one.
  [[nodiscard]] std::optional<Finding> all_of(std::size_t index) const;

  JournalHeader header_;
  std::vector<KnownDefect> known_;
  nlohmann::ordered_json environment_;
  std::map<std::string, std::size_t> indices_;
  std::vector<std::optional<Finding>> findings_;
  /// Partial findings of this session, by the unit's index.
  std::map<std::size_t, Finding> partial_;
  std::set<std::pair<int, std::size_t>> done_;
  std::vector<nlohmann::ordered_json> notes_;
  /// Seconds that each unit took in all rounds and sessions.
  std::vector<double> took_s_;
  std::optional<JournalEnd> end_;
  /// Seconds of the earlier sessions, and of this session.
  double spent_s_ = 0;
  double session_s_ = 0;
};

}  // namespace rankcheck::harness

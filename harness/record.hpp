#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/case.hpp"
#include "harness/finding.hpp"
#include "harness/report.hpp"
#include "harness/summary.hpp"

namespace rankcheck::harness {

/// What a run was asked to do and what that came to: the first line of its journal.
struct JournalHeader {
  /// Suites, seed and options: what has to match where a run is resumed.
  nlohmann::ordered_json run;
  /// Where relative paths of suites start.
  std::string directory;
  /// The units of one round, sorted.
  std::vector<Unit> units;
  /// Unit id -> the case of a pinned unit.
  std::map<std::string, Case> pinned;
  /// Whether the run starts over with new seeds until its time is over.
  bool cycles = false;
  /// The surroundings of the first session.
  nlohmann::ordered_json environment = nlohmann::ordered_json::object();
};

/// One finding of one round; suites that do not cycle have round 0 alone.
struct JournalEntry {
  int round = 0;
  Finding finding;
  /// False where the time was over before all cases were run: it is reported, and the next session
  /// checks the unit again.
  bool whole = true;
  /// Seconds since the session began.
  double at_s = 0;
};

/// How a session ended; one that was killed leaves none.
struct JournalEnd {
  /// "completed", or why it ended early.
  std::string ending;
  int rounds = 0;
  std::string finished;
  double duration_s = 0;
};

/// What a run has found so far. The run itself and who reads its journal later feed it the same, so
/// that both report the same.
class Record {
 public:
  explicit Record(JournalHeader header);

  /// A further session begins, in these surroundings: what the one before left in part is open
  /// again.
  void resume(nlohmann::ordered_json environment);
  /// Throws BadInput where the header has no such unit, or the unit has a finding in that round.
  /// That of a backend which ended badly may come on top.
  void add(JournalEntry entry);
  void end(JournalEnd end);

  [[nodiscard]] const JournalHeader& header() const { return header_; }
  /// Where the unit is in the header. Throws BadInput where it is not.
  [[nodiscard]] std::size_t index_of(const Unit& unit) const;
  /// What the rounds that were run whole found of units[index]; none where there is none. One
  /// unit's may be read while another's is added.
  [[nodiscard]] const std::optional<Finding>& finding(std::size_t index) const {
    return findings_[index];
  }
  [[nodiscard]] bool is_done(int round, std::size_t index) const {
    return done_.contains({round, index});
  }
  /// Seconds that all sessions took so far: one that was killed, up to its last finding.
  [[nodiscard]] double spent_s() const { return spent_s_ + session_s_; }
  /// Of everything that was found.
  [[nodiscard]] Tally tally() const;
  /// The report of the run as it stands: "killed" where its last session has no end.
  [[nodiscard]] Report report() const;

 private:
  /// With what was found in part.
  [[nodiscard]] std::optional<Finding> all_of(std::size_t index) const;

  JournalHeader header_;
  nlohmann::ordered_json environment_;
  std::map<std::string, std::size_t> indices_;
  std::vector<std::optional<Finding>> findings_;
  /// By index; of this session alone.
  std::map<std::size_t, Finding> partial_;
  std::set<std::pair<int, std::size_t>> done_;
  std::optional<JournalEnd> end_;
  /// Seconds of the sessions before, and of this one.
  double spent_s_ = 0;
  double session_s_ = 0;
};

}  // namespace rankcheck::harness

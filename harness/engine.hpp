#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "harness/backend.hpp"
#include "harness/finding.hpp"
#include "harness/generator.hpp"
#include "harness/operation.hpp"
#include "harness/stop.hpp"
#include "harness/verdict.hpp"

namespace rankcheck::harness {

/// How a unit is run.
struct RunLimits {
  std::uint64_t seed = 1;
  /// When to stop looking for a failure. A failure that was found is still shrunk and confirmed.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// Seconds for shrinking; when they are over, the simplest case so far is the minimal one.
  double shrink_s = 20;
  /// How often a failure is replayed to confirm it, and the seconds after which no replay is begun
  /// any more (at least one is made).
  int replays = 5;
  double replay_s = 60;
  /// What earlier rounds of the unit covered: this one turns to the rest first.
  Coverage covered = {};
  /// Stops as the deadline does, also while a failure is shrunk and replayed.
  StopRequest stop = {};
  /// Where given: counts every case that was judged, for a progress display.
  std::atomic<std::int64_t>* cases_done = nullptr;
};

/// The seed of one unit: depends on the run's seed and the unit's name alone, so that neither the
/// order of the units nor the number of jobs changes what a unit does.
[[nodiscard]] std::uint64_t unit_seed(std::uint64_t run_seed, const Unit& unit);

/// Generates cases, runs and judges them until one fails or all are done; shrinks and confirms a
/// failure. The same seed gives the same finding, unless a time limit cuts. Never throws for what
/// the subject does; a unit of unknown operation or property is errored. Throws Interrupted where a
/// stop left the unit without a finding: a case was under way, or a failure was not replayed yet.
[[nodiscard]] Finding run_unit(const Catalogue& catalogue,
                               Backend& backend,
                               const Unit& unit,
                               const RunLimits& limits);

/// Runs and judges one case, the one of a pinned unit, and confirms a failure as run_unit does. A
/// case that the backend refuses is skipped. Throws what the backend throws when it is asked, and
/// Interrupted as run_unit does.
[[nodiscard]] Finding run_pinned(const Catalogue& catalogue,
                                 Backend& backend,
                                 const Unit& unit,
                                 const Case& c,
                                 const RunLimits& limits);

/// How a case is replayed.
struct ReplayLimits {
  int replays = 5;
  /// Seconds after which no replay is begun any more; at least one is made.
  double replay_s = 60;
  /// The kind of failure that counts; passed: the kind that comes first.
  Verdict kind = Verdict::passed;
  /// Once it is made, no replay is begun any more.
  StopRequest stop = {};
};

/// What came of running one case several times, each time on a restarted backend.
struct ReplayResult {
  /// The kind of failure where it was the same in every replay, flaky where some failed, errored
  /// where the environment did (no further replay was made then); else what the last came to.
  Verdict verdict = Verdict::passed;
  int replays = 0;
  /// Replays that failed in the way that counts.
  int failed = 0;
  /// Of the first replay that counts as failed; of the last where none did.
  Judgement judgement;
};

/// Replays a case. Afterwards the examiner shows the stages and what they left in the last replay.
/// Throws Interrupted where the backend does so in the first replay.
[[nodiscard]] ReplayResult replay(Examiner& examiner, const Case& c, const ReplayLimits& limits);

}  // namespace rankcheck::harness

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include "harness/backend/backend.hpp"
#include "harness/base/run_clock.hpp"
#include "harness/base/stop.hpp"
#include "harness/case/verdict.hpp"
#include "harness/check/finding.hpp"
#include "harness/check/operation.hpp"
#include "harness/search/generator.hpp"

namespace rankcheck::harness {

struct KnownDefect;

/// How a unit is run. RunClock measures its times.
struct RunLimits {
  std::uint64_t seed = 1;
  /// When the search for a failure ends. A failure that was found by then is shrunk no further, and
  /// is replayed once.
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  /// Seconds for shrinking. After these, the simplest failing case so far is the minimal case.
  double shrink_s = 20;
  /// How often a failure is replayed to confirm it. After `replay_s` seconds no further replay
  /// begins, but at least one is made.
  int replays = 5;
  double replay_s = 60;
  /// What earlier rounds of the unit covered. This round starts with the rest.
  Coverage covered = {};
  /// The known defects that the unit can show, see known_of(). The search counts their failures and
  /// goes on.
  std::vector<const KnownDefect*> known = {};
  /// Ends the search like the deadline. Also ends shrinking and replaying.
  StopRequest stop = {};
  /// The memory that is available, in bytes. Units with a count of their own are skipped if their
  /// cases need more.
  std::int64_t memory_bytes = std::numeric_limits<std::int64_t>::max();
  /// What the backend's ranks did before. Null: nothing is known of it.
  CallHistory* history = nullptr;
  /// If given, counts every judged case, for a progress display.
  std::atomic<std::int64_t>* cases_done = nullptr;
  /// If given, counts the failures that are shrunk or replayed now, for a progress display.
  std::atomic<int>* failures_shrinking = nullptr;
};

/// The seed of one unit. It depends only on the run's seed and the unit's name. So a unit does the
/// same whatever the order of the units and the number of jobs.
[[nodiscard]] std::uint64_t unit_seed(std::uint64_t run_seed, const Unit& unit);

/// Generates, runs and judges cases until one fails, other than as a known defect says, or all are
/// done. Shrinks and confirms a failure. The same seed gives the same finding, unless a time limit
/// ends the run. Never throws for a failure of the subject. A unit with an unknown operation or
/// property is errored. Throws Interrupted if a stop leaves the unit without a judged case, or with
/// a failure that was not replayed yet.
[[nodiscard]] Finding run_unit(const Catalogue& catalogue,
                               Backend& backend,
                               const Unit& unit,
                               const RunLimits& limits);

/// Runs and judges the case of a pinned unit, and confirms a failure as run_unit does. A known
/// failure is only confirmed if it must be flaky to be known. A case that the backend refuses is
/// skipped. Throws what Backend::why_refused() throws, and Interrupted as run_unit does.
[[nodiscard]] Finding run_pinned(const Catalogue& catalogue,
                                 Backend& backend,
                                 const Unit& unit,
                                 const Case& c,
                                 const RunLimits& limits);

/// The result of running one case several times, each time on a restarted backend.
struct ReplayResult {
  /// The kind of failure if every replay failed in this way. `flaky` if some replays failed, or if
  /// they failed in different ways. `errored` if the environment failed; then no further replay is
  /// made. Otherwise the verdict of the last replay.
  Verdict verdict = Verdict::passed;
  int replays = 0;
  /// Number of replays that failed in the way that counts.
  int failed = 0;
  /// Judgement of the first replay that counts as failed; of the last replay if none does.
  Judgement judgement;
};

/// Replays a case within the limits for replays, the deadline and the stop. `kind` is the kind of
/// failure that counts; `passed`: the kind of the first failure. Afterwards the examiner shows the
/// stages of the last replay and their results. Throws Interrupted if the backend throws it in the
/// first replay.
[[nodiscard]] ReplayResult replay(Examiner& examiner,
                                  const Case& c,
                                  const RunLimits& limits,
                                  Verdict kind = Verdict::passed);

}  // namespace rankcheck::harness

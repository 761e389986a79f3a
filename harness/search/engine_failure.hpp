#pragma once

#include <chrono>

#include "harness/search/engine.hpp"
#include "harness/search/known_cases.hpp"

/// What the engine does with a single case, for units with generated cases and for pinned ones.
namespace rankcheck::harness {

/// A case and how it failed.
struct Failure {
  Case c;
  Judgement judgement;
};

/// The time in so many seconds, or the end of all time.
[[nodiscard]] std::chrono::steady_clock::time_point after(double seconds);

/// Examines a case. An exception on the way counts as a failure of the environment.
void examine(Examiner& examiner, const Case& c, Judgement& judgement);

/// Counts a case that was judged.
void count(const Judgement& judgement, const RunLimits& limits, Finding& finding);

/// Counts a judged case for the known defects that cover it. Returns whether it is a known failure.
/// Then the backend is fit for the next case.
[[nodiscard]] bool is_known(Examiner& examiner,
                            const Case& c,
                            const Judgement& judgement,
                            const RunLimits& limits,
                            KnownCases& known,
                            Finding& finding);

/// Puts a case that is not green into the finding.
void show(const Failure& failure, Finding& finding);

/// Replays a failure. Then the backend is fit for the next case.
[[nodiscard]] ReplayResult replay_failure(Examiner& examiner,
                                          const Failure& failure,
                                          const RunLimits& limits);

/// Puts a failure and the result of its replays into the finding.
void report(const Failure& failure, const ReplayResult& result, Finding& finding);

}  // namespace rankcheck::harness

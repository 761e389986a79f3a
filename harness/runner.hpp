#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "harness/backend.hpp"
#include "harness/engine.hpp"
#include "harness/finding.hpp"

namespace rankcheck::harness {

/// Why a round ended.
enum class Ending : std::uint8_t { completed, failed_fast, interrupted, time_over };

[[nodiscard]] std::string_view name(Ending ending);

/// What a runner needs of its surroundings. All but `open` and `check` are called by one thread at
/// a time; what they throw ends the round and is thrown on by run_round().
struct RunnerHooks {
  /// Opens a backend for the calling thread; may throw, also Interrupted.
  std::function<std::unique_ptr<Backend>(const std::string& name)> open;
  /// Checks one unit. Must be safe to call from several threads at once. May throw Interrupted.
  std::function<Finding(Backend& backend, const Unit& unit, const RunLimits& limits)> check;
  /// Takes the finding of units[index]. `whole` is false where the time was over before all cases
  /// were run and nothing failed: such a finding depends on the machine's speed. It is skipped
  /// where it lacks coverage and no further rounds follow.
  std::function<void(std::size_t index, Finding finding, bool whole)> finish;
  /// Called a few times a second while units run; may be empty.
  std::function<void()> tick;
};

struct RunnerOptions {
  int jobs = 1;
  /// Starts no further unit once a finding is red or errored.
  bool fail_fast = false;
  /// Further rounds follow: a unit that lacks coverage is no failure yet.
  bool coverage_grows = false;
  RunLimits limits;
};

/// Checks units on several threads, each with backends of its own that stay open between rounds.
class Runner {
 public:
  Runner(RunnerOptions options, RunnerHooks hooks);

  /// Checks the units that are not `done` yet, in order. When a stop is asked for, the findings of
  /// units that were under way are dropped, unless they are failures that were replayed.
  Ending run_round(std::span<const Unit> units, const std::vector<bool>& done, std::uint64_t seed);

  /// Closes all backends. What goes wrong with one becomes another finding of the last unit that
  /// was run on it, one of those of the rounds, unless that has failed already.
  void close(std::span<const Unit> units);

 private:
  /// The last unit that a backend was asked to run.
  struct Last {
    std::size_t unit = 0;
    bool is_failed = false;
  };

  /// One thread's backends, or why one could not be opened.
  struct Slot {
    std::map<std::string, std::unique_ptr<Backend>> backends;
    std::map<std::string, std::string> failures;
    std::map<std::string, Last> last{};
  };
  struct Round;

  /// Starts a thread for each slot, but no more than there are units to check.
  void start(Round& round, std::vector<std::jthread>& threads);
  void work(Slot& slot, Round& round);
  Finding check(Slot& slot, const Unit& unit, std::uint64_t seed);
  [[nodiscard]] std::optional<Ending> should_end() const;

  RunnerOptions options_;
  RunnerHooks hooks_;
  std::vector<Slot> slots_;
};

}  // namespace rankcheck::harness

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "harness/backend/backend.hpp"
#include "harness/check/finding.hpp"
#include "harness/search/engine.hpp"

namespace rankcheck::harness {

/// Why a round ended.
enum class Ending : std::uint8_t { completed, failed_fast, interrupted, time_over };

[[nodiscard]] std::string_view name(Ending ending);

/// The functions that a runner calls. All except `open` and `check` are called by one thread at a
/// time. An exception from them ends the round, and run_round() throws it again.
struct RunnerHooks {
  /// Opens a backend for the calling thread. May throw, also Interrupted.
  std::function<std::unique_ptr<Backend>(const std::string& name)> open;
  /// Returns the bytes of memory that are available. Asked before each unit with a count of its
  /// own, while no other such unit runs. May be empty.
  std::function<std::int64_t()> available_memory = {};
  /// Checks one unit. Must be safe to call from several threads at once. May throw Interrupted.
  std::function<Finding(Backend& backend, const Unit& unit, const RunLimits& limits)> check;
  /// Takes the finding of units[index]. `whole` is false if the time was over before all cases were
  /// run and nothing failed; such a finding depends on the machine's speed. It becomes skipped if
  /// it lacks coverage and no further rounds follow.
  std::function<void(std::size_t index, Finding finding, bool whole)> finish;
  /// Called a few times a second while units run. May be empty.
  std::function<void()> tick;
};

struct RunnerOptions {
  /// Number of threads.
  int jobs = 1;
  /// Starts no further unit after a finding that is red or errored.
  bool fail_fast = false;
  /// Further rounds follow, so a unit that lacks coverage is no failure yet.
  bool coverage_grows = false;
  RunLimits limits;
};

/// Checks units on several threads. Each thread has its own backends, which stay open between
/// rounds. Units with a count of their own may take most of the memory, so they run one at a time.
/// After three units of a backend that hung, its further units get one case each.
class Runner {
 public:
  Runner(RunnerOptions options, RunnerHooks hooks);

  /// Checks the units that are not `done` yet. Each thread goes through them in order, but stays
  /// with an algorithm while units of it are left, because another one may need other processes.
  /// If a stop is requested, units that are running count the cases that were judged, and are not
  /// whole unless they failed. Those without a judged case are dropped.
  Ending run_round(std::span<const Unit> units, const std::vector<bool>& done, std::uint64_t seed);

  /// Closes all backends. A failure while closing becomes another finding of the last unit that was
  /// run on the backend, unless this unit has already failed. `units` are the units of the rounds.
  void close(std::span<const Unit> units);

 private:
  /// The last unit that a backend ran.
  struct Last {
    std::size_t unit = 0;
    bool is_failed = false;
  };

  /// One thread's backends, or the reasons why some could not be opened.
  struct Slot {
    std::map<std::string, std::unique_ptr<Backend>> backends;
    std::map<std::string, std::string> failures;
    std::map<std::string, Last> last{};
    std::map<std::string, CallHistory> histories{};
    /// The algorithm that was run last, as the index of its first unit.
    std::optional<std::size_t> algorithm{};
  };
  struct Round;

  /// Starts a thread for each slot, but not more threads than units to check.
  void start(Round& round, std::vector<std::jthread>& threads);
  void work(Slot& slot, Round& round);
  Finding check(Slot& slot, const Unit& unit, std::uint64_t seed);
  [[nodiscard]] std::optional<Ending> should_end() const;

  RunnerOptions options_;
  RunnerHooks hooks_;
  std::vector<Slot> slots_;
  /// Number of units of each backend that hung, other than as known. Round::mutex guards it.
  std::map<std::string, int> hung_;
};

}  // namespace rankcheck::harness

#include "harness/search/runner.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/run_clock.hpp"

namespace rankcheck::harness {

namespace {

constexpr std::array<std::string_view, 4> ending_names{
    "completed", "failed_fast", "interrupted", "time_over"};

/// After so many hung units of a backend, its further units get one case each.
constexpr int hung_max = 3;
constexpr auto tick_interval = std::chrono::milliseconds(200);

bool is_failure(const Finding& finding) {
  return (finding.minimal.has_value() && !finding.is_known) || finding.verdict == Verdict::errored;
}

}  // namespace

std::string_view name(Ending ending) {
  return ending_names[spec::to_size(ending)];
}

/// What the threads of one round share.
struct Runner::Round {
  Round(std::span<const Unit> its_units, const std::vector<bool>& done, std::uint64_t its_seed)
      : units(its_units),
        seed(its_seed),
        taken(done),
        algorithms(units.size()),
        threads_at(units.size()) {
    using Key = std::tuple<std::string_view, std::vector<int>, std::string_view, std::string_view>;
    std::map<Key, std::size_t> first;
    for (std::size_t i = 0; i < units.size(); ++i) {
      const Unit& unit = units[i];
      const Key key(unit.backend, unit.hosts, unit.operation, unit.algorithm);
      algorithms[i] = first.emplace(key, i).first->second;
    }
  }

  [[nodiscard]] bool is_over() const { return std::ranges::find(taken, false) == taken.end(); }

  /// Takes a unit for a thread. A backend may have to start its processes anew for another
  /// algorithm, or for other hosts. So a thread stays with the algorithm that it ran last. Then it
  /// takes one that no other thread runs, and only then it helps another thread. Returns nothing if
  /// all units that are left must wait for one with a count of its own.
  std::optional<std::size_t> take(std::optional<std::size_t>& algorithm) {
    const auto first_where = [&](const auto& is_wanted) {
      std::size_t i = 0;
      while (i < units.size() &&
             (taken[i] || (runs_large && units[i].count > 0) || !is_wanted(algorithms[i]))) {
        ++i;
      }
      return i;
    };
    std::size_t index = first_where([&](std::size_t each) { return each == algorithm; });
    if (index == units.size())
      index = first_where([&](std::size_t each) { return threads_at[each] == 0; });
    if (index == units.size()) index = first_where([](std::size_t) { return true; });
    if (index == units.size()) return std::nullopt;
    taken[index] = true;
    runs_large = runs_large || units[index].count > 0;
    if (algorithm) --threads_at[*algorithm];
    algorithm = algorithms[index];
    ++threads_at[*algorithm];
    return index;
  }

  std::span<const Unit> units;
  std::uint64_t seed;
  /// The units that are done, or that some thread has taken.
  std::vector<bool> taken;
  /// The algorithm and hosts of each unit, as the index of their first unit.
  std::vector<std::size_t> algorithms;
  /// How many threads run each algorithm.
  std::vector<int> threads_at;
  /// Whether a unit with a count of its own runs.
  bool runs_large = false;
  std::mutex mutex{};
  std::condition_variable changed{};
  std::size_t working = 0;
  Ending ending = Ending::completed;
  std::exception_ptr error{};
};

Runner::Runner(RunnerOptions options, RunnerHooks hooks)
    : options_(std::move(options)),
      hooks_(std::move(hooks)),
      slots_(spec::to_size(options_.jobs > 0 ? options_.jobs : 1)) {}

Ending Runner::run_round(std::span<const Unit> units,
                         const std::vector<bool>& done,
                         std::uint64_t seed) {
  Round round(units, done, seed);
  std::vector<std::jthread> threads;
  start(round, threads);
  std::unique_lock lock(round.mutex);
  while (round.working > 0) {
    round.changed.wait_for(lock, tick_interval);
    // After an error, units that are under way may take long, so the progress is shown to the end.
    if (round.working == 0 || !hooks_.tick) continue;
    try {
      hooks_.tick();
    } catch (...) {
      if (!round.error) round.error = std::current_exception();
    }
  }
  lock.unlock();
  threads.clear();
  if (round.error) std::rethrow_exception(round.error);
  return round.ending;
}

void Runner::start(Round& round, std::vector<std::jthread>& threads) {
  const auto left = spec::to_size(std::ranges::count(round.taken, false));
  for (std::size_t i = 0; i < std::min(slots_.size(), left); ++i) {
    const std::lock_guard lock(round.mutex);
    try {
      threads.emplace_back([this, &slot = slots_[i], &round] {
        work(slot, round);
        const std::lock_guard end(round.mutex);
        if (slot.algorithm) --round.threads_at[*slot.algorithm];
        --round.working;
        round.changed.notify_all();
      });
      if (slots_[i].algorithm) ++round.threads_at[*slots_[i].algorithm];
      ++round.working;
    } catch (const std::system_error& error) {
      // Threads that already run end after their current unit.
      round.error = std::make_exception_ptr(std::runtime_error(
          "cannot start thread " + std::to_string(i + 1) + ": " + error.code().message()));
      return;
    }
  }
}

void Runner::work(Slot& slot, Round& round) {
  std::unique_lock lock(round.mutex);
  while (true) {
    if (round.error || round.ending != Ending::completed || round.is_over()) return;
    if (const auto ending = should_end()) {
      round.ending = *ending;
      return;
    }
    const std::optional<std::size_t> next = round.take(slot.algorithm);
    if (!next) {
      round.changed.wait(lock);
      continue;
    }
    const std::size_t index = *next;
    Unit unit = round.units[index];
    const bool is_cut = hung_[unit.backend] >= hung_max && unit.pinned.empty() && unit.cases > 1;
    if (is_cut) unit.cases = 1;
    lock.unlock();
    Finding finding;
    bool is_judged = true;
    try {
      finding = check(slot, unit, round.seed);
    } catch (const Interrupted&) {
      is_judged = false;
    }
    lock.lock();
    if (unit.count > 0) {
      round.runs_large = false;
      round.changed.notify_all();
    }
    if (!is_judged) {
      round.ending = Ending::interrupted;
      return;
    }
    if (finding.verdict == Verdict::hung && is_red(finding)) ++hung_[unit.backend];
    const bool is_green = finding.verdict == Verdict::passed || finding.verdict == Verdict::vacuous;
    if (is_cut && is_green) {
      finding.verdict = Verdict::vacuous;
      finding.reason = fmt::format(
          "only one case was run, because {} units of {} hung before", hung_max, unit.tested());
    }
    const auto ending = should_end();
    const bool whole =
        !ending || is_failure(finding) || finding.cases + left_out_cases(finding) >= unit.cases;
    if (!whole && ending == Ending::interrupted && finding.cases == 0) {
      round.ending = *ending;
      return;
    }
    const bool may_grow = (options_.coverage_grows || !whole) && lacks_coverage(finding);
    const bool bad = !may_grow && is_bad(finding);
    if (finding.verdict != Verdict::skipped) {
      const bool is_failed = is_red(finding) && !lacks_coverage(finding);
      slot.last[unit.backend] = {.unit = index, .is_failed = is_failed};
    }
    if (!whole) {
      round.ending = *ending;
      if (!options_.coverage_grows && lacks_coverage(finding)) {
        finding.verdict = Verdict::skipped;
        finding.reason =
            name(ending == Ending::interrupted ? SkipReason::interrupted : SkipReason::time_over);
      }
    }
    try {
      if (!round.error) hooks_.finish(index, std::move(finding), whole);
    } catch (...) {
      round.error = std::current_exception();
    }
    if (bad && options_.fail_fast) round.ending = Ending::failed_fast;
  }
}

void Runner::close(std::span<const Unit> units) {
  for (Slot& slot : slots_) {
    for (auto& [name, backend] : slot.backends) {
      const auto failure = backend ? backend->close() : std::nullopt;
      const auto last = slot.last.find(name);
      if (!failure || last == slot.last.end() || last->second.is_failed) continue;
      const std::size_t index = last->second.unit;
      Finding finding;
      finding.unit = units[index];
      finding.verdict = failure->status == RunStatus::hung ? Verdict::hung : Verdict::crashed;
      finding.reason = failure->reason;
      hooks_.finish(index, std::move(finding), true);
    }
    slot.backends.clear();
  }
}

Finding Runner::check(Slot& slot, const Unit& unit, std::uint64_t seed) {
  Finding failed;
  failed.unit = unit;
  failed.verdict = Verdict::errored;
  try {
    auto& backend = slot.backends[unit.backend];
    if (!backend && !slot.failures.contains(unit.backend)) {
      try {
        backend = hooks_.open(unit.backend);
      } catch (const std::exception& error) {
        slot.failures[unit.backend] = error.what();
      }
    }
    if (backend) {
      RunLimits limits = options_.limits;
      limits.seed = seed;
      limits.history = &slot.histories[unit.backend];
      if (unit.count > 0 && hooks_.available_memory) {
        limits.memory_bytes = hooks_.available_memory();
      }
      return hooks_.check(*backend, unit, limits);
    }
    failed.reason = std::string(backend_not_opened) + slot.failures[unit.backend];
  } catch (const std::exception& error) {
    failed.reason = error.what();
  }
  return failed;
}

std::optional<Ending> Runner::should_end() const {
  const RunLimits& limits = options_.limits;
  if (limits.stop.is_made()) return Ending::interrupted;
  if (RunClock::now() >= limits.deadline) return Ending::time_over;
  return std::nullopt;
}

}  // namespace rankcheck::harness

#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/backend/backend.hpp"
#include "harness/worker/session.hpp"

namespace rankcheck::harness::worker {

/// A backend whose ranks live in worker processes, which are kept between runs. A crash, a hang or
/// an invalid message of a worker becomes the outcome of the run. The next run starts new workers,
/// or takes spare ones. Spare workers start together with others, before a case runs, whose timing
/// they would change. Whatever happens to spare workers before they are taken is no outcome: new
/// ones take their place.
class WorkerBackend final : public Backend {
 public:
  /// Starts the workers. Throws std::runtime_error with one line if this fails.
  explicit WorkerBackend(WorkerOptions options);
  WorkerBackend(const WorkerBackend&) = delete;
  WorkerBackend& operator=(const WorkerBackend&) = delete;

  [[nodiscard]] const BackendTraits& traits() const override { return hello_.traits; }
  [[nodiscard]] std::vector<AlgorithmInfo> algorithms() const override;
  [[nodiscard]] const Capabilities* capabilities(std::string_view operation,
                                                 std::string_view algorithm) const override;
  [[nodiscard]] std::string why_refused(const Case& c) const override;
  void run(std::span<const Case> stages, Observation& observation) override;
  /// Keeps workers that have run nothing yet.
  void restart(int ranks) override;
  void expect_restart() override { expects_restart_ = options_.may_start_ahead; }
  void hurry(bool is_hurried) override {
    // A right case of a busy machine must not seem to hang.
    constexpr std::chrono::duration<double> hurried_min{0.5};
    // The running workers' session reads the options, too.
    options_.run_timeout = is_hurried
                               ? std::max(run_timeout_ / 10, std::min(run_timeout_, hurried_min))
                               : run_timeout_;
  }
  std::optional<BackendFailure> close() override {
    spare_.reset();
    retire();
    if (options_.stop.is_made()) pending_.reset();
    return std::exchange(pending_, std::nullopt);
  }

  /// What the workers said about themselves.
  [[nodiscard]] const Hello& hello() const { return hello_; }
  /// The running workers; starts them if there are none that can be used. Whoever calls this judges
  /// by itself what happened to earlier ones.
  [[nodiscard]] Session& workers() {
    retire_unless(surroundings_);
    pending_.reset();
    return session(surroundings_);
  }

  /// As the workers said.
  [[nodiscard]] nlohmann::json versions() const override { return hello_.versions; }

 private:
  /// Returns null if the workers do not have the algorithm that the case names.
  [[nodiscard]] const Algorithm* find(const Case& c) const;
  /// The algorithm that the case names. If it names none: all algorithms that it may get, the most
  /// preferred first.
  [[nodiscard]] std::vector<std::string> candidates(const Case& c) const;
  /// Why the named algorithm does not take the case: from its declaration, or else from a worker.
  [[nodiscard]] std::string ask_why_refused(const Case& c, Session& session) const;
  /// Names an algorithm in every stage that leaves it open, if an algorithm takes the stage.
  void choose(std::span<Case> stages, Session& session);
  /// Returns the running workers. If there are none, takes the spare ones or starts new ones in
  /// these surroundings.
  Session& session(const Surroundings& surroundings) const;
  /// Starts workers in these surroundings, together with spare ones if a restart is expected.
  [[nodiscard]] std::unique_ptr<Session> start(const Surroundings& surroundings) const;
  /// Returns the spare workers, or ends them if they cannot be used in these surroundings. Null if
  /// there are none to use.
  [[nodiscard]] std::unique_ptr<Session> take_spare(const Surroundings& surroundings) const;
  /// Why the workers cannot be started on the case's hosts. Empty if they can.
  [[nodiscard]] std::string why_hosts_refused(const Case& c) const;
  /// The surroundings that the stages need.
  [[nodiscard]] Surroundings surroundings_of(std::span<const Case> stages) const;
  /// The surroundings in which workers are asked whether they take the case. Those of the last run
  /// do, unless they force a component of the library that this case does not ask for.
  [[nodiscard]] Surroundings surroundings_to_ask(const Case& c) const;
  /// In a run that gave no results, the way of each stage is the algorithm that it was to take.
  void note_what_was_asked(Observation& observation) const;
  /// Makes the pending failure the outcome of a run.
  void tell(Observation& observation);
  /// Ends the workers. Keeps a failure that was not reported yet. Warns once of workers that end
  /// too slowly.
  void retire() const;
  /// Does the same, unless the workers can be used in these surroundings. How workers end that have
  /// run nothing is no outcome, if they could still be used.
  void retire_unless(const Surroundings& surroundings) const;

  WorkerOptions options_;
  /// The time-out of runs that are not hurried.
  std::chrono::duration<double> run_timeout_ = options_.run_timeout;
  Hello hello_;
  /// These are mutable because why_refused() starts workers, as run() does.
  mutable Surroundings surroundings_;
  mutable std::unique_ptr<Session> session_;
  /// Workers that are started ahead for the next restart, and their surroundings.
  mutable std::unique_ptr<Session> spare_;
  mutable Surroundings spare_surroundings_;
  bool expects_restart_ = false;
  /// See Surroundings::ranks.
  int ranks_ = 0;
  /// What happened to the workers between runs. It becomes the outcome of the next run.
  mutable std::optional<BackendFailure> pending_;
  mutable bool has_warned_ = false;
  std::vector<Case> chosen_;
};

}  // namespace rankcheck::harness::worker

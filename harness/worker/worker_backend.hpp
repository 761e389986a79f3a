#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/backend.hpp"
#include "harness/worker/session.hpp"

namespace rankcheck::harness::worker {

/// A backend whose ranks live in worker processes, which are kept between runs. A crash, a hang or
/// nonsense from a worker becomes the outcome of the run; the next run starts fresh workers.
class WorkerBackend final : public Backend {
 public:
  /// Starts the workers. Throws std::runtime_error with one line where that fails.
  explicit WorkerBackend(WorkerOptions options);
  WorkerBackend(const WorkerBackend&) = delete;
  WorkerBackend& operator=(const WorkerBackend&) = delete;

  [[nodiscard]] const BackendTraits& traits() const override { return hello_.traits; }
  [[nodiscard]] std::vector<AlgorithmInfo> algorithms() const override;
  [[nodiscard]] std::string refuses(const Case& c) const override;
  void run(std::span<const Case> stages, Observation& observation) override;
  void restart() override {
    session_.reset();
    pending_.reset();
  }
  std::optional<Trouble> close() override {
    retire();
    if (options_.stop.is_made()) pending_.reset();
    return std::exchange(pending_, std::nullopt);
  }

  /// Names and versions of what is underneath the workers.
  [[nodiscard]] const nlohmann::json& versions() const { return hello_.versions; }

 private:
  /// Null where the workers do not have the algorithm that the case names.
  [[nodiscard]] const Algorithm* find(const Case& c) const;
  /// The algorithm that the case names or, where it names none, all that it may get, the most
  /// preferred one first.
  [[nodiscard]] std::vector<std::string> candidates(const Case& c) const;
  /// Names the algorithm in every stage that leaves it open and that one takes.
  void choose(std::span<Case> stages, Session& session);
  /// The running workers, started if need be with this environment.
  Session& session(const std::map<std::string, std::string>& environment) const;
  /// Makes what is pending the outcome of a run.
  void tell(Observation& observation);
  /// Ends the workers and keeps what nobody was told of them.
  void retire() const;
  /// The same, unless they are of use for this environment.
  void retire_unless(const std::map<std::string, std::string>& environment) const;

  WorkerOptions options_;
  Hello hello_;
  /// Questions start workers as runs do.
  mutable std::map<std::string, std::string> environment_;
  mutable std::unique_ptr<Session> session_;
  /// What happened to workers between runs; the next run has this outcome.
  mutable std::optional<Trouble> pending_;
  std::vector<Case> chosen_;
};

}  // namespace rankcheck::harness::worker

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "reference/spec/contract.hpp"

#include "harness/case.hpp"
#include "harness/image.hpp"
#include "harness/stop.hpp"
#include "harness/verdict.hpp"

namespace rankcheck::harness {

/// What became of one stage on its way through a backend.
enum class RunStatus : std::uint8_t {
  completed,
  /// The backend found a fault of its own kind: a data race, a broken guard, an error code.
  failed,
  hung,
  crashed,
  /// The implementation does not take this call; nothing was run.
  refused,
  /// The environment failed, not the subject.
  errored,
};

/// When a rank entered and left a call, in the backend's own clock.
struct Stamp {
  std::int64_t entered = 0;
  std::int64_t left = 0;
};

/// What one stage left behind, a member of the group at a time.
struct StageOutcome {
  std::vector<Image> images;
  std::vector<Stamp> stamps;
};

/// What a run of a program of stages showed.
struct Observation {
  RunStatus status = RunStatus::completed;
  /// One line: what failed, which rank, at which step.
  std::string reason;
  /// Of a failed run, where the backend can tell.
  Symptom symptom = Symptom::none;
  std::vector<StageOutcome> stages;
  /// The path that really ran: the algorithm of every stage.
  std::vector<std::string> path;
  /// The fault that the case asks for met something that it could befall.
  bool fault_fired = false;
  /// It made a difference at that moment: without one there is nothing to be found.
  bool fault_changed = false;

  /// As before a run; the stages keep their memory.
  void clear() {
    status = RunStatus::completed;
    reason.clear();
    symptom = Symptom::none;
    path.clear();
    fault_fired = fault_changed = false;
  }
};

/// What became of a backend when nobody had asked it to run anything.
struct Trouble {
  RunStatus status = RunStatus::crashed;
  std::string reason;
};

/// What a backend promises about its own semantics; it is held to that.
struct BackendTraits {
  std::string name;
  spec::NanRule nan_rule = spec::NanRule::drops;
  spec::ZeroRule zero_rule = spec::ZeroRule::unspecified;
  ResultPlace result_place = ResultPlace::own_block;
  int ranks_max = 64;
  /// The same bits from run to run.
  bool deterministic = true;
  /// Cases may name a schedule other than in_order.
  bool has_schedules = false;
};

struct AlgorithmInfo {
  std::string operation;
  std::string name;
  std::string summary;
};

/// Runs programs of stages over many ranks. Not shared between threads.
class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual const BackendTraits& traits() const = 0;
  /// Every (operation, algorithm) that this backend has.
  [[nodiscard]] virtual std::vector<AlgorithmInfo> algorithms() const = 0;
  /// Why the backend does not take a case, in words; empty where it does. Never runs anything.
  /// Throws Interrupted as run() does.
  [[nodiscard]] virtual std::string refuses(const Case& c) const = 0;
  /// Runs the stages one after another on the same ranks; reuses the memory of `observation`.
  /// Never throws for what the subject does. Throws Interrupted where the backend was opened with a
  /// StopRequest, and that was made before the run was over.
  virtual void run(std::span<const Case> stages, Observation& observation) = 0;
  /// Starts afresh (new processes), so that a failure is confirmed without what came before.
  virtual void restart() {}
  /// Ends what runs in the background, at the end of all runs; says what went wrong with that,
  /// unless a stop was asked for.
  virtual std::optional<Trouble> close() { return std::nullopt; }
};

/// How a run opens a backend.
struct BackendOptions {
  int ranks_max = 8;
  /// Seconds without an answer after which a run counts as hung; so does one that takes ten times
  /// as long in all.
  double timeout_s = 20;
  /// What to look at while workers are waited for.
  StopRequest stop = {};
};

/// A backend that may or may not be able to run on this machine.
struct BackendEntry {
  std::string name;
  std::string summary;
  /// Empty where it can run; else one line that says why not and what would mend it.
  std::string (*why_unavailable)() = nullptr;
  std::unique_ptr<Backend> (*open)(const BackendOptions& options) = nullptr;
  /// Versions and limits of what is underneath, for the report's environment object.
  nlohmann::json (*describe)() = nullptr;
  /// Most ranks that it may be opened for, where opening starts them; 0: its traits tell the limit.
  int ranks_max = 0;
  /// What is built in, for backends that can tell without being able to run; null for others.
  std::vector<AlgorithmInfo> (*compiled)() = nullptr;
  /// Further lines about this machine, such as what else is missing; null for none.
  std::vector<std::string> (*notes)() = nullptr;
};

}  // namespace rankcheck::harness

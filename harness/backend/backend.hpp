#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "reference/spec/contract.hpp"
#include "reference/spec/value_rules.hpp"

#include "harness/base/stop.hpp"
#include "harness/case/case.hpp"
#include "harness/case/image.hpp"
#include "harness/case/verdict.hpp"

namespace rankcheck::harness {

/// How the run of a program of stages ended.
enum class RunStatus : std::uint8_t {
  completed,
  /// The backend itself found a fault: a data race, a broken guard or an error code.
  failed,
  hung,
  crashed,
  /// The implementation does not take this call; nothing was run.
  refused,
  /// The environment failed, not the subject under test.
  errored,
};

/// The times at which a rank entered and left a call, in the backend's own clock.
struct Stamp {
  std::int64_t entered = 0;
  std::int64_t left = 0;

  friend bool operator==(const Stamp&, const Stamp&) = default;
};

/// The results of one stage, with one entry for each member of the group.
struct StageOutcome {
  std::vector<Image> images;
  std::vector<Stamp> stamps;

  friend bool operator==(const StageOutcome&, const StageOutcome&) = default;
};

/// The results of running a program of stages.
struct Observation {
  RunStatus status = RunStatus::completed;
  /// One line: what failed, on which rank, at which step.
  std::string reason;
  /// The symptom of a failed run, if the backend can tell.
  Symptom symptom = Symptom::none;
  std::vector<StageOutcome> stages;
  /// The path that really ran: the algorithm of every stage.
  std::vector<std::string> path;
  /// Whether the fault that the case asks for met something that it could affect.
  bool fault_fired = false;
  /// Whether the fault made a difference at that moment. If not, there is nothing to find.
  bool fault_changed = false;

  /// Resets everything except the stages, which keep their memory.
  void clear() {
    status = RunStatus::completed;
    reason.clear();
    symptom = Symptom::none;
    path.clear();
    fault_fired = fault_changed = false;
  }
};

/// A failure of a backend outside a run.
struct BackendFailure {
  RunStatus status = RunStatus::crashed;
  std::string reason;
  /// Whether processes only took too long to end, which says nothing about a run.
  bool is_slow_end = false;
};

/// What a backend promises about its own semantics. Its results are checked against these promises.
struct BackendTraits {
  std::string name;
  spec::NanRule nan_rule = spec::NanRule::drops;
  spec::ZeroRule zero_rule = spec::ZeroRule::unspecified;
  ResultPlace result_place = ResultPlace::own_block;
  /// The most ranks that a case may have.
  int ranks_max = 64;
  /// Whether every run of a case gives the same bits.
  bool deterministic = true;
  /// Whether reductions may round although the inputs make every order of evaluation exact. For
  /// example, an average may multiply by 1/n.
  bool rounds = false;
  /// Whether cases may name a schedule other than in_order.
  bool has_schedules = false;
  /// Whether cases may be pending: the backend's ranks have streams.
  bool has_streams = false;
  /// Whether a part of the drawn cases spreads its ranks over hosts. A backend that must start its
  /// ranks anew for other hosts takes such cases, but only units that name the hosts have them.
  bool draws_hosts = false;
  /// Whether cases may be pending without streams: the inputs of a simulated rank arrive when the
  /// rank enters the call.
  bool has_arrivals = false;
  /// Whether a rank may enter a call late, see the field `late` of collectives.
  bool has_delays = false;
  /// Whether a call may be under way during the calls behind it, see Case::overlaps.
  bool has_overlaps = false;
  /// Whether it frees communicators when a case asks for it, see Case::frees.
  bool frees_groups = false;
  /// Whether the elements of a buffer may lie apart; see spec::Extents.
  bool has_strides = false;
};

struct AlgorithmInfo {
  std::string operation;
  std::string name;
  std::string summary;
  /// Whether it takes only cases with several hosts. Only suite entries with hosts select it.
  bool needs_hosts = false;
  /// Environment variables by which any program of the library is made to use the algorithm.
  std::map<std::string, std::string> variables = {};
};

class Capabilities;

/// Runs programs of stages over many ranks. A backend must not be shared between threads.
class Backend {
 public:
  virtual ~Backend() = default;

  [[nodiscard]] virtual const BackendTraits& traits() const = 0;
  /// Every (operation, algorithm) that this backend has.
  [[nodiscard]] virtual std::vector<AlgorithmInfo> algorithms() const = 0;
  /// Names and versions of the software below, for the report's environment object.
  [[nodiscard]] virtual nlohmann::json versions() const { return nlohmann::json::object(); }
  /// What the algorithm of an operation declared that it takes; any algorithm of the operation if
  /// the name is empty. Null if there is no declaration. The backend owns the result.
  [[nodiscard]] virtual const Capabilities* capabilities(std::string_view /*operation*/,
                                                         std::string_view /*algorithm*/) const {
    return nullptr;
  }
  /// Why the backend does not take a case, in words; empty if it takes the case. Never runs
  /// anything. Throws Interrupted as run() does.
  [[nodiscard]] virtual std::string why_refused(const Case& c) const = 0;
  /// Runs the stages one after another on the same ranks; reuses the memory of `observation`. Never
  /// throws for a failure of the subject. Throws Interrupted if the backend was opened with a
  /// StopRequest and a stop is requested before the run is over.
  virtual void run(std::span<const Case> stages, Observation& observation) = 0;
  /// Starts afresh, with new processes, so that a failure is confirmed independently of earlier
  /// runs. `ranks` is the number of ranks to start, as a replay of a case with so many ranks starts
  /// them. 0: as many as the backend was opened for.
  virtual void restart(int /*ranks*/) {}
  /// Another restart with as many ranks follows the next run, unless something comes between. A
  /// backend may start the processes for both at once. Holds until the next restart.
  virtual void expect_restart() {}
  /// Whether a run counts as hung already after a tenth of the time, and half a second at least.
  /// For a search that tries many cases, of which most may hang, and that confirms what it finds
  /// without haste.
  virtual void hurry(bool /*is_hurried*/) {}
  /// Ends background processes, after all runs. Returns what went wrong, unless a stop was
  /// requested.
  virtual std::optional<BackendFailure> close() { return std::nullopt; }
};

/// How a run opens a backend.
struct BackendOptions {
  /// The most ranks that a case of the run may have.
  int ranks_max = 8;
  /// A run counts as hung after this many seconds without an answer, or after ten times as many
  /// seconds in total.
  double timeout_s = 20;
  /// Checked while the backend waits for workers.
  StopRequest stop = {};
  /// Whether error output of the user's own program is passed on.
  bool shows_error_output = false;
};

/// A backend that may or may not be able to run on this machine.
struct BackendEntry {
  std::string name;
  std::string summary;
  /// Returns an empty text if the backend can run. Otherwise returns one line that says why not and
  /// what would help.
  std::string (*why_unavailable)() = nullptr;
  std::unique_ptr<Backend> (*open)(const BackendOptions& options) = nullptr;
  /// For a backend whose ranks start when it is opened: the most ranks that it may be opened for.
  /// 0: its traits tell the limit.
  int ranks_max = 0;
  /// Whether a suite's entries for this backend also apply to the backends that the user names and
  /// that the suite does not mention.
  bool stands_for_unmentioned = false;
  /// Whether a run on several devices gives every device one rank at most. The backend then uses
  /// its direct paths between devices.
  bool one_rank_per_device = false;
  /// The algorithms that are built in, for backends that know them even if they cannot run.
  /// Otherwise null.
  std::vector<AlgorithmInfo> (*compiled)() = nullptr;
  /// What the user chose about the backend, for the report's environment object. Null if there is
  /// nothing to choose.
  nlohmann::json (*settings)() = nullptr;
  /// Further lines about this machine, for example about other missing parts. Null if there are
  /// none.
  std::vector<std::string> (*notes)() = nullptr;

  /// Opens the backend for one rank and returns its versions(). Throws Interrupted if `stop` is
  /// made before workers have answered.
  [[nodiscard]] nlohmann::json describe(const StopRequest& stop) const {
    return open({.ranks_max = 1, .stop = stop})->versions();
  }
};

}  // namespace rankcheck::harness

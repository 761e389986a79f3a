#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/report/github.hpp"
#include "harness/report/report.hpp"

#include "cases/hardware/probe.hpp"
#include "cases/hardware/speed.hpp"
#include "cases/hardware/tested_volume.hpp"

/// The gate for new hardware, `rankcheck run hardware`. It checks every link, all devices together
/// and each device alone, speeds, a sanitizer and a soak. It gives one verdict for each device and
/// each link. cases/hardware/README.md is the page for its users.
namespace rankcheck::cases::hardware {

/// A part of the gate apart from its links. The gate runs the phases in this order: the most
/// informative ones come first.
enum class Phase : std::uint8_t {
  /// The suite `hardware` on cuda only, with few cases of each unit.
  cuda,
  /// The suite `smoke` on nccl only, with a fixed number of ranks and few cases of each unit.
  nccl,
  /// The measurements of `rankcheck bench` that have a target.
  speed,
  /// The suite `smoke` on cuda under compute-sanitizer, with one case of each unit.
  sanitizer,
  /// The suite `hardware` on all devices.
  suites,
  /// The suite `smoke` on one device only.
  device,
  /// The suite `hardware` with other cases, again and again.
  soak,
};

/// The names of the phases, in the order of the enumerators.
inline constexpr std::array<std::string_view, 7> phase_names{
    "cuda", "nccl", "speed", "sanitizer", "suites", "device", "soak"};

/// A phase that the gate asks to be run.
struct PhaseRequest {
  Phase phase = Phase::suites;
  /// The number of the physical device of Phase::device, or of the ranks of Phase::nccl. 0 for
  /// other phases.
  int number = 0;
  /// The seconds of Phase::soak, including those of earlier sessions.
  double budget_s = 0;
};

/// The name of a phase's folder in the folder of the gate, for example "nccl-4".
[[nodiscard]] std::string folder_of(const PhaseRequest& request);
/// Returns the phase that has such a folder. Empty if none has.
[[nodiscard]] std::optional<PhaseRequest> phase_of_folder(const std::string& folder);

struct PhaseOutcome {
  /// Why the phase ended early, for example "interrupted" or "time_over". Empty if the phase was
  /// completed. A soak is completed when its time is over.
  std::string ended_early = {};
  harness::Report report = {};
  /// Seconds that all sessions of the phase took.
  double spent_s = 0;
  /// For Phase::speed: what was measured.
  std::vector<Speed> speeds = {};
  /// Why nothing was run. Empty if something was run.
  std::string skipped = {};
  /// Why nothing could be run although it should have been. Empty if something was run.
  std::string broken = {};
};

/// A probe, and what came of it.
struct ProbeAnswer {
  ProbeRequest request;
  ProbeOutcome outcome;
  double took_s = 0;
};

/// The functions through which the gate reaches its environment.
struct Hooks {
  /// May throw harness::Interrupted, after which the gate has no answer.
  std::function<ProbeOutcome(const ProbeRequest&)> probe;
  /// Takes an answer before the gate goes on.
  std::function<void(const ProbeAnswer&)> keep;
  std::function<PhaseOutcome(const PhaseRequest&)> run;
  /// Seconds that the soak may take in this session.
  std::function<double()> soak_s;
  /// Seconds since a fixed time. May stand still while nothing is probed or run.
  std::function<double()> now_s;
  /// Why the gate must end now, as PhaseOutcome::ended_early. Empty if it may go on.
  std::function<std::string()> why_end;
  /// Prints a line for the user.
  std::function<void(const std::string&)> say;
};

struct Options {
  std::uint64_t seed = 1;
  /// The phases between the links and the soak, in this order.
  std::vector<PhaseRequest> parts = {};
  /// The bytes of a probe's buffers.
  std::int64_t bytes = std::int64_t{256} << 20;
  /// Checks every link, and with it every device, once, and nothing else. `parts` is then empty.
  bool is_quick = false;
};

/// One method on one link, and the results of all its probes.
struct Link {
  int from = 0;
  int to = 0;
  gpu::cuda::Method method = gpu::cuda::Method::copy;
  gpu::cuda::Way way = gpu::cuda::Way::unknown;
  harness::Finding finding = {};
  TestedVolume volume = {};
  std::int64_t lost_sources = 0;
  /// The seconds of every copy in the first round, when nothing else runs.
  std::vector<double> seconds = {};
  /// The seconds of all its probes together.
  double took_s = 0;
  int soak_probes = 0;

  /// Returns the seconds of a copy: one of ten copies was faster than the first number, the
  /// second is the median, and one of ten was slower than the third. Empty if nothing was copied.
  /// The first copy on a link may be much slower than the others, so extremes would say little.
  [[nodiscard]] std::vector<double> spread_s() const;

  /// Returns the median speed in 10^9 copied bytes per second. Returns 0 if nothing was copied.
  [[nodiscard]] double gigabytes_per_s() const;

  /// For example "within 0" or "0 to 1".
  [[nodiscard]] std::string name() const;

  /// Adds the outcome of one more probe, and judges it.
  void add(const ProbeAnswer& answer);

  /// Whether some probe had an outcome.
  [[nodiscard]] bool is_measured() const {
    return finding.cases > 0 || finding.verdict != harness::Verdict::passed;
  }
};

/// A physical device and its verdict from all phases.
struct DeviceVerdict {
  Device device = {};
  /// Never passed if the device is a stand-in.
  harness::Verdict verdict = harness::Verdict::passed;
  std::string reason = {};
  /// The data that was tested in the device's own memory.
  TestedVolume volume = {};
};

struct PhaseSummary {
  std::string name;
  harness::Verdict verdict = harness::Verdict::passed;
  std::string reason = {};
  std::int64_t cases = 0;
  std::int64_t compared_bytes = 0;
  /// Whether something passed or failed.
  bool has_judged = false;
  /// Whether the quick gate leaves the phase out.
  bool is_left_out = false;
};

/// The results of the gate.
struct GateReport {
  /// Findings of all phases, and one for each link and method. The environment has `durations_s`,
  /// the seconds of each; the caller adds the rest, and the run.
  harness::Report report;
  std::vector<DeviceVerdict> devices;
  std::vector<Link> links;
  std::vector<PhaseSummary> phases;
  std::vector<Speed> speeds;
  /// The tested volume of all links together.
  TestedVolume volume;
  /// The number of cases of all suites, and of red findings among theirs.
  std::int64_t cases = 0;
  std::int64_t failures = 0;
  /// The number of findings that failed only as known. They do not make the gate fail.
  std::int64_t known_failures = 0;
  /// Whether every device is hardware. Only then do bounds on error rates have a meaning.
  [[nodiscard]] bool is_of_hardware() const;
  /// Whether only links were asked for.
  bool is_quick = false;
  /// The report's exit status. It is 0 only if all parts of the gate were run and nothing failed.
  int status = 0;
};

/// What a gate must do, and what came of it so far.
class Gate {
 public:
  /// Needs at least one device.
  Gate(Options options, std::vector<Device> devices);

  /// Adds what came of a probe. Throws BadInput if the gate has no such probe.
  void add(const ProbeAnswer& answer);
  /// Adds or replaces what came of a phase.
  void add(const PhaseRequest& request, PhaseOutcome outcome);

  /// Does what has not been done, and soaks. Returns why it ended early; empty if it did not.
  [[nodiscard]] std::string run(const Hooks& hooks);
  /// Judges what there is. `ended_early` is empty if the gate was run to its end.
  [[nodiscard]] GateReport report(const std::string& ended_early) const;

  /// Seconds that links and suites were soaked.
  [[nodiscard]] double soaked_s() const;

 private:
  class Session;

  /// What came of a phase; null if it has not begun.
  [[nodiscard]] const PhaseOutcome* find(const PhaseRequest& request) const;
  /// The probe of a link in a round. The soak begins with round 1.
  [[nodiscard]] ProbeRequest request_for(const Link& link, std::uint64_t round) const;
  [[nodiscard]] double soaked_suites_s() const;

  Options options_;
  std::vector<Device> devices_;
  std::vector<Link> links_;
  std::map<std::string, PhaseOutcome> phases_;
  /// The number of turns that links had in the soak, and the seconds of their probes.
  std::uint64_t soak_turns_ = 0;
  double soaked_links_s_ = 0;
};

/// The gate's part of the environment in report.json.
[[nodiscard]] nlohmann::ordered_json to_json(const GateReport& gate);
/// Verdicts, speeds and exposure as Markdown.
[[nodiscard]] std::string to_markdown(const GateReport& gate);
/// The verdict, what did not pass, and what the quick gate did not check. A line each.
[[nodiscard]] std::string short_text(const GateReport& gate);
/// What GitHub's summary of a step says about the gate: its verdict, and the parts and devices that
/// did not pass.
[[nodiscard]] harness::SummaryNotes notes_of(const GateReport& gate);

}  // namespace rankcheck::cases::hardware

#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/files.hpp"
#include "harness/journal.hpp"

#include "cases/hardware/gate.hpp"

/// The journal of a gate: what its surroundings answered, each on disk before the gate hears of it.
/// The gate does the same again on the same answers, so that its reports can be rendered from them,
/// and a gate that was ended goes on behind the last one.
namespace rankcheck::cases::hardware {

/// The format of a gate's journal; one of another version is not read.
inline constexpr int gate_journal_version = 3;

/// What a gate was asked to do, and where: the first line of its journal.
struct GateHeader {
  /// The selection of its suites.
  nlohmann::ordered_json run;
  /// The environment of the first session, for the report.
  nlohmann::ordered_json environment;
  /// What `rankcheck doctor` says.
  nlohmann::ordered_json doctor;
  Options options = {};
  std::vector<Device> devices = {};
};

/// What a probe said, in seconds since the gate began, without the time between its sessions.
struct ProbeAnswer {
  ProbeRequest request;
  ProbeOutcome outcome;
  double at_s = 0;
};

/// A phase began; its findings are in the journal of its own folder.
struct PhaseBegin {
  PhaseRequest request;
};

/// A phase came to its end; what it left is in its own folder.
struct PhaseAnswer {
  PhaseRequest request;
  std::string skipped = {};
  std::string broken = {};
  double at_s = 0;
};

/// How long the soak may go on.
struct SoakAnswer {
  double budget_s = 0;
};

using Answer = std::variant<ProbeAnswer, PhaseBegin, PhaseAnswer, SoakAnswer>;

/// The seconds that were given to the soak by these answers.
[[nodiscard]] double soaked_s(const std::vector<Answer>& answers);

/// How a session of a gate ended; one that was killed leaves none.
struct GateEnd {
  std::string ending;
  std::string finished;
  double duration_s = 0;
};

/// A gate's journal as it was found on disk.
struct GateContent {
  GateHeader header;
  /// The environment of the last session.
  nlohmann::ordered_json environment;
  std::vector<Answer> answers = {};
  std::optional<GateEnd> end = {};
  harness::JsonLines lines = {};
};

/// The journal in the folder of a gate.
[[nodiscard]] std::filesystem::path gate_journal(const std::filesystem::path& folder);
/// The file in the folder of Phase::speed that `rankcheck bench --json` writes.
[[nodiscard]] std::filesystem::path speed_file(const std::filesystem::path& folder);
/// What that file says of the targets that it holds. Throws FileError and BadInput.
[[nodiscard]] std::vector<Speed> read_speeds(const std::filesystem::path& folder);

/// Whether the folder holds the journal of a gate, and not that of a run, or none. Throws FileError
/// where a journal cannot be read.
[[nodiscard]] bool is_gate(const std::filesystem::path& folder);
/// The folder of the gate of which this one holds a part; empty where it holds none.
/// Throws FileError.
[[nodiscard]] std::filesystem::path gate_of_part(const std::filesystem::path& folder);
/// Throws FileError, and BadInput that names the line.
[[nodiscard]] GateContent read_gate(const std::filesystem::path& folder);

/// One session of a gate: what there is in the journal, then what the surroundings say.
class GateSession {
 public:
  /// Begins a gate in a folder that holds none. Throws FileError.
  GateSession(const std::filesystem::path& folder, GateHeader header);
  /// Goes on with a gate in surroundings that may be others. Throws FileError.
  GateSession(const std::filesystem::path& folder,
              GateContent content,
              nlohmann::ordered_json environment);

  /// Runs the gate; `live.now_s` counts from the session's begin. The reports of what there is are
  /// written before each phase begins. What it returns is what report_of() tells of the folder once
  /// end() was called. Throws FileError, BadInput where the journal is that of another gate, and
  /// whatever `live` throws.
  GateReport run(const Hooks& live);
  void end(const GateEnd& end);

 private:
  std::filesystem::path folder_;
  harness::LineFile file_;
  GateContent content_;
};

/// The gate as its journal tells of it: "killed" where its last session has no end. Throws
/// FileError and BadInput.
[[nodiscard]] GateReport report_of(const std::filesystem::path& folder);

/// Writes the gate's report.json, junit.xml and summary.md. Throws FileError.
void write_reports(const std::filesystem::path& folder, const GateReport& gate);

}  // namespace rankcheck::cases::hardware

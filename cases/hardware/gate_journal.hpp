#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/files.hpp"

#include "cases/hardware/gate.hpp"

/// The journal of a gate: what its surroundings answered, each on disk before the gate hears of it.
/// The gate does the same again on the same answers, so that its reports can be rendered from them,
/// and a gate that was ended goes on behind the last one.
namespace rankcheck::cases::hardware {

/// The format of a gate's journal; one of another version is not read.
inline constexpr int gate_journal_version = 2;

/// What a gate was asked to do, and where: the first line of its journal.
struct GateHeader {
  /// The selection of its suites.
  nlohmann::ordered_json run;
  /// Of the first session, for the report.
  nlohmann::ordered_json environment;
  /// What `rankcheck doctor` says.
  nlohmann::ordered_json doctor;
  Options options = {};
  std::vector<Device> devices = {};
  std::string why_no_device = {};
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

/// A phase ended.
struct PhaseAnswer {
  PhaseRequest request;
  int status = 0;
  std::string skipped = {};
  std::string broken = {};
  double at_s = 0;
};

using Answer = std::variant<ProbeAnswer, PhaseBegin, PhaseAnswer>;

/// How a session of a gate ended; one that was killed leaves none.
struct GateEnd {
  std::string ending;
  std::string finished;
  double duration_s = 0;
};

/// A gate's journal as it was found on disk.
struct GateContent {
  GateHeader header;
  /// Of the last session.
  nlohmann::ordered_json environment;
  std::vector<Answer> answers = {};
  std::optional<GateEnd> end = {};
  /// Bytes up to the end of the last whole line; what follows was torn by a kill.
  std::uintmax_t whole_bytes = 0;
};

/// The journal in the folder of a gate.
[[nodiscard]] std::filesystem::path gate_journal(const std::filesystem::path& folder);
/// Where the run of a phase goes, below that of the gate.
[[nodiscard]] std::string folder_of(const PhaseRequest& request);

/// Whether the folder holds the journal of a gate, and not that of a run, or none.
[[nodiscard]] bool is_gate(const std::filesystem::path& folder);
/// The folder of the gate of which this one holds a part; empty where it holds none.
[[nodiscard]] std::filesystem::path gate_of_part(const std::filesystem::path& folder);
/// Throws FileError, and BadInput that names the line.
[[nodiscard]] GateContent read_gate(const std::filesystem::path& folder);

/// One session of a gate: what there is in the journal, then what the surroundings say.
class GateSession {
 public:
  /// Begins a gate in a folder that holds none. Throws FileError.
  GateSession(const std::filesystem::path& folder, GateHeader header);
  /// Goes on with one in other surroundings, and where `longer_s` is given, with a soak that takes
  /// so long: more than it was to take so far. Throws FileError.
  GateSession(const std::filesystem::path& folder,
              GateContent content,
              nlohmann::ordered_json environment,
              std::optional<double> longer_s = {});

  /// Runs the gate; `live.now_s` counts from the session's begin. What it returns is what
  /// report_of() tells of the folder once end() was called. Throws BadInput where the journal is
  /// that of another gate, and whatever `live` throws.
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

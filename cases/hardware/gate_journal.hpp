#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"
#include "harness/report/journal.hpp"

#include "cases/hardware/gate.hpp"

/// The journal of a gate. It has every answer that the gate got from its environment; each answer
/// is on disk before the gate sees it. The gate decides the same again from the same answers. So
/// its reports can be written from the journal, and a gate that ended continues after the last
/// answer.
namespace rankcheck::cases::hardware {

/// The version of the journal's format. A journal of another version is rejected.
inline constexpr int gate_journal_version = 3;

/// What a gate must do, and on which devices: the first line of its journal.
struct GateHeader {
  /// The selection of its suites.
  nlohmann::ordered_json run;
  /// The environment of the first session, for the report.
  nlohmann::ordered_json environment;
  /// The output of `rankcheck doctor`.
  nlohmann::ordered_json doctor;
  /// The known defects that the gate was given, as in their files; null if there are none.
  nlohmann::ordered_json known = nullptr;
  Options options = {};
  std::vector<Device> devices = {};
};

/// The answer of a probe. `at_s` is in seconds since the gate began, without the time between its
/// sessions.
struct ProbeAnswer {
  ProbeRequest request;
  ProbeOutcome outcome;
  double at_s = 0;
};

/// A phase began. Its findings are in the journal of its own folder.
struct PhaseBegin {
  PhaseRequest request;
};

/// A phase ended. Its results are in its own folder.
struct PhaseAnswer {
  PhaseRequest request;
  std::string skipped = {};
  std::string broken = {};
  double at_s = 0;
};

/// The time that the soak got.
struct SoakAnswer {
  double budget_s = 0;
};

using Answer = std::variant<ProbeAnswer, PhaseBegin, PhaseAnswer, SoakAnswer>;

/// Returns the sum of the seconds that these answers gave to the soak.
[[nodiscard]] double soaked_s(const std::vector<Answer>& answers);

/// How a session of a gate ended. A killed session leaves none.
struct GateEnd {
  std::string ending;
  std::string finished;
  double duration_s = 0;
};

/// A gate's journal as it was read from disk.
struct GateContent {
  GateHeader header;
  /// The environment of the last session.
  nlohmann::ordered_json environment;
  std::vector<Answer> answers = {};
  std::optional<GateEnd> end = {};
  harness::JsonLines lines = {};
};

/// The path of the journal in the folder of a gate.
[[nodiscard]] std::filesystem::path gate_journal(const std::filesystem::path& folder);
/// The path of the file in the folder of Phase::speed that `rankcheck bench --json` writes.
[[nodiscard]] std::filesystem::path speed_file(const std::filesystem::path& folder);
/// Returns the speeds with a target in speed_file(). Throws FileError and BadInput.
[[nodiscard]] std::vector<Speed> read_speeds(const std::filesystem::path& folder);

/// Whether the folder has the journal of a gate. False for the journal of a run and if there is no
/// journal. Throws FileError if a journal cannot be read.
[[nodiscard]] bool is_gate(const std::filesystem::path& folder);
/// If the folder belongs to a part of a gate, returns the folder of the gate, otherwise an empty
/// path. Throws FileError.
[[nodiscard]] std::filesystem::path gate_of_part(const std::filesystem::path& folder);
/// Reads a gate's journal. Throws FileError, and BadInput that names the line.
[[nodiscard]] GateContent read_gate(const std::filesystem::path& folder);

/// One session of a gate. It answers the gate from the journal first, then from the live
/// environment.
class GateSession {
 public:
  /// Begins a gate in a folder without one. Throws FileError.
  GateSession(const std::filesystem::path& folder, GateHeader header);
  /// Continues a gate, possibly in another environment. Throws FileError.
  GateSession(const std::filesystem::path& folder,
              GateContent content,
              nlohmann::ordered_json environment);

  /// Runs the gate. `live.now_s` counts from the begin of the session. Writes the reports of all
  /// results so far before each phase begins. Returns what report_of() returns for the folder after
  /// end(). Throws FileError, BadInput if the journal belongs to another gate, and whatever `live`
  /// throws.
  GateReport run(const Hooks& live);
  void end(const GateEnd& end);

 private:
  std::filesystem::path folder_;
  harness::LineFile file_;
  GateContent content_;
};

/// Returns the gate's report from its journal. Its ending is "killed" if the last session has no
/// end. Throws FileError and BadInput.
[[nodiscard]] GateReport report_of(const std::filesystem::path& folder);

/// Writes the gate's report.json, junit.xml, summary.md and report.html. Throws FileError.
void write_reports(const std::filesystem::path& folder, const GateReport& gate);

}  // namespace rankcheck::cases::hardware

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/report/journal.hpp"

#include "cases/hardware/gate.hpp"

/// The journal of a gate: that of a run without units. The header's environment says what the gate
/// must do. Notes say what came of probes, and what a phase's own folder does not say. So the
/// gate's reports can be written from its folder, and a gate that ended continues where it stopped.
namespace rankcheck::cases::hardware {

/// What a gate must do, and where.
struct GateHeader {
  Options options = {};
  std::vector<Device> devices = {};
  /// The output of `rankcheck doctor`.
  nlohmann::ordered_json doctor = nlohmann::ordered_json::object();
};

/// Returns the field `hardware` of a journal's environment. The seed is not in it, but in the
/// journal's run.
[[nodiscard]] nlohmann::ordered_json to_json(const GateHeader& header);
/// Throws BadInput, also if the journal is that of a run.
[[nodiscard]] GateHeader gate_header(const harness::JournalHeader& journal);

/// The path of the journal in the folder of a gate.
[[nodiscard]] std::filesystem::path gate_journal(const std::filesystem::path& folder);

/// Whether the folder has the journal of a gate. False for the journal of a run and if there is no
/// journal. Throws FileError if a journal cannot be read.
[[nodiscard]] bool is_gate(const std::filesystem::path& folder);
/// If the folder belongs to a part of a gate, returns the folder of the gate, otherwise an empty
/// path. Throws FileError.
[[nodiscard]] std::filesystem::path gate_of_part(const std::filesystem::path& folder);

/// Returns the gate with everything that earlier sessions left in the folder. Throws FileError, and
/// BadInput if the journal belongs to another gate.
[[nodiscard]] Gate gate_in(const std::filesystem::path& folder, const harness::Record& record);

/// Runs the gate for one session. Each answer is on disk before the gate goes on. Writes the
/// reports of all results so far before the links and before each phase. Returns the ending.
/// Hooks::run must leave the journal or the speed file in the phase's folder; Hooks::keep is not
/// used. Throws FileError, BadInput and whatever `live` throws.
[[nodiscard]] std::string run_gate(const std::filesystem::path& folder,
                                   Gate gate,
                                   harness::Journal& journal,
                                   Hooks live);

/// Returns the gate's report from its folder. Its ending is "killed" if the last session has no
/// end. Throws FileError and BadInput.
[[nodiscard]] GateReport report_of(const std::filesystem::path& folder);

/// Writes the gate's report.json, junit.xml, summary.md and report.html. Throws FileError.
void write_reports(const std::filesystem::path& folder, const GateReport& gate);

}  // namespace rankcheck::cases::hardware

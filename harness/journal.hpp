#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/files.hpp"
#include "harness/finding.hpp"

namespace rankcheck::harness {

/// The format of journal.jsonl; a journal of another version is not read.
inline constexpr int journal_version = 1;

/// The first line of a journal: what the run was asked to do.
struct JournalHeader {
  /// Suites, seed and options: what has to match where a run is resumed.
  nlohmann::ordered_json run;
  /// Units of one round, so that a reader knows what is missing.
  std::int64_t units = 0;
  nlohmann::ordered_json environment;
};

/// One finding of one round; suites that do not cycle have round 0 alone.
struct JournalEntry {
  int round = 0;
  Finding finding;
};

/// A journal as it was found on disk.
struct JournalContent {
  JournalHeader header;
  std::vector<JournalEntry> entries;
  /// Bytes up to the end of the last whole line; what follows was torn by a kill.
  std::uintmax_t whole_bytes = 0;
};

/// Reads a journal and drops a torn last line. Throws FileError, and BadInput that names the line.
[[nodiscard]] JournalContent read_journal(const std::filesystem::path& path);

/// The append-only record of a run: a finding a line, on disk before append() returns.
class Journal {
 public:
  /// Starts a new journal in place of any old one.
  Journal(const std::filesystem::path& path, const JournalHeader& header);
  /// Goes on behind what was read.
  Journal(const std::filesystem::path& path, const JournalContent& content);

  /// Throws FileError; what was written before stays readable.
  void append(const JournalEntry& entry);

 private:
  LineFile file_;
};

}  // namespace rankcheck::harness

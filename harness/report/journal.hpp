#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"
#include "harness/report/record.hpp"

namespace rankcheck::harness {

class Fields;

/// Version of the format of journal.jsonl. A journal of another version is rejected.
inline constexpr int journal_version = 2;

/// The journal line of an object. Its last field becomes `crc32`, the checksum of the text before
/// this field. Bytes that are not UTF-8 (for example in a worker's last output) are replaced.
[[nodiscard]] std::string line_of(const nlohmann::ordered_json& object);

/// The lines of a journal on disk.
struct JsonLines {
  /// Bytes up to the end of the last whole line. A kill may have left a part of a line behind it.
  std::uintmax_t whole_bytes = 0;
  /// Whether every line has a checksum. Journals of older versions have no checksums.
  bool has_checksums = false;
};

/// Calls take() with each line of a journal. Drops an incomplete last line that a kill has left.
/// Throws FileError. Throws BadInput that names the line if take() throws BadInput, if a checksum
/// is wrong, or if only some lines have checksums.
JsonLines read_json_lines(const std::filesystem::path& path,
                          const std::function<void(const nlohmann::ordered_json&)>& take);

/// Returns an object field of `value` unchanged, with its order. `fields` must read `value`. Throws
/// BadInput if the field is missing or no object.
[[nodiscard]] const nlohmann::ordered_json& required_object(std::string_view name,
                                                            Fields& fields,
                                                            const nlohmann::ordered_json& value);

/// Throws BadInput if the field `name` holds another version than `version`.
void require_version(std::string_view name, int version, Fields& fields);

/// A journal on disk.
struct JournalContent {
  Record record;
  JsonLines lines = {};
};

/// Reads a journal and drops an incomplete last line. Throws FileError, and BadInput that names the
/// line.
[[nodiscard]] JournalContent read_journal(const std::filesystem::path& path);

/// Whether the file exists and holds at least one whole line: the header of a run.
[[nodiscard]] bool holds_run(const std::filesystem::path& path);

/// The append-only record of a run. It has a header, one line for each finding and each note, one
/// line for every further session, and one for the end of each session. Every line is on disk
/// before the call returns. Throws FileError; earlier lines stay readable.
class Journal {
 public:
  /// Starts a new journal, which replaces an old one.
  Journal(const std::filesystem::path& path, JournalHeader header);
  /// Continues the journal that was read, in a new session.
  Journal(const std::filesystem::path& path,
          JournalContent content,
          nlohmann::ordered_json environment);

  /// Also throws BadInput if the header has no such unit.
  void append(JournalEntry entry);
  void end(JournalEnd end);
  void note(nlohmann::ordered_json note);

  /// All findings so far, including earlier sessions.
  [[nodiscard]] const Record& record() const { return record_; }

 private:
  LineFile file_;
  Record record_;
};

}  // namespace rankcheck::harness

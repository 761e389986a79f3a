#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "harness/files.hpp"
#include "harness/record.hpp"

namespace rankcheck::harness {

class Fields;

/// The format of journal.jsonl; a journal of another version is not read.
inline constexpr int journal_version = 2;

/// A line of a journal: the object, whose last field becomes `crc32`, the checksum of the text
/// before that field. Bytes that are not UTF-8 (of a worker's last words, say) are replaced.
[[nodiscard]] std::string line_of(const nlohmann::ordered_json& object);

/// The lines of a journal as they were found on disk.
struct JsonLines {
  /// Bytes up to the end of the last whole line; what follows was torn by a kill.
  std::uintmax_t whole_bytes = 0;
  /// Every line has a checksum. Journals of older versions have none.
  bool has_checksums = false;
};

/// Calls take() with each line of a journal; what a kill has torn behind the last whole line is
/// dropped. Throws FileError, and BadInput that names the line: where take() throws it, where a
/// checksum is wrong, and where some lines have one and others do not.
JsonLines read_json_lines(const std::filesystem::path& path,
                          const std::function<void(const nlohmann::ordered_json&)>& take);

/// A field of a line that goes on as it is; `fields` are those of `value`. Throws BadInput.
[[nodiscard]] const nlohmann::ordered_json& object_at(std::string_view name,
                                                      Fields& fields,
                                                      const nlohmann::ordered_json& value);

/// Throws BadInput where a journal's header, whose fields these are, names another version.
void expect_version(std::string_view name, int version, Fields& fields);

/// A journal as it was found on disk.
struct JournalContent {
  Record record;
  JsonLines lines = {};
};

/// Reads a journal and drops a torn last line. Throws FileError, and BadInput that names the line.
[[nodiscard]] JournalContent read_journal(const std::filesystem::path& path);

/// Whether a run came to write its header there, whole.
[[nodiscard]] bool holds_run(const std::filesystem::path& path);

/// The append-only record of a run: a header, a finding a line, a line for every further session
/// and for the end of each; on disk before each call returns. Throws FileError; what was written
/// before stays readable.
class Journal {
 public:
  /// Starts a new journal in place of any old one.
  Journal(const std::filesystem::path& path, JournalHeader header);
  /// Goes on behind what was read, in a new session.
  Journal(const std::filesystem::path& path,
          JournalContent content,
          nlohmann::ordered_json environment);

  /// Throws BadInput, too, where the header has no such unit.
  void append(JournalEntry entry);
  void end(JournalEnd end);

  /// What was found so far, by earlier sessions too.
  [[nodiscard]] const Record& record() const { return record_; }

 private:
  LineFile file_;
  Record record_;
};

}  // namespace rankcheck::harness

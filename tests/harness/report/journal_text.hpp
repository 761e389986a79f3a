#pragma once

#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "harness/report/journal.hpp"

namespace rankcheck::harness {

/// Returns a journal's text with each line replaced by `line_text` of the line without its
/// checksum. A torn last line is left out.
template <class LineText>
std::string each_line(const std::string& journal, const LineText& line_text) {
  std::istringstream lines(journal);
  std::string out;
  for (std::string line; std::getline(lines, line) && !lines.eof();) {
    nlohmann::ordered_json value = nlohmann::ordered_json::parse(line);
    value.erase("crc32");
    out += line_text(value) + '\n';
  }
  return out;
}

/// Returns a journal as versions without checksums wrote it.
inline std::string without_checksums(const std::string& journal) {
  return each_line(journal, [](const nlohmann::ordered_json& line) { return line.dump(); });
}

/// Returns a changed journal with valid checksums, as if rankcheck had written the change.
inline std::string with_checksums(const std::string& journal) {
  return each_line(journal, line_of);
}

}  // namespace rankcheck::harness

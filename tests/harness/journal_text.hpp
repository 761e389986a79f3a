#pragma once

#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "harness/journal.hpp"

namespace rankcheck::harness {

/// The text of a journal with `line_text` of each line, which is given without its checksum. A torn
/// last line is left out.
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

/// A journal as versions without checksums wrote it.
inline std::string without_checksums(const std::string& journal) {
  return each_line(journal, [](const nlohmann::ordered_json& line) { return line.dump(); });
}

/// A journal that was changed, as if the change had been written by rankcheck.
inline std::string with_checksums(const std::string& journal) {
  return each_line(journal, line_of);
}

}  // namespace rankcheck::harness

#include "harness/journal.hpp"

#include <fmt/format.h>

#include "harness/fields.hpp"

namespace rankcheck::harness {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// On one line; bytes that are not UTF-8 (of a worker's last words, say) are replaced.
std::string line_of(const ordered_json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

JournalHeader header_from_json(const ordered_json& value, const std::string& place) {
  const json plain = value;
  Fields fields(plain, place);
  int version = 0;
  fields.required("journal_version", version);
  if (version != journal_version) {
    fields.fail("journal_version", fmt::format("expected {}, got {}", journal_version, version));
  }
  JournalHeader header;
  fields.required("units", header.units);
  if (!fields.at("run").is_object()) fields.fail("run", "expected an object");
  header.run = value.at("run");
  if (fields.find("environment") != nullptr) header.environment = value.at("environment");
  return header;
}

JournalEntry entry_from_json(const json& value, const std::string& place) {
  Fields fields(value, place);
  JournalEntry entry;
  fields.required("round", entry.round);
  try {
    entry.finding = finding_from_json(fields.at("finding"));
  } catch (const BadInput& bad) {
    throw BadInput(fmt::format("{}: {}", place, bad.what()));
  }
  return entry;
}

}  // namespace

JournalContent read_journal(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  JournalContent content;
  bool has_header = false;
  for (std::size_t start = 0, line = 1; start < text.size(); ++line) {
    const std::size_t end = text.find('\n', start);
    if (end == std::string::npos) break;
    const std::string place = fmt::format("{}: line {}", path.string(), line);
    const ordered_json value =
        ordered_json::parse(text.begin() + static_cast<std::ptrdiff_t>(start),
                            text.begin() + static_cast<std::ptrdiff_t>(end),
                            nullptr,
                            false);
    start = end + 1;
    if (value.is_discarded()) {
      if (start >= text.size() && has_header) break;
      throw BadInput(place + ": expected JSON");
    }
    if (!has_header) {
      content.header = header_from_json(value, place);
      has_header = true;
    } else {
      content.entries.push_back(entry_from_json(value, place));
    }
    content.whole_bytes = start;
  }
  if (!has_header) throw BadInput(path.string() + ": line 1: expected the header of a journal");
  return content;
}

Journal::Journal(const std::filesystem::path& path, const JournalHeader& header) : file_(path) {
  file_.truncate(0);
  file_.append(line_of({
      {"journal_version", journal_version},
      {"units", header.units},
      {"run", header.run},
      {"environment", header.environment},
  }));
}

Journal::Journal(const std::filesystem::path& path, const JournalContent& content) : file_(path) {
  file_.truncate(content.whole_bytes);
}

void Journal::append(const JournalEntry& entry) {
  file_.append(line_of({{"round", entry.round}, {"finding", to_json(entry.finding)}}));
}

}  // namespace rankcheck::harness

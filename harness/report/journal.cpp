#include "harness/report/journal.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "harness/base/checksum.hpp"
#include "harness/base/json_text.hpp"
#include "harness/case/fields.hpp"
#include "harness/check/finding_json.hpp"

namespace rankcheck::harness {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json to_json(const JournalHeader& header) {
  ordered_json units = ordered_json::array();
  for (const Unit& unit : header.units) units.push_back(to_json(unit));
  ordered_json pinned = ordered_json::object();
  for (const auto& [unit, c] : header.pinned) pinned[unit] = write_value(c);
  ordered_json out{
      {"journal_version", journal_version},
      {"run", header.run},
      {"directory", header.directory},
      {"units", std::move(units)},
      {"pinned", std::move(pinned)},
      {"cycles", header.cycles},
  };
  if (!header.known.is_null()) out["known"] = header.known;
  out["environment"] = header.environment;
  return out;
}

ordered_json to_json(const JournalEntry& entry) {
  ordered_json out{{"round", entry.round}};
  if (!entry.whole) out["whole"] = false;
  out["at_s"] = entry.at_s;
  if (entry.took_s > 0) out["took_s"] = entry.took_s;
  out["finding"] = to_json(entry.finding);
  return out;
}

ordered_json to_json(const JournalEnd& end) {
  return {
      {"ending", end.ending},
      {"rounds", end.rounds},
      {"finished", end.finished},
      {"duration_s", end.duration_s},
  };
}

JournalHeader header_from_json(const ordered_json& value) {
  const json plain = value;
  Fields fields(plain);
  require_version("journal_version", journal_version, fields);
  JournalHeader header;
  header.run = required_object("run", fields, value);
  fields.required("directory", header.directory);
  if (!fields.at("units").is_array()) fields.fail("units", "expected a list");
  for (const json& unit : fields.at("units")) header.units.push_back(unit_from_json(unit));
  fields.required("pinned", header.pinned);
  fields.required("cycles", header.cycles);
  if (fields.find("known") != nullptr) header.known = required_object("known", fields, value);
  header.environment = required_object("environment", fields, value);
  return header;
}

JournalEntry entry_from_json(Fields& fields) {
  JournalEntry entry;
  fields.at_least_0("round", entry.round);
  fields.optional("whole", entry.whole);
  fields.optional("at_s", entry.at_s);
  fields.require_at_least_0("at_s", entry.at_s);
  fields.optional("took_s", entry.took_s);
  fields.require_at_least_0("took_s", entry.took_s);
  entry.finding = finding_from_json(fields.at("finding"));
  return entry;
}

JournalEnd end_from_json(Fields& fields) {
  JournalEnd end;
  fields.required("ending", end.ending);
  fields.at_least_0("rounds", end.rounds);
  fields.required("finished", end.finished);
  fields.at_least_0("duration_s", end.duration_s);
  return end;
}

/// The end of a journal line that begins with `text`: the field crc32 and the closing brace, which
/// `text` lacks.
std::string checksum_field(std::string_view text) {
  Checksum sum;
  sum.add(text);
  return fmt::format(R"(,"crc32":"{}"}})", sum.text());
}

/// Whether a line has a checksum. Throws BadInput if the checksum does not match the line.
bool check_sum_of(std::string_view line, const ordered_json& value) {
  if (!value.is_object() || !value.contains("crc32")) return false;
  const std::size_t at = line.size() - std::min(line.size(), checksum_field({}).size());
  const std::string expected = checksum_field(line.substr(0, at));
  if (line.substr(at) == expected) return true;
  throw BadInput(
      fmt::format("crc32: got {1}, expected {0}: the line has changed since it was written",
                  expected.substr(9, 10),
                  value["crc32"].dump().substr(0, 60)));
}

/// Adds one line of a journal to the record. The first line is the header.
void take(const ordered_json& value, std::optional<Record>& record) {
  if (!record) {
    record.emplace(header_from_json(value));
    return;
  }
  const json plain = value;
  Fields fields(plain);
  if (fields.find("resumed") != nullptr) {
    record->resume(required_object("resumed", fields, value));
  } else if (fields.find("ending") != nullptr) {
    record->end(end_from_json(fields));
  } else if (fields.find("note") != nullptr) {
    record->note(required_object("note", fields, value));
  } else {
    record->add(entry_from_json(fields));
  }
}

}  // namespace

const ordered_json& required_object(std::string_view name,
                                    Fields& fields,
                                    const ordered_json& value) {
  if (!fields.at(name).is_object()) fields.fail(name, "expected an object");
  return value.at(name);
}

void require_version(std::string_view name, int version, Fields& fields) {
  int got = 0;
  fields.required(name, got);
  if (got != version) fields.fail(name, fmt::format("got {1}, expected {0}", version, got));
}

std::string line_of(const ordered_json& object) {
  std::string line = object.dump(-1, ' ', false, json::error_handler_t::replace);
  line.pop_back();
  return line += checksum_field(line);
}

JsonLines read_json_lines(const std::filesystem::path& path,
                          const std::function<void(const ordered_json&)>& take) {
  const std::string text = read_file(path);
  JsonLines lines;
  for (std::size_t start = 0, line = 1; start < text.size(); ++line) {
    const std::size_t end = text.find('\n', start);
    if (end == std::string::npos) break;
    const std::string_view whole = std::string_view(text).substr(start, end - start);
    const auto value = parse_json<ordered_json>(whole);
    start = end + 1;
    try {
      if (value.is_discarded()) throw BadInput(why_not_json(whole));
      const bool has_checksum = check_sum_of(whole, value);
      if (line == 1) lines.has_checksums = has_checksum;
      if (has_checksum != lines.has_checksums) {
        throw BadInput("crc32: expected a checksum on every line or on none");
      }
      take(value);
    } catch (const BadInput& bad) {
      throw BadInput(fmt::format("{}: line {}: {}", path.string(), line, bad.what()));
    }
    lines.whole_bytes = start;
  }
  return lines;
}

JournalContent read_journal(const std::filesystem::path& path) {
  std::optional<Record> record;
  const JsonLines lines =
      read_json_lines(path, [&](const ordered_json& value) { take(value, record); });
  if (!record) throw BadInput(path.string() + ": line 1: expected the header of a journal");
  return {.record = std::move(*record), .lines = lines};
}

bool holds_run(const std::filesystem::path& path) {
  return std::filesystem::exists(path) && read_file(path).find('\n') != std::string::npos;
}

Journal::Journal(const std::filesystem::path& path, JournalHeader header)
    : file_(path), record_(std::move(header)) {
  file_.truncate(0);
  file_.append(line_of(to_json(record_.header())));
}

Journal::Journal(const std::filesystem::path& path,
                 JournalContent content,
                 nlohmann::ordered_json environment)
    : file_(path), record_(std::move(content.record)) {
  file_.truncate(content.lines.whole_bytes);
  file_.append(line_of({{"resumed", environment}}));
  record_.resume(std::move(environment));
}

void Journal::append(JournalEntry entry) {
  file_.append(line_of(to_json(entry)));
  record_.add(std::move(entry));
}

void Journal::end(JournalEnd end) {
  file_.append(line_of(to_json(end)));
  record_.end(std::move(end));
}

void Journal::note(ordered_json note) {
  file_.append(line_of({{"note", note}}));
  record_.note(std::move(note));
}

}  // namespace rankcheck::harness

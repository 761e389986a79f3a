#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "reference/spec/type.hpp"

#include "harness/report/report.hpp"

namespace rankcheck::harness::page {

/// What a page shows without its script: the title of the window, the verdict in a sentence, and a
/// text for terminals.
struct WithoutScript {
  std::string title;
  std::string verdict;
  std::string text;
};

/// A whole document that loads nothing. Its script shows `data`, as run.js and comparison.js
/// describe it. Equal arguments give equal documents.
[[nodiscard]] std::string document(const WithoutScript& shown, nlohmann::ordered_json data);

/// The finding as in report.json, with values of wrong elements in place of their bits. If there is
/// a minimal case, the field `page` has the command that replays it (`replay`), what each wrong
/// element says (`says`), which of them tells the cause (`cause`, absent if none does), and what
/// differs from the case that failed first (`changes`: field, before, after).
[[nodiscard]] nlohmann::ordered_json to_page_json(const Finding& finding);

/// One page that shows a run to people.
[[nodiscard]] std::string to_html(const Report& report);

/// The bytes in the formats of gzip and then of base64 (RFC 1952 and 4648), as scripts unpack them.
/// Equal bytes give equal texts.
[[nodiscard]] std::string packed(std::string_view bytes);

/// The value of an element that a report shows as bits: "0x3fc00000" of f32 becomes
/// "1.5 (0x3fc00000)". Any other text stays as it is.
[[nodiscard]] std::string as_value(spec::Type type, std::string_view text);

/// Writes report.html, whole or not at all. Throws FileError.
void write_page(const std::filesystem::path& folder, const Report& report);

}  // namespace rankcheck::harness::page

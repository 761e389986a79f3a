#include "harness/page/page.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

#include "reference/spec/assert.hpp"

#include "harness/base/files.hpp"
#include "harness/check/case_change.hpp"
#include "harness/report/causes.hpp"
#include "harness/report/report_text.hpp"

namespace rankcheck::harness::page {

// page.html with its styles and its script, which CMake joins.
extern const std::string_view page_html;

namespace {

using nlohmann::ordered_json;
using spec::Type;
using spec::TypeInfo;

/// The text with everything escaped that HTML could take for markup.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// Writes integers that a script cannot hold exactly as texts.
void keep_exact(ordered_json& value) {
  constexpr double largest = 0x1p53;
  if (value.is_structured()) {
    for (ordered_json& each : value) keep_exact(each);
  } else if (value.is_number_integer() && std::abs(value.get<double>()) >= largest) {
    value = value.dump();
  }
}

void fill_in(std::string& document, std::string_view place, const std::string& text) {
  document.replace(document.find(place), place.size(), text);
}

std::string gzip(std::string_view bytes) {
  constexpr int gzip_format = 16;
  z_stream stream{};
  RANKCHECK_ASSERT(deflateInit2(&stream,
                                Z_DEFAULT_COMPRESSION,
                                Z_DEFLATED,
                                MAX_WBITS + gzip_format,
                                MAX_MEM_LEVEL,
                                Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  std::string input(bytes);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  RANKCHECK_ASSERT(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = i; j < i + 3; ++j) {
      group = group << 8 | (j < bytes.size() ? static_cast<unsigned char>(bytes[j]) : 0U);
    }
    for (const int shift : {18, 12, 6, 0}) out += digits[group >> shift & 63];
  }
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  return out.replace(out.size() - padding, padding, padding, '=');
}

/// The value of a floating-point number with these bits.
double number_of(const TypeInfo& type, std::uint64_t bits) {
  const int fraction_bits = type.precision - 1;
  const int exponent_bits = 8 * type.bytes - 1 - fraction_bits;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  const std::uint64_t largest = (std::uint64_t{1} << exponent_bits) - 1;
  const std::uint64_t exponent = bits >> fraction_bits & largest;
  const double sign = (bits >> (8 * type.bytes - 1) & 1) != 0 ? -1 : 1;
  // f8e4m3 has no infinities, and only one pattern of NaN for each sign.
  const bool is_finite_only = type.type == Type::f8e4m3;
  const bool is_all_ones = fraction == (std::uint64_t{1} << fraction_bits) - 1;
  if (exponent == largest && (!is_finite_only || is_all_ones)) {
    return is_finite_only || fraction != 0 ? std::nan("") : sign * INFINITY;
  }
  const double whole =
      static_cast<double>(fraction) + (exponent == 0 ? 0 : std::ldexp(1.0, fraction_bits));
  const int power = type.exponent_min + (exponent == 0 ? 0 : static_cast<int>(exponent) - 1);
  return sign * std::ldexp(whole, power - fraction_bits);
}

std::string text_of(const TypeInfo& type, std::uint64_t bits) {
  const int unused = 64 - 8 * type.bytes;
  switch (type.type_class) {
    case spec::TypeClass::unsigned_integer:
      return std::to_string(bits);
    case spec::TypeClass::signed_integer:
      return std::to_string(static_cast<std::int64_t>(bits << unused) >> unused);
    case spec::TypeClass::floating:
    case spec::TypeClass::complex:
      break;
  }
  const double value = number_of(type, bits);
  return std::isnan(value) ? "nan" : fmt::format("{:.9g}", value);
}

std::optional<std::uint64_t> number_of(std::string_view digits) {
  std::uint64_t bits = 0;
  const char* end = digits.data() + digits.size();
  const auto [last, error] = std::from_chars(digits.data(), end, bits, 16);
  if (error != std::errc() || last != end) return std::nullopt;
  return bits;
}

}  // namespace

std::string packed(std::string_view bytes) {
  return base64(gzip(bytes));
}

std::string as_value(Type type, std::string_view text) {
  const auto digits_max = 2 * static_cast<std::size_t>(spec::info(type).bytes);
  if (!text.starts_with("0x") || text.size() != 2 + digits_max) return std::string(text);
  const TypeInfo& part = spec::info(spec::component(type));
  const std::size_t digits = 2 * static_cast<std::size_t>(part.bytes);
  const auto low = number_of(text.substr(text.size() - digits));
  const auto high = number_of(text.substr(2, digits));
  if (!low || !high) return std::string(text);
  if (!spec::is_complex(type)) return fmt::format("{} ({})", text_of(part, *low), text);
  // The imaginary part lies behind the real part, so its digits come first.
  return fmt::format("{} + {}i ({})", text_of(part, *low), text_of(part, *high), text);
}

std::string document(const WithoutScript& shown, ordered_json data) {
  keep_exact(data);
  const std::string text = data.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::string out(page_html);
  fill_in(out, "<!--title-->", escaped(shown.title));
  fill_in(out, "<!--verdict-->", escaped(shown.verdict));
  fill_in(out, "<!--summary-->", escaped(shown.text));
  fill_in(out, "<!--data-->", packed(text));
  return out;
}

ordered_json to_page_json(const Finding& finding) {
  ordered_json out = to_json(finding);
  if (!finding.minimal) return out;
  ordered_json page{{"replay", replay_line(to_text(*finding.minimal))},
                    {"says", ordered_json::array()}};
  const WrongElement* const telling = telling_element(finding);
  for (std::size_t i = 0; i < finding.wrong.size(); ++i) {
    const WrongElement& wrong = finding.wrong[i];
    const Type type = finding.minimal->type;
    out["wrong"][i]["expected"] = as_value(type, wrong.expected);
    out["wrong"][i]["got"] = as_value(type, wrong.got);
    page["says"].push_back(in_words(finding, wrong));
    if (&wrong == telling) page["cause"] = i;
  }
  if (finding.original) {
    ordered_json& changes = page["changes"] = ordered_json::array();
    for (const FieldChange& each : changes_between(*finding.original, *finding.minimal)) {
      changes.push_back({each.field, each.before, each.after});
    }
  }
  out["page"] = std::move(page);
  return out;
}

std::string to_html(const Report& report) {
  const std::string verdict = verdict_sentence(report);
  ordered_json data{{"verdict", verdict}, {"cut", what_was_cut(report)}};
  ordered_json& whole = data["report"] = to_json(report);
  whole.erase("summary");
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    if (report.findings[i].minimal) whole["findings"][i] = to_page_json(report.findings[i]);
  }
  const char* const words[] = {"passed", "failed", "not whole"};
  return document({.title = fmt::format("rankcheck: {}", words[exit_status(report)]),
                   .verdict = verdict,
                   .text = verdict_and_failures(report, {}) + '\n' + table_text(report, {})},
                  std::move(data));
}

void write_page(const std::filesystem::path& folder, const Report& report) {
  write_file(folder / page_name, to_html(report));
}

}  // namespace rankcheck::harness::page

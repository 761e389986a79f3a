#include "harness/run/option_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "harness/base/bad_input.hpp"
#include "harness/base/nearest.hpp"
#include "harness/suite/suite_file.hpp"

namespace rankcheck::harness::run {

namespace {

void add_once(std::string_view option, std::string value, std::vector<std::string>& values) {
  if (std::ranges::find(values, value) != values.end()) {
    throw BadInput(fmt::format("{}: {:.60}: given twice", option, value));
  }
  values.push_back(std::move(value));
}

}  // namespace

bool is_whole_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return false;
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_decimal_number(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && rest == end && std::isfinite(value);
}

std::vector<std::string> split_list(std::string_view option, const std::string& text) {
  return split_lists(option, std::span(&text, 1));
}

std::vector<std::string> split_lists(std::string_view option, std::span<const std::string> texts) {
  std::vector<std::string> values;
  for (const std::string& text : texts) {
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      std::string value = text.substr(begin, end - begin);
      begin = end + 1;
      if (value.empty()) {
        throw BadInput(fmt::format("{}: {}: a value between commas is empty", option, text));
      }
      add_once(option, std::move(value), values);
    }
  }
  return values;
}

std::vector<std::string> split_backends(std::string_view option, const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return split_list(option, text);
  const std::size_t comma = text.rfind(',', colon);
  if (comma == std::string::npos) return {text};
  std::vector<std::string> all = split_list(option, text.substr(0, comma));
  all.push_back(text.substr(comma + 1));
  return all;
}

std::vector<std::string> split_all_backends(std::string_view option,
                                            std::span<const std::string> texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts) {
    for (std::string& each : split_backends(option, text)) add_once(option, std::move(each), all);
  }
  return all;
}

void require_matches(std::string_view what,
                     std::span<const std::string> patterns,
                     const std::set<std::string>& names) {
  for (const std::string& pattern : patterns) {
    const bool matches_some =
        std::ranges::any_of(names, [&](const std::string& each) { return matches(pattern, each); });
    if (matches_some) continue;
    throw BadInput(fmt::format("--{} {:.60}: matches no {} that 'rankcheck list' shows{}",
                               what,
                               pattern,
                               what,
                               did_you_mean(pattern, {names.begin(), names.end()})));
  }
}

}  // namespace rankcheck::harness::run

#include "harness/base/version_range.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "harness/base/bad_input.hpp"

namespace rankcheck::harness {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// Reads a whole text like "4.0.2". Empty if it is no version. A number that is too large for its
/// type counts as the largest one.
std::vector<std::int64_t> numbers_of(std::string_view text) {
  std::vector<std::int64_t> numbers;
  if (text.empty() || first_version(text) != text) return numbers;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('.', start), text.size());
    std::int64_t number = INT64_MAX;
    (void)std::from_chars(text.data() + start, text.data() + end, number);
    numbers.push_back(number);
    start = end + 1;
  }
  return numbers;
}

}  // namespace

std::string_view first_version(std::string_view text) {
  const auto start = static_cast<std::size_t>(std::ranges::find_if(text, is_digit) - text.begin());
  std::size_t end = start;
  while (end < text.size() && (is_digit(text[end]) || (text[end] == '.' && end + 1 < text.size() &&
                                                       is_digit(text[end + 1])))) {
    ++end;
  }
  return text.substr(start, end - start);
}

std::string_view version_behind(std::string_view name, std::string_view text) {
  if (name.empty()) return {};
  for (auto from = text.begin();; ++from) {
    from = std::search(from, text.end(), name.begin(), name.end(), is_same_letter);
    if (from == text.end()) return {};
    const auto behind = from + std::ssize(name);
    const bool is_whole = (from == text.begin() || !is_word(*(from - 1))) &&
                          (behind == text.end() || !is_word(*behind));
    if (!is_whole) continue;
    return first_version(text.substr(static_cast<std::size_t>(behind - text.begin())));
  }
}

VersionRange::VersionRange(std::string_view text) {
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    if (end > start) conditions_.push_back(condition_from(text.substr(start, end - start)));
    start = end + 1;
  }
  if (conditions_.empty()) {
    throw BadInput("got none, expected conditions such as \">=4.0 <4.1\"");
  }
}

VersionRange::Condition VersionRange::condition_from(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, Relation>, 5> relations{
      {{">=", Relation::at_least},
       {"<=", Relation::at_most},
       {">", Relation::above},
       {"<", Relation::below},
       {"=", Relation::equal}}};
  Condition condition;
  std::string_view version = word;
  for (const auto& [sign, relation] : relations) {
    if (!version.starts_with(sign)) continue;
    condition.relation = relation;
    version.remove_prefix(sign.size());
    break;
  }
  if (condition.relation == Relation::equal && version.ends_with(".*")) {
    condition.relation = Relation::begins_with;
    version.remove_suffix(2);
  }
  condition.numbers = numbers_of(version);
  if (condition.numbers.empty()) {
    throw BadInput(
        fmt::format("got \"{:.60}\", expected conditions such as \">=4.0 <4.1\" or \"4.0.*\" with "
                    "blanks between them",
                    word));
  }
  return condition;
}

bool VersionRange::contains(std::string_view version) const {
  const std::vector<std::int64_t> given = numbers_of(first_version(version));
  if (given.empty()) return false;
  return std::ranges::all_of(conditions_, [&](const Condition& each) {
    std::vector<std::int64_t> is = given;
    std::vector<std::int64_t> limit = each.numbers;
    if (each.relation == Relation::begins_with) is.resize(limit.size());
    const std::size_t size = std::max(is.size(), limit.size());
    is.resize(size);
    limit.resize(size);
    switch (each.relation) {
      case Relation::at_least:
        return is >= limit;
      case Relation::above:
        return is > limit;
      case Relation::at_most:
        return is <= limit;
      case Relation::below:
        return is < limit;
      case Relation::equal:
      case Relation::begins_with:
        return is == limit;
    }
    return false;
  });
}

}  // namespace rankcheck::harness

#include "harness/base/table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/spec/to_size.hpp"

namespace rankcheck::harness {

namespace {

/// Bytes of the UTF-8 sequence at the start of the text; 0 if the text starts with no valid
/// sequence.
std::size_t sequence_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) return 0;
  }
  return length;
}

/// Number of characters as a terminal counts them; good enough for what rankcheck prints.
std::size_t width(std::string_view text) {
  return spec::to_size(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t columns, Align align) {
  const std::string blanks(columns - std::min(columns, width(text)), ' ');
  return align == Align::left ? text + blanks : blanks + text;
}

/// Splits the text at its blanks into lines of at most `room` characters. All lines but the first
/// have `indent` characters less. A longer word has its own line.
std::vector<std::string> lines_of(const std::string& text, std::size_t room, std::size_t indent) {
  std::vector<std::string> lines;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t taken = lines.size() > 1 ? indent : 0;
    if (lines.empty() || taken + width(lines.back()) + 1 + width(word) > room) {
      lines.push_back(word);
    } else {
      lines.back() += ' ' + word;
    }
  }
  return lines;
}

/// Returns the text in at most `bytes_max` bytes; characters stay whole.
std::string without_middle(std::string_view whole, std::size_t bytes_max) {
  if (whole.size() <= bytes_max) return std::string(whole);
  constexpr std::string_view left_out = " ... ";
  const auto is_inside = [&](std::size_t at) { return (whole[at] & 0xc0) == 0x80; };
  std::size_t end = (bytes_max - left_out.size()) / 2;
  std::size_t begin = whole.size() - (bytes_max - left_out.size() - end);
  while (end > 0 && is_inside(end)) --end;
  while (begin < whole.size() && is_inside(begin)) ++begin;
  return std::string(whole.substr(0, end)).append(left_out).append(whole.substr(begin));
}

/// Returns the text with at most `word_bytes_max` bytes of each word.
std::string with_shorter_words(std::string_view text, std::size_t word_bytes_max) {
  std::string out;
  while (true) {
    const std::size_t end = std::min(text.find(' '), text.size());
    out += without_middle(text.substr(0, end), word_bytes_max);
    if (end == text.size()) return out;
    out += ' ';
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::string Table::text(std::size_t width_max, std::size_t last_min) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(width(columns_[i].title));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], width(row[i]));
  }
  // The start of the last column, and the width that is left for it.
  const std::size_t last = columns_.size() - 1;
  const std::size_t before = std::accumulate(widths.begin(), widths.end() - 1, 2 * last);
  const bool wraps = columns_[last].align == Align::left && width_max != no_limit;
  const std::size_t room = wraps ? std::max(width_max, before + last_min) - before : no_limit;
  widths[last] = std::min(widths[last], room);

  std::string out;
  const auto add_row = [&](const auto& cell) {
    std::string line;
    for (std::size_t i = 0; i < last; ++i) {
      line += padded(cell(i), widths[i], columns_[i].align) + "  ";
    }
    const bool fits = width(cell(last)) <= room;
    for (const std::string& part :
         fits ? std::vector<std::string>{cell(last)} : lines_of(cell(last), room, 0)) {
      line += padded(part, widths[last], columns_[last].align);
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + '\n';
      line.assign(before, ' ');
    }
  };
  add_row([&](std::size_t i) { return columns_[i].title; });
  for (const auto& row : rows_) add_row([&](std::size_t i) { return row[i]; });
  return out;
}

std::string Table::markdown() const {
  std::string out = "|";
  std::string rule = "|";
  for (const Column& column : columns_) {
    out += fmt::format(" {} |", column.title);
    rule += column.align == Align::left ? " --- |" : " ---: |";
  }
  out += '\n' + rule + '\n';
  for (const auto& row : rows_) {
    out += '|';
    for (std::string cell : row) {
      for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) {
        cell.insert(at, 1, '\\');
      }
      out += fmt::format(" {} |", cell);
    }
    out += '\n';
  }
  return out;
}

std::string first_of(const std::vector<std::string>& names, std::size_t most) {
  const std::size_t named = std::min(names.size(), most);
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(named);
  const std::size_t left = names.size() - named;
  return fmt::format("{}{}",
                     fmt::join(names.begin(), end, ", "),
                     left > 0 ? fmt::format(" and {} more", left) : "");
}

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string counted(std::int64_t number, std::string_view one, std::string_view many) {
  return grouped(number) + ' ' + std::string(number == 1 ? one : many);
}

std::string wrapped(std::string_view text, std::size_t width_max, std::size_t indent) {
  const std::vector<std::string> lines = lines_of(std::string(text), width_max, indent);
  return fmt::format("{}", fmt::join(lines, '\n' + std::string(indent, ' ')));
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const bool blank = text[0] == '\n' || text[0] == '\t' || text[0] == '\r';
    const bool control = static_cast<unsigned char>(text[0]) < 0x20 || text[0] == 0x7f;
    if (blank) {
      out += ' ';
    } else if (length == 0 || control) {
      out += '?';
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t bytes_max) {
  const std::string whole = printable(text);
  // Shorter words would not show what they were.
  constexpr std::size_t word_bytes_min = 40;
  std::string best = without_middle(whole, bytes_max);
  for (std::size_t low = word_bytes_min, high = bytes_max; low <= high;) {
    const std::size_t middle = (low + high) / 2;
    std::string shorter = with_shorter_words(whole, middle);
    if (shorter.size() > bytes_max) {
      high = middle - 1;
    } else {
      best = std::move(shorter);
      low = middle + 1;
    }
  }
  return best;
}

std::string shell_quoted(std::string_view argument) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!argument.empty() && argument.find_first_not_of(plain) == std::string_view::npos) {
    return std::string(argument);
  }
  std::string out = "'";
  for (const char c : argument) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

}  // namespace rankcheck::harness

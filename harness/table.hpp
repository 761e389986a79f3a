#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace rankcheck::harness {

enum class Align : bool { left, right };

/// A small table of text; every row has as many cells as there are columns.
class Table {
 public:
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// Columns padded to their width, two blanks between them, a newline behind every row. Where a
  /// row is wider than `width_max`, its last cell goes on below itself.
  [[nodiscard]] std::string text(std::size_t width_max = no_limit) const;
  [[nodiscard]] std::string markdown() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The first of these names: "a, b, c and 7 more".
[[nodiscard]] std::string first_of(const std::vector<std::string>& names, std::size_t most);

/// 1234567 -> "1,234,567".
[[nodiscard]] std::string grouped(std::int64_t number);

/// 1 -> "1 batch", 1234 -> "1,234 batches".
[[nodiscard]] std::string counted(std::int64_t number, std::string_view one, std::string_view many);

/// The text with everything that a terminal or an XML parser would stumble over (control
/// characters, bytes that are not UTF-8) replaced by '?'; newlines and tabs become blanks.
[[nodiscard]] std::string printable(std::string_view text);

/// The same in at most `bytes_max` bytes: what a longer text has in its middle is left out, for its
/// place is at its begin and what was expected at its end.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t bytes_max);

/// The argument as a POSIX shell takes it in one word, quoted where it needs to be.
[[nodiscard]] std::string shell_quoted(std::string_view argument);

}  // namespace rankcheck::harness

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace rankcheck::harness {

enum class Align : bool { left, right };

/// A small text table. Every row must have as many cells as there are columns.
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
  /// Pads columns to their width, with two blanks between them and a newline after every row. If a
  /// row is wider than `width_max`, its last cell continues below itself. The last column keeps at
  /// least `last_min` characters.
  [[nodiscard]] std::string text(std::size_t width_max = no_limit, std::size_t last_min = 24) const;
  [[nodiscard]] std::string markdown() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// The first `most` names: "a, b, c and 7 more".
[[nodiscard]] std::string first_of(const std::vector<std::string>& names, std::size_t most);

/// 1234567 -> "1,234,567".
[[nodiscard]] std::string grouped(std::int64_t number);

/// 1 -> "1 batch", 1234 -> "1,234 batches".
[[nodiscard]] std::string counted(std::int64_t number, std::string_view one, std::string_view many);

/// Breaks a text between words into lines of at most `width_max` characters. All lines but the
/// first begin with `indent` blanks. A longer word has its own line. Has no newline at the end.
[[nodiscard]] std::string wrapped(std::string_view text, std::size_t width_max, std::size_t indent);

/// Replaces everything that a terminal or an XML parser cannot handle (control characters, bytes
/// that are not UTF-8) by '?'. Newlines and tabs become blanks.
[[nodiscard]] std::string printable(std::string_view text);

/// The printable text in at most `bytes_max` bytes. In a longer text, the longest words, such as
/// paths and values, lose their middles. Only if this is not enough, the text itself does, because
/// its beginning names the place and its end says what was expected.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t bytes_max);

/// The argument as one word of a POSIX shell, quoted if necessary.
[[nodiscard]] std::string shell_quoted(std::string_view argument);

}  // namespace rankcheck::harness

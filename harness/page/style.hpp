#pragma once

#include <string>
#include <string_view>

#include "harness/page/html.hpp"

namespace rankcheck::harness::page {

/// Returns the whole document with this title and this content of its body. It has its styles and a
/// script of a few lines for the buttons that copy. It loads nothing, and its policy forbids that.
[[nodiscard]] std::string document(std::string_view title, std::string_view body);

/// Writes a command that the reader may copy. The button appears only if scripts run.
void write_command(Html& html, std::string_view command);

/// Writes a table with `caption` in a box of its own that scrolls sideways if the table is wide.
/// The keyboard reaches the box. body() writes the rows.
template <class Body>
void write_table(Html& html, std::string_view caption, const Body& body) {
  const Html::Element box = html.open("div",
                                      {{"class", "scroll"},
                                       {"role", "region"},
                                       {"tabindex", "0"},
                                       {"aria-label", std::string(caption)}});
  const Html::Element table = html.open("table");
  html.leaf("caption", caption);
  body();
}

/// Writes the first row of a table, with a heading for each column.
void write_head(Html& html, const std::vector<std::string>& columns);

}  // namespace rankcheck::harness::page

#include "harness/page/pictures.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/table.hpp"
#include "harness/page/style.hpp"

namespace rankcheck::harness::page {

namespace {

using spec::to_size;

/// What a mark looks like: the class of its square, the character in it, and its meaning.
struct SquareLook {
  Mark mark;
  std::string_view fill;
  std::string_view sign;
  std::string_view meaning;
};

constexpr std::array looks{
    SquareLook{Mark::right, "f-right", "", "right"},
    SquareLook{Mark::wrong, "f-wrong", "\u00d7", "wrong"},
    SquareLook{Mark::missing, "f-missing", "\u2212", "a contribution is missing"},
    SquareLook{Mark::unwritten, "f-unwritten", "o", "not written"},
    SquareLook{Mark::unknown, "f-unknown", "?", "not known"},
};

constexpr int square = 16;
constexpr int left = 60;
constexpr int top = 20;

std::string number(double value) {
  return fmt::format("{:.4g}", value);
}

/// Writes one square with its sign.
void draw_square(Html& html, double x, double y, const SquareLook& look) {
  html.leaf("rect",
            "",
            {{"x", number(x)},
             {"y", number(y)},
             {"width", std::to_string(square - 1)},
             {"height", std::to_string(square - 1)},
             {"class", std::string(look.fill) + " edge"}});
  if (look.sign.empty()) return;
  const bool is_dark = look.mark != Mark::unknown;
  html.leaf(
      "text",
      look.sign,
      {{"x", number(x + 4)}, {"y", number(y + 12)}, {"class", is_dark ? "mark on-dark" : "mark"}});
}

void draw_label(Html& html, double x, double y, const std::string& text) {
  html.leaf("text", text, {{"x", number(x)}, {"y", number(y)}, {"class", "axis"}});
}

/// Opens a box that scrolls sideways if the picture in it is wide. The keyboard reaches the box.
[[nodiscard]] Html::Element open_box(Html& html, std::string said) {
  return html.open("div",
                   {{"class", "scroll"},
                    {"role", "region"},
                    {"tabindex", "0"},
                    {"aria-label", std::move(said)}});
}

[[nodiscard]] Html::Element open_picture(Html& html, int width, int height, std::string said) {
  return html.open("svg",
                   {{"viewBox", fmt::format("0 0 {} {}", width, height)},
                    {"width", std::to_string(width)},
                    {"height", std::to_string(height)},
                    {"role", "img"},
                    {"aria-label", std::move(said)}});
}

/// The marks of a finding that has only its list of wrong elements.
std::vector<std::string> marks_of(const Finding& finding) {
  if (!finding.marks.empty()) return finding.marks;
  Judgement known;
  for (const WrongElement& each : finding.wrong) {
    if (each.rank < 0 || each.index < 0) return {};
    const bool is_missing = each.decoded.find(" missing") != std::string::npos;
    known.mark(each.rank, each.index, is_missing ? Mark::missing : Mark::wrong);
  }
  const bool is_whole = finding.wrong_count == std::ssize(finding.wrong);
  for (std::string& row : known.marks) {
    // Nothing says that other elements are right, and others may be wrong.
    if (!is_whole) std::replace(row.begin(), row.end(), '.', '?');
  }
  return known.marks;
}

/// "rank 0: 3 right, 1 wrong; rank 1: ...".
std::string said_of(const std::vector<std::string>& marks) {
  std::string text = "Picture of ranks and elements";
  for (std::size_t rank = 0; rank < marks.size(); ++rank) {
    std::string counts;
    for (const SquareLook& each : looks) {
      const auto count =
          std::count(marks[rank].begin(), marks[rank].end(), static_cast<char>(each.mark));
      if (count == 0) continue;
      counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", count, each.meaning);
    }
    text += fmt::format("; rank {}: {}", rank, counts.empty() ? "no output" : counts);
  }
  return text;
}

void write_legend(Html& html, const std::vector<std::string>& marks) {
  std::string all;
  for (const std::string& row : marks) all += row;
  std::string text;
  for (const SquareLook& each : looks) {
    if (all.find(static_cast<char>(each.mark)) == all.npos) continue;
    text += fmt::format("{}{}: {}",
                        text.empty() ? "" : ", ",
                        each.sign.empty() ? "blank" : fmt::format("\u201c{}\u201d", each.sign),
                        each.meaning);
  }
  html.leaf("figcaption",
            fmt::format("Each row is a rank, and each square is an element of its output ({}). At "
                        "most {} ranks and {} elements are shown.",
                        text,
                        marked_ranks_max,
                        marked_elements_max));
}

/// One of the three pictures of an operator's values.
struct Panel {
  std::string_view title;
  const std::vector<double>& values;
};

/// A step of the colours for a value between 0 and the largest magnitude, or "bad".
std::string shade_of(double value, double largest) {
  if (!std::isfinite(value)) return "bad";
  if (!(largest > 0)) return "0";
  const double share = std::min(std::abs(value) / largest, 1.0);
  return std::to_string(static_cast<int>(std::ceil(4 * share)));
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double each : values) {
    if (std::isfinite(each)) largest = std::max(largest, std::abs(each));
  }
  return largest;
}

/// Draws the values of a panel. If there is room, each cell has its number.
void draw_cells(Html& html, const Panel& panel, double largest, std::int64_t columns) {
  constexpr std::int64_t numbered_columns_max = 16;
  const bool is_numbered = columns <= numbered_columns_max;
  const std::int64_t width = is_numbered ? 68 : square;
  const std::int64_t height = is_numbered ? 22 : square;
  const auto rows = (std::ssize(panel.values) + columns - 1) / columns;
  const Html::Element picture = open_picture(html,
                                             static_cast<int>(width * columns + 1),
                                             static_cast<int>(height * rows + 1),
                                             fmt::format("{}: {} values, the largest {:.3g}",
                                                         panel.title,
                                                         panel.values.size(),
                                                         largest_of(panel.values)));
  for (std::size_t i = 0; i < panel.values.size(); ++i) {
    const std::int64_t x = width * (static_cast<std::int64_t>(i) % columns);
    const std::int64_t y = height * (static_cast<std::int64_t>(i) / columns);
    const std::string shade = shade_of(panel.values[i], largest);
    html.leaf("rect",
              "",
              {{"x", std::to_string(x)},
               {"y", std::to_string(y)},
               {"width", std::to_string(width)},
               {"height", std::to_string(height)},
               {"class", "f-" + shade + " edge"}});
    if (!is_numbered) continue;
    html.leaf(
        "text",
        number(panel.values[i]),
        {{"x", std::to_string(x + 3)}, {"y", std::to_string(y + 15)}, {"class", "t-" + shade}});
  }
}

void draw_panel(Html& html, const Panel& panel, double largest, std::int64_t columns) {
  const Html::Element figure = html.open("figure");
  {
    const Html::Element box = open_box(html, fmt::format("Values: {}", panel.title));
    draw_cells(html, panel, largest, columns);
  }
  html.leaf("figcaption", fmt::format("{}, largest {:.3g}", panel.title, largest));
}

}  // namespace

void draw_elements(Html& html, const Finding& finding) {
  const std::vector<std::string> marks = marks_of(finding);
  if (marks.empty()) return;
  std::size_t columns = 0;
  for (const std::string& row : marks) columns = std::max(columns, row.size());
  const Html::Element figure = html.open("figure");
  {
    const int width = left + square * static_cast<int>(std::max<std::size_t>(columns, 8)) + 2;
    const int height = top + square * static_cast<int>(marks.size()) + 2;
    const Html::Element box = open_box(html, "Picture of ranks and elements");
    const Html::Element picture = open_picture(html, width, height, said_of(marks));
    for (std::size_t column = 0; column < columns; column += 8) {
      draw_label(html, left + square * static_cast<double>(column), 13, std::to_string(column));
    }
    for (std::size_t rank = 0; rank < marks.size(); ++rank) {
      const double y = top + square * static_cast<double>(rank);
      draw_label(html, 0, y + 12, fmt::format("rank {}", rank));
      for (std::size_t column = 0; column < marks[rank].size(); ++column) {
        const auto look = std::find_if(looks.begin(), looks.end(), [&](const SquareLook& each) {
          return static_cast<char>(each.mark) == marks[rank][column];
        });
        if (look == looks.end()) continue;
        draw_square(html, left + square * static_cast<double>(column), y, *look);
      }
    }
  }
  write_legend(html, marks);
}

void draw_values(Html& html, const Finding& finding) {
  const ValueWindow& window = finding.values;
  if (window.output.empty() || window.columns < 1) return;
  html.leaf("p",
            fmt::format("Values {} to {} of {}, {} in a row. Darker is larger on a light screen, "
                        "and lighter is larger on a dark one. Red is infinite or not a number.",
                        window.first,
                        window.first + std::ssize(window.expected) - 1,
                        printable(window.output),
                        window.columns),
            {{"class", "label"}});
  const Html::Element all = html.open("div", {{"class", "pictures"}});
  // Expected and got share a scale, so that they can be compared by eye.
  const double largest = std::max(largest_of(window.expected), largest_of(window.got));
  draw_panel(html, {"expected", window.expected}, largest, window.columns);
  draw_panel(html, {"got", window.got}, largest, window.columns);
  draw_panel(html, {"error", window.error}, largest_of(window.error), window.columns);
}

void draw_bars(Html& html, const std::string& title, const std::vector<Bar>& bars) {
  double longest = 0;
  for (const Bar& each : bars) longest = std::max(longest, each.length);
  write_table(html, title, [&] {
    const Html::Element rows = html.open("tbody");
    for (const Bar& each : bars) {
      const Html::Element row = html.open("tr");
      html.leaf("th", each.label, {{"scope", "row"}});
      {
        const Html::Element cell = html.open("td");
        constexpr int width = 200;
        const Html::Element bar = html.open("svg",
                                            {{"viewBox", "0 0 200 14"},
                                             {"width", "200"},
                                             {"height", "14"},
                                             {"aria-hidden", "true"}});
        const double share = longest > 0 ? each.length / longest : 0;
        html.leaf(
            "rect", "", {{"width", number(width * share)}, {"height", "14"}, {"class", "f-bar"}});
      }
      html.leaf("td", each.said, {{"class", "number"}});
    }
  });
}

void draw_line(Html& html,
               const std::string& title,
               const std::vector<std::optional<double>>& values) {
  constexpr int step = 18;
  constexpr int height = 34;
  constexpr int margin = 4;
  double largest = 0;
  std::string said;
  for (const std::optional<double>& each : values) {
    if (each && std::isfinite(*each)) largest = std::max(largest, *each);
    said += (said.empty() ? "" : ", ") + (each ? number(*each) : std::string("nothing"));
  }
  const int width = step * std::max(static_cast<int>(values.size()) - 1, 1) + 2 * margin;
  const Html::Element picture = open_picture(html, width, height, title + ": " + said);
  std::string points;
  const auto end_line = [&] {
    if (!points.empty()) html.leaf("polyline", "", {{"points", points}, {"class", "line"}});
    points.clear();
  };
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i].value_or(NAN);
    if (!std::isfinite(value)) {
      end_line();
      continue;
    }
    const std::string x = number(margin + step * static_cast<double>(i));
    const double share = largest > 0 ? value / largest : 0;
    const std::string y = number(margin + (1 - share) * (height - 2 * margin));
    points += (points.empty() ? "" : " ") + x + ',' + y;
    html.leaf("circle", "", {{"cx", x}, {"cy", y}, {"r", "2.5"}, {"class", "f-bar"}});
  }
  end_line();
}

}  // namespace rankcheck::harness::page

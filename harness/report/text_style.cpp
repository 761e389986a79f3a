#include "harness/report/text_style.hpp"

#include <cstdlib>

#include <fmt/color.h>
#include <unistd.h>

namespace rankcheck::harness {

TextStyle TextStyle::for_output(int descriptor) {
  // https://no-color.org: any value but the empty one.
  const char* forbids = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool is_forbidden = forbids != nullptr && *forbids != '\0';
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return TextStyle(::isatty(descriptor) == 1 && !is_forbidden && !is_dumb);
}

std::string TextStyle::paint(Verdict verdict, std::string_view text) const {
  if (!is_coloured_) return std::string(text);
  fmt::terminal_color colour = fmt::terminal_color::yellow;
  if (verdict == Verdict::passed) colour = fmt::terminal_color::green;
  if (is_red(verdict)) colour = fmt::terminal_color::red;
  return fmt::format(fmt::fg(colour) | fmt::emphasis::bold, "{}", text);
}

}  // namespace rankcheck::harness

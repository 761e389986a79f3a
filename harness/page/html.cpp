#include "harness/page/html.hpp"

#include "harness/base/table.hpp"

namespace rankcheck::harness::page {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
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
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

void Html::leaf(std::string_view tag, std::string_view text, const Attributes& attributes) {
  const Element element = open(tag, attributes);
  this->text(text);
}

void Html::start(std::string_view tag, const Attributes& attributes) {
  text_ += '<';
  text_ += tag;
  for (const auto& [name, value] : attributes) {
    text_ += ' ';
    text_ += name;
    text_ += "=\"" + escaped(value) + '"';
  }
  text_ += '>';
}

void Html::close(std::string_view tag) {
  text_ += "</";
  text_ += tag;
  text_ += '>';
  // A line for each block keeps the file readable and lets other programs compare two pages.
  if (tag != "span" && tag != "a" && tag != "code" && tag != "strong" && tag != "abbr") {
    text_ += '\n';
  }
}

}  // namespace rankcheck::harness::page

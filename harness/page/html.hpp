#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankcheck::harness::page {

/// The text with everything escaped that HTML could take for markup, in text and in attributes
/// between double quotes. Bytes that are not UTF-8 and control characters become '?'.
[[nodiscard]] std::string escaped(std::string_view text);

/// The attributes of an element: names and values. Values are escaped. Names are the program's own.
using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// Writes HTML. All text and all values of attributes are escaped, and every element is closed.
class Html {
 public:
  /// An open element. Its destructor closes it.
  class Element {
   public:
    Element(Html& html, std::string_view tag) : html_(html), tag_(tag) {}
    Element(const Element&) = delete;
    Element& operator=(const Element&) = delete;
    ~Element() { html_.close(tag_); }

   private:
    Html& html_;
    std::string_view tag_;
  };

  /// Opens an element. `tag` must outlive the element.
  [[nodiscard]] Element open(std::string_view tag, const Attributes& attributes = {}) {
    start(tag, attributes);
    return {*this, tag};
  }
  /// Writes an element that holds a text.
  void leaf(std::string_view tag, std::string_view text, const Attributes& attributes = {});
  /// Writes an element that has no content and no end, such as meta.
  void lone(std::string_view tag, const Attributes& attributes = {}) { start(tag, attributes); }
  void text(std::string_view text) { text_ += escaped(text); }
  /// Writes markup of the program itself, such as a style sheet.
  void own(std::string_view markup) { text_ += markup; }
  /// Adds all that another one has written.
  void append(const Html& other) { text_ += other.text_; }

  /// Number of bytes so far.
  [[nodiscard]] std::size_t size() const { return text_.size(); }
  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  void start(std::string_view tag, const Attributes& attributes);
  void close(std::string_view tag);

  std::string text_;
};

}  // namespace rankcheck::harness::page

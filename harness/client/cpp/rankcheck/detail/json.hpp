#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

/// A small reader and writer of JSON. The header of a message is one JSON value.
namespace rankcheck::detail {

/// The harness said something that the protocol does not allow.
struct ProtocolError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Json {
  enum class Kind { null, boolean, number, string, array, record };

  Kind kind = Kind::null;
  /// The characters of a string; a number or a boolean as it was written.
  std::string text;
  /// The items of an array, or the values of a record.
  std::vector<Json> items;
  /// The names of a record's values.
  std::vector<std::string> names;

  [[nodiscard]] const Json* find(std::string_view name) const {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) return &items[i];
    }
    return nullptr;
  }

  [[nodiscard]] const Json& at(std::string_view name) const {
    if (const Json* found = find(name)) return *found;
    throw ProtocolError("expected the field " + std::string(name));
  }

  [[nodiscard]] std::int64_t integer() const {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (kind != Kind::number || error != std::errc() || stop != end) {
      throw ProtocolError("got " + (text.empty() ? "none" : text) + ", expected a whole number");
    }
    return value;
  }

  /// Returns a number of bytes or elements.
  [[nodiscard]] std::size_t size() const {
    const std::int64_t value = integer();
    if (value < 0) throw ProtocolError("got " + text + ", expected a size");
    return static_cast<std::size_t>(value);
  }

  [[nodiscard]] std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> all;
    for (const Json& item : items) all.push_back(item.size());
    return all;
  }

  [[nodiscard]] std::vector<int> integers() const {
    std::vector<int> all;
    for (const Json& item : items) all.push_back(static_cast<int>(item.integer()));
    return all;
  }
};

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : text_(text) {}

  /// Reads the whole text. Throws ProtocolError.
  Json read() {
    Json value = read_value(0);
    skip_space();
    if (at_ != text_.size()) fail("the end");
    return value;
  }

 private:
  static constexpr int depth_max = 64;

  [[noreturn]] void fail(const char* expected) const {
    throw ProtocolError("JSON: expected " + std::string(expected) + " at byte " +
                        std::to_string(at_));
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }

  /// Skips space, and this character if it is the next one. Returns whether it was.
  bool take(char wanted) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }

  Json read_value(int depth) {
    if (depth > depth_max) fail("values that are not nested as deeply");
    Json out;
    if (take('{')) {
      out.kind = Json::Kind::record;
      if (take('}')) return out;
      do {
        if (!take('"')) fail("a name in quotes");
        out.names.push_back(read_string());
        if (!take(':')) fail("a colon");
        out.items.push_back(read_value(depth + 1));
      } while (take(','));
      if (!take('}')) fail("a comma or }");
    } else if (take('[')) {
      out.kind = Json::Kind::array;
      if (take(']')) return out;
      do {
        out.items.push_back(read_value(depth + 1));
      } while (take(','));
      if (!take(']')) fail("a comma or ]");
    } else if (take('"')) {
      out.kind = Json::Kind::string;
      out.text = read_string();
    } else {
      read_word(out);
    }
    return out;
  }

  /// Reads a number, true, false or null.
  void read_word(Json& out) {
    constexpr std::string_view of_words = "+-.0123456789abcdefghijklmnopqrstuvwxyzE";
    const std::size_t end = std::min(text_.find_first_not_of(of_words, at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    if (word == "true" || word == "false") {
      out.kind = Json::Kind::boolean;
    } else if (!word.empty() && (word[0] == '-' || (word[0] >= '0' && word[0] <= '9'))) {
      out.kind = Json::Kind::number;
    } else if (word != "null") {
      fail("a value");
    }
    out.text = word;
    at_ = end;
  }

  std::string read_string() {
    std::string out;
    for (;;) {
      const std::size_t end = text_.find_first_of("\"\\", at_);
      if (end == text_.npos) fail("a closing quote");
      out += text_.substr(at_, end - at_);
      at_ = end + 1;
      if (text_[end] == '"') return out;
      read_escape(out);
    }
  }

  void read_escape(std::string& out) {
    constexpr std::string_view names = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) fail("an escape");
    const char name = text_[at_++];
    if (name == 'u') return append_utf8(read_code_point(), out);
    const std::size_t found = names.find(name);
    if (found == names.npos) fail("an escape");
    out += meanings[found];
  }

  unsigned read_hexadecimal() {
    unsigned value = 0;
    const std::string_view digits = text_.substr(at_, 4);
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value, 16);
    if (digits.size() != 4 || error != std::errc() || stop != end) fail("four hexadecimal digits");
    at_ += 4;
    return value;
  }

  /// Characters beyond 16 bits are written as two escapes.
  unsigned read_code_point() {
    const unsigned first = read_hexadecimal();
    if (first < 0xd800 || first > 0xdfff) return first;
    if (text_.substr(at_, 2) != "\\u") fail("the second half of a character");
    at_ += 2;
    const unsigned second = read_hexadecimal();
    if (first > 0xdbff || second < 0xdc00 || second > 0xdfff) fail("two halves of a character");
    return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
  }

  static void append_utf8(unsigned code, std::string& out) {
    const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0 | code >> 6);
    } else {
      if (code < 0x10000) {
        put(0xe0 | code >> 12);
      } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3f));
      }
      put(0x80 | (code >> 6 & 0x3f));
    }
    put(0x80 | (code & 0x3f));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Returns the text as a JSON string with its quotes.
inline std::string json_string(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20) {
      out += "\\u00";
      out += digits[code >> 4];
      out += digits[code & 15];
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// Returns a JSON array of what `write` returns for each item.
template <class Items, class Write>
std::string listed(const Items& items, Write write) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    out += write(item);
  }
  return out + ']';
}

}  // namespace rankcheck::detail

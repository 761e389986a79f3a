#include "harness/base/npy.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/bad_input.hpp"
#include "harness/base/table.hpp"

namespace rankcheck::harness {

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

/// What the header of a file says: a dictionary in the syntax of Python.
struct Header {
  std::optional<std::string> description;
  std::optional<bool> is_fortran;
  std::optional<std::vector<std::int64_t>> shape;
};

/// Reads the dictionary of a header. numpy writes only three keys, each with one kind of value.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : text_(text) {}

  Header read() {
    Header header;
    require('{');
    while (!take('}')) {
      const std::string key = read_string();
      require(':');
      if (key == "descr") {
        if (peek() == '[') throw BadInput("got an array of records, expected one of numbers");
        header.description = read_string();
      } else if (key == "fortran_order") {
        header.is_fortran = read_flag();
      } else if (key == "shape") {
        header.shape = read_shape();
      } else {
        fail();
      }
      if (!take(',') && peek() != '}') fail();
    }
    if (peek() != '\0') fail();
    return header;
  }

 private:
  [[noreturn]] static void fail() {
    throw BadInput("the header is damaged: expected 'descr', 'fortran_order' and 'shape'");
  }

  /// The next character that is no blank; '\0' at the end.
  char peek() {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \n"), text_.size()));
    return text_.empty() ? '\0' : text_.front();
  }
  bool take(char expected) {
    if (peek() != expected) return false;
    text_.remove_prefix(1);
    return true;
  }
  void require(char expected) {
    if (!take(expected)) fail();
  }

  std::string read_string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail();
    const std::size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) fail();
    std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return value;
  }

  bool read_flag() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    fail();
  }

  std::vector<std::int64_t> read_shape() {
    constexpr std::size_t dimensions_max = 32;
    std::vector<std::int64_t> shape;
    require('(');
    while (!take(')')) {
      peek();
      std::int64_t length = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), length);
      if (error != std::errc{} || length < 0 || shape.size() == dimensions_max) fail();
      shape.push_back(length);
      text_.remove_prefix(spec::to_size(end - text_.data()));
      if (!take(',') && peek() != ')') fail();
    }
    return shape;
  }

  std::string_view text_;
};

/// The bytes of one element, for example 8 for <c8. 0 if the description is no number's.
std::int64_t bytes_of(std::string_view description) {
  if (description.size() < 3 || std::string_view("<>=|").find(description[0]) == description.npos ||
      std::string_view("biufcV").find(description[1]) == description.npos)
    return 0;
  std::int64_t bytes = 0;
  const char* const end = description.data() + description.size();
  const auto [stop, error] = std::from_chars(description.data() + 2, end, bytes);
  return error == std::errc{} && stop == end && bytes >= 1 && bytes <= 16 ? bytes : 0;
}

/// The number of bytes that the elements take. Empty if they are too many to count.
std::optional<std::uint64_t> bytes_of(const std::vector<std::int64_t>& shape, std::int64_t bytes) {
  if (std::ranges::find(shape, 0) != shape.end()) return 0;
  auto total = static_cast<std::uint64_t>(bytes);
  for (const std::int64_t length : shape) {
    if (__builtin_mul_overflow(total, static_cast<std::uint64_t>(length), &total)) return {};
  }
  return total;
}

bool is_missing_in_numpy(spec::Type type) {
  return type == spec::Type::bf16 || spec::is_f8(type);
}

}  // namespace

std::string npy_description(spec::Type type) {
  // In the order of TypeClass.
  constexpr std::string_view kinds = "iufc";
  const spec::TypeInfo& info = spec::info(type);
  const char kind = is_missing_in_numpy(type) ? 'u' : kinds[spec::to_size(info.type_class)];
  return fmt::format("{}{}{}", info.bytes == 1 ? '|' : '<', kind, info.bytes);
}

std::string to_npy(spec::Type type,
                   const std::byte* elements,
                   const std::vector<std::int64_t>& shape) {
  const std::int64_t count =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                   npy_description(type),
                                   shape_text(shape));
  // The format requires that magic, version and header fill whole blocks of 64 bytes, and that the
  // header ends with a newline.
  constexpr std::size_t prefix_bytes = 10;
  const std::size_t unpadded = prefix_bytes + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  if (count > 0) {
    const auto bytes = spec::to_size(count * spec::info(type).bytes);
    out.append(reinterpret_cast<const char*>(elements), bytes);
  }
  return out;
}

bool is_npy_of(std::string_view description, spec::Type type) {
  if (description == npy_description(type)) return true;
  const std::int64_t bytes = spec::info(type).bytes;
  return is_missing_in_numpy(type) && description.substr(1) == "V" + std::to_string(bytes);
}

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

NpyArray::NpyArray(std::string file) : file_(std::move(file)) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(file_[at]); };
  constexpr std::size_t short_prefix = 10;
  constexpr std::size_t long_prefix = 12;
  if (file_.size() < long_prefix || !file_.starts_with(magic))
    throw BadInput("expected a file that numpy.save wrote");
  // Later versions have a length of four bytes.
  const bool is_short = byte(6) == 1;
  if (byte(6) < 1 || byte(6) > 3)
    throw BadInput(fmt::format("got {}, expected version 1, 2 or 3 of numpy's format", byte(6)));
  std::size_t length = byte(8) + (std::size_t{byte(9)} << 8);
  if (!is_short) length += (std::size_t{byte(10)} << 16) + (std::size_t{byte(11)} << 24);
  const std::size_t prefix = is_short ? short_prefix : long_prefix;
  if (length > file_.size() - prefix) throw BadInput("the file ends within its header");
  begin_ = prefix + length;
  Header header = HeaderReader(std::string_view(file_).substr(prefix, length)).read();
  if (!header.description || !header.is_fortran || !header.shape) {
    throw BadInput("the header is damaged: expected 'descr', 'fortran_order' and 'shape'");
  }
  description_ = *header.description;
  shape_ = std::move(*header.shape);
  const std::int64_t bytes = bytes_of(description_);
  if (bytes == 0) {
    throw BadInput(
        fmt::format("got dtype {}, expected an array of numbers", shortened(description_, 40)));
  }
  if (description_[0] == '>')
    throw BadInput("expected little-endian numbers; array.astype(array.dtype.newbyteorder('<'))");
  const std::optional<std::uint64_t> size = bytes_of(shape_, bytes);
  if (!size || *size != file_.size() - begin_) {
    throw BadInput(fmt::format("got {2}, expected {0} bytes behind the header for the shape {1}",
                               size ? std::to_string(*size) : "fewer",
                               shortened(shape_text(shape_), 80),
                               file_.size() - begin_));
  }
  // The order of one dimension is the same.
  if (*header.is_fortran && shape_.size() > 1)
    throw BadInput("got Fortran order, expected C order; numpy.ascontiguousarray(array) converts");
  count_ = static_cast<std::int64_t>(*size) / bytes;
}

}  // namespace rankcheck::harness

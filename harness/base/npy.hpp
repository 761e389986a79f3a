#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/type.hpp"

namespace rankcheck::harness {

/// numpy's description of an element type. numpy has no bf16 and no eight-bit floats: they are
/// described as unsigned integers with the same bits.
[[nodiscard]] std::string npy_description(spec::Type type);

/// Whether the elements of an array with this description have the bits of a type. A description
/// without a meaning, such as |V2, fits a type that numpy does not have.
[[nodiscard]] bool is_npy_of(std::string_view description, spec::Type type);

/// An array in version 1.0 of numpy's format, row-major.
[[nodiscard]] std::string to_npy(spec::Type type,
                                 const std::byte* elements,
                                 const std::vector<std::int64_t>& shape);

/// "(2, 3)", as numpy writes a shape.
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> shape);

/// An array of numbers from a file in numpy's format: row-major and little-endian.
class NpyArray {
 public:
  /// Reads the content of a whole file. Throws BadInput, which says what is wrong with the file and
  /// what was expected.
  explicit NpyArray(std::string file);

  /// numpy's description of the elements, for example <c8.
  [[nodiscard]] const std::string& description() const { return description_; }
  [[nodiscard]] const std::vector<std::int64_t>& shape() const { return shape_; }
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::span<const std::byte> elements() const {
    return std::as_bytes(std::span(file_)).subspan(begin_);
  }

 private:
  std::string file_;
  std::string description_;
  std::vector<std::int64_t> shape_;
  std::int64_t count_ = 1;
  /// Offset of the first element in the file.
  std::size_t begin_ = 0;
};

}  // namespace rankcheck::harness

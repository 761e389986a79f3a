#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/type.hpp"

namespace rankcheck::harness {

/// numpy's description of an element type. numpy has no bf16 and no eight-bit floats: they are
/// described as unsigned integers with the same bits.
[[nodiscard]] std::string_view npy_description(spec::Type type);

/// An array in version 1.0 of numpy's format, row-major.
[[nodiscard]] std::string to_npy(spec::Type type,
                                 const std::byte* elements,
                                 const std::vector<std::int64_t>& shape);

}  // namespace rankcheck::harness

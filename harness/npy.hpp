#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/type.hpp"

namespace rankcheck::harness {

/// numpy's description of an element type. bf16 and the eight-bit floats, which numpy does not
/// have, are described as unsigned integers of their bits.
[[nodiscard]] std::string_view npy_description(spec::Type type);

/// An array in numpy's format 1.0, row-major.
[[nodiscard]] std::string to_npy(spec::Type type,
                                 const std::byte* elements,
                                 const std::vector<std::int64_t>& shape);

}  // namespace rankcheck::harness

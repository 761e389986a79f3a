#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/case/image.hpp"

namespace rankcheck::harness {

/// The bytes that a call may change: the elements of the recv blocks, in the order of their
/// addresses. Offsets and counts are in bytes of the image.
[[nodiscard]] std::vector<spec::Block> writable(const Case& c, const ImageLayout& layout);

/// The bytes of the elements of the send blocks.
[[nodiscard]] std::vector<spec::Block> inputs(const Case& c, const ImageLayout& layout);

/// Says how an image of `got` bytes differs from the layout, for example "image of 456 bytes, got
/// 392: the recv buffer at 320 is missing".
[[nodiscard]] std::string describe_wrong_size(const ImageLayout& layout, std::size_t got);

}  // namespace rankcheck::harness

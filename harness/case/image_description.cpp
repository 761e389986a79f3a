#include "harness/case/image_description.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankcheck::harness {

namespace {

/// Where the elements of a buffer's blocks lie in the image, in bytes.
std::vector<spec::Block> places_of(const std::vector<spec::Block>& blocks,
                                   std::int64_t begin,
                                   std::int64_t stride,
                                   std::int64_t element_bytes) {
  std::vector<spec::Block> places;
  for (const spec::Block& block : blocks) {
    if (stride == 1) {
      places.push_back({begin + block.offset * element_bytes, block.count * element_bytes});
      continue;
    }
    for (std::int64_t i = block.offset; i < block.offset + block.count; ++i)
      places.push_back({begin + i * stride * element_bytes, element_bytes});
  }
  return places;
}

}  // namespace

std::vector<spec::Block> writable(const Case& c, const ImageLayout& layout) {
  // The output lies inside.
  if (layout.rest_undefined) return {{layout.send, layout.send_size}};
  if (layout.recv < 0) return {};
  const spec::Extents& extents = layout.extents;
  return places_of(extents.recv, layout.recv, extents.recv_stride, spec::info(c.type).bytes);
}

std::vector<spec::Block> inputs(const Case& c, const ImageLayout& layout) {
  if (layout.send < 0) return {};
  const spec::Extents& extents = layout.extents;
  return places_of(extents.send, layout.send, extents.send_stride, spec::info(c.type).bytes);
}

std::string describe_wrong_size(const ImageLayout& layout, std::size_t got) {
  struct Buffer {
    std::string_view name;
    std::int64_t begin;
    std::int64_t size;
  };
  std::vector<Buffer> buffers;
  if (layout.send >= 0) buffers.push_back({"send", layout.send, layout.send_size});
  if (layout.recv >= 0) buffers.push_back({"recv", layout.recv, layout.recv_size});
  std::ranges::sort(buffers, [](const Buffer& a, const Buffer& b) { return a.begin < b.begin; });
  const auto size = static_cast<std::int64_t>(got);
  std::string text = fmt::format("image of {} bytes, got {}: ", layout.size, got);
  const Buffer* last = nullptr;
  for (const Buffer& each : buffers) {
    if (size < layout.size && size <= each.begin) {
      return text + fmt::format("the {} buffer at {} is missing", each.name, each.begin);
    }
    if (size < each.begin + each.size) {
      return text + fmt::format("the {} buffer at {} ends after {} of {} bytes",
                                each.name,
                                each.begin,
                                size - each.begin,
                                each.size);
    }
    if (last == nullptr || each.begin + each.size > last->begin + last->size) last = &each;
  }
  if (size < layout.size) {
    const std::int64_t end = last == nullptr ? 0 : last->begin + last->size;
    return text + fmt::format("{} of the {} bytes of the last guard, at {}, are missing",
                              layout.size - size,
                              guard_bytes,
                              end);
  }
  std::vector<std::string> places;
  for (const Buffer& each : buffers) {
    places.push_back(
        fmt::format("the {} buffer at {} with {} bytes", each.name, each.begin, each.size));
  }
  return text + fmt::format("{} bytes too many; expected guards of {} bytes around {}",
                            size - layout.size,
                            guard_bytes,
                            fmt::join(places, " and "));
}

}  // namespace rankcheck::harness

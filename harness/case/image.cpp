#include "harness/case/image.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "reference/spec/assert.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/case/family.hpp"
#include "harness/case/image_description.hpp"
#include "harness/case/input.hpp"

namespace rankcheck::harness {

namespace {

/// Buffers start at multiples of this, plus the case's offset.
constexpr std::int64_t alignment_bytes = 64;

/// Reserves `size` bytes and a guard zone behind them. Returns the offset of the first byte.
std::int64_t reserve(std::int64_t size, std::int64_t offset, std::int64_t& end) {
  const std::int64_t aligned = (end + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  const std::int64_t begin = aligned + offset;
  end = begin + size + guard_bytes;
  return begin;
}

/// The first byte in [begin, end) that differs; `end` if no byte differs.
std::int64_t first_difference(const Image& a,
                              const Image& b,
                              std::int64_t begin,
                              std::int64_t end) {
  if (begin >= end) return end;
  const auto* at = a.data();
  const auto* bt = b.data();
  const auto size = spec::to_size(end - begin);
  if (std::memcmp(at + begin, bt + begin, size) == 0) return end;
  return std::mismatch(at + begin, at + end, bt + begin).first - at;
}

std::string describe(const ImageLayout& layout, std::int64_t element_bytes, std::int64_t at) {
  const auto inside = [&](std::int64_t begin, std::int64_t size) {
    return begin >= 0 && at >= begin && at < begin + size;
  };
  // The element at this place, or the last one before it.
  const auto element = [&](std::int64_t begin, std::int64_t stride) {
    return (at - begin) / (element_bytes * stride);
  };
  const auto is_between = [&](std::int64_t begin, std::int64_t stride) {
    return (at - begin) % (element_bytes * stride) >= element_bytes;
  };
  const std::int64_t recv_stride = layout.extents.recv_stride;
  if (inside(layout.recv, layout.recv_size)) {
    const std::int64_t index = element(layout.recv, recv_stride);
    if (is_between(layout.recv, recv_stride))
      return fmt::format("memory behind element {} of recv was written", index);
    return fmt::format("element {} of recv, which is no part of the output, was written", index);
  }
  const std::int64_t send_stride = layout.extents.send_stride;
  if (inside(layout.send, layout.send_size)) {
    const std::int64_t index = element(layout.send, send_stride);
    if (is_between(layout.send, send_stride))
      return fmt::format("memory behind element {} of send was written", index);
    return fmt::format("input changed: element {} of send was written", index);
  }
  std::string text = "memory outside the buffers was written";
  const auto near = [&](std::string_view buffer, std::int64_t begin, std::int64_t size) {
    if (begin < 0) return;
    const std::int64_t before = begin - at;
    const std::int64_t behind = at - (begin + size) + 1;
    if (before > 0 && before <= guard_bytes) {
      text += ": " + std::to_string(before) + " bytes before " + std::string(buffer);
    } else if (behind > 0 && behind <= guard_bytes) {
      text += ": " + std::to_string(behind) + " bytes past the end of " + std::string(buffer);
    }
  };
  near("send", layout.send, layout.send_size);
  if (layout.recv != layout.send) near("recv", layout.recv, layout.recv_size);
  return text;
}

/// Copies the arrays in the recv buffer of an earlier stage into the same arrays of the send
/// buffer.
void take_arrays(const Family& family,
                 const ImageLayout& source,
                 const std::byte* left,
                 const ImageLayout& layout,
                 std::int64_t element_bytes,
                 Image& image) {
  for (const spec::Block& to : layout.extents.send) {
    for (const spec::Block& from : source.extents.recv) {
      if (!family.is_taken_from(to, from) || from.count != to.count || from.first != to.first)
        continue;
      std::copy_n(left + source.recv + from.offset * element_bytes,
                  to.count * element_bytes,
                  image.data() + layout.send + to.offset * element_bytes);
    }
  }
}

/// Copies `count` elements between strides in bytes.
template <std::size_t bytes>
void copy_strided(const std::byte* from,
                  std::int64_t from_stride,
                  std::int64_t count,
                  std::byte* to,
                  std::int64_t to_stride) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_stride, from + i * from_stride, bytes);
  }
}

/// Copies of a known size need no call of a function.
void copy_elements(std::int64_t element_bytes,
                   const std::byte* from,
                   std::int64_t from_stride,
                   std::int64_t count,
                   std::byte* to,
                   std::int64_t to_stride) {
  switch (element_bytes) {
    case 1:
      return copy_strided<1>(from, from_stride, count, to, to_stride);
    case 2:
      return copy_strided<2>(from, from_stride, count, to, to_stride);
    case 4:
      return copy_strided<4>(from, from_stride, count, to, to_stride);
    case 8:
      return copy_strided<8>(from, from_stride, count, to, to_stride);
    default:
      RANKCHECK_ASSERT(element_bytes == 16);
      return copy_strided<16>(from, from_stride, count, to, to_stride);
  }
}

}  // namespace

std::vector<std::byte> gather_elements(const Elements& elements, const std::byte* buffer) {
  const std::int64_t bytes = elements.count * elements.element_bytes;
  if (elements.stride == 1) return {buffer, buffer + bytes};
  std::vector<std::byte> dense(spec::to_size(bytes));
  const std::int64_t size = elements.element_bytes;
  copy_elements(size, buffer, elements.stride * size, elements.count, dense.data(), size);
  return dense;
}

void spread_elements(const Elements& elements, const std::byte* dense, std::byte* buffer) {
  if (elements.stride == 1) {
    std::copy_n(dense, elements.count * elements.element_bytes, buffer);
    return;
  }
  const std::int64_t size = elements.element_bytes;
  copy_elements(size, dense, size, elements.count, buffer, elements.stride * size);
}

Elements send_elements(const Case& c, const ImageLayout& layout) {
  return {.count = layout.extents.send_size,
          .stride = layout.extents.send_stride,
          .element_bytes = spec::info(c.type).bytes};
}

Elements recv_elements(const Case& c, const ImageLayout& layout) {
  return {.count = layout.extents.recv_size,
          .stride = layout.extents.recv_stride,
          .element_bytes = spec::info(c.type).bytes};
}

void lay_out(const spec::Contract& contract,
             const Case& c,
             int rank,
             ResultPlace place,
             ImageLayout& layout) {
  spec::Extents& extents = layout.extents;
  extents.send.clear();
  extents.recv.clear();
  extents.send_size = extents.recv_size = 0;
  extents.send_stride = extents.recv_stride = 1;
  family_of(contract).fill_extents(contract, c, rank, extents);
  const std::int64_t bytes = spec::info(c.type).bytes;
  const bool has_send = !extents.send.empty() || extents.send_size > 0;
  const bool has_recv = !extents.recv.empty() || extents.recv_size > 0;
  const std::int64_t send_bytes = extents.send_stride * bytes;
  const std::int64_t recv_bytes = extents.recv_stride * bytes;
  layout.send_size = extents.send_size * send_bytes;
  layout.recv_size = extents.recv_size * recv_bytes;
  layout.send = layout.recv = -1;
  layout.rest_undefined = false;
  const bool shared = c.in_place && !extents.send.empty() && !extents.recv.empty();
  const bool send_inside = shared && contract.in_place == spec::InPlace::send_within_recv;
  const bool recv_inside = shared && contract.in_place != spec::InPlace::send_within_recv;
  const std::int64_t offset = c.offset * bytes;
  const auto own = spec::to_size(rank);
  std::int64_t end = guard_bytes;
  if (has_send && !send_inside) layout.send = reserve(layout.send_size, offset, end);
  if (has_recv && !recv_inside) layout.recv = reserve(layout.recv_size, offset, end);
  if (send_inside) layout.send = layout.recv + extents.recv[own].offset * recv_bytes;
  if (recv_inside) {
    const bool within = contract.in_place == spec::InPlace::recv_within_send;
    layout.rest_undefined = within && place == ResultPlace::start && contract.in_place_overwrites;
    const bool moved = within && !layout.rest_undefined;
    layout.recv = layout.send + (moved ? extents.send[own].offset * send_bytes : 0);
  }
  layout.size = end;
}

std::int64_t bytes_of_images(const spec::Contract& contract, const Case& c) {
  ImageLayout layout;
  std::int64_t bytes = 0;
  for (int rank = 0; rank < group_size(c); ++rank) {
    lay_out(contract, c, rank, ResultPlace::own_block, layout);
    bytes += layout.size;
  }
  return bytes;
}

bool fits_into_memory(const spec::Contract& contract, const Case& c, std::int64_t memory_bytes) {
  const std::int64_t bytes_max = memory_bytes / image_copies;
  const int members = group_size(c);
  // With too many members, the loop below would take too long.
  if (members > bytes_max / (2 * guard_bytes)) return false;
  ImageLayout layout;
  std::int64_t bytes = 0;
  for (int rank = 0; rank < members && bytes <= bytes_max; ++rank) {
    lay_out(contract, c, rank, ResultPlace::own_block, layout);
    const auto blocks = std::ssize(layout.extents.send) + std::ssize(layout.extents.recv);
    bytes += layout.size + blocks * static_cast<std::int64_t>(sizeof(spec::Block));
  }
  return bytes <= bytes_max;
}

void fill_send(const Family& family,
               const Case& c,
               int world_rank,
               const spec::Extents& extents,
               std::byte* send) {
  const std::int64_t bytes = spec::info(c.type).bytes;
  for (std::size_t b = 0; b < extents.send.size(); ++b) {
    const spec::Block& block = extents.send[b];
    std::byte* const out = send + block.offset * bytes;
    if (c.input != InputKind::given) {
      family.fill(c, world_rank, static_cast<int>(b), block, out);
    } else if (block.count > 0) {
      const std::vector<std::byte>& own = c.given->send.at(spec::to_size(world_rank));
      const std::int64_t end = (block.offset + block.count) * bytes;
      RANKCHECK_ASSERT(end <= static_cast<std::int64_t>(own.size()));
      std::copy_n(own.data() + block.offset * bytes, block.count * bytes, out);
    }
  }
}

void prepare(const Family& family,
             const Case& c,
             int world_rank,
             const ImageLayout& layout,
             const std::byte* previous,
             Image& image) {
  image.resize(spec::to_size(layout.size));
  fill_poison(c, world_rank, family.poison_bits(c), image.data(), layout.size);
  if (layout.send < 0) return;
  std::byte* const send = image.data() + layout.send;
  const Elements elements = send_elements(c, layout);
  if (c.input == InputKind::previous) {
    spread_elements(elements, previous, send);
  } else if (elements.stride == 1) {
    fill_send(family, c, world_rank, layout.extents, send);
  } else {
    // Elements between the blocks keep their poison.
    std::vector<std::byte> dense = gather_elements(elements, send);
    fill_send(family, c, world_rank, layout.extents, dense.data());
    spread_elements(elements, dense.data(), send);
  }
}

void prepare_stage(const ContractLookup& contract_of,
                   std::span<const Case> stages,
                   std::size_t stage,
                   int rank,
                   ResultPlace place,
                   std::span<const std::byte* const> left,
                   ImageLayout& layout,
                   Image& image) {
  const Case& c = stages[stage];
  const Family& family = family_of(contract_of(c.operation));
  const auto lay_out_stage = [&](std::size_t s, ImageLayout& out) {
    lay_out(contract_of(stages[s].operation), stages[s], rank, place, out);
  };
  const std::byte* previous = nullptr;
  std::vector<std::byte> gathered;
  if (c.input == InputKind::previous && left[stage - 1] != nullptr) {
    lay_out_stage(stage - 1, layout);
    previous = left[stage - 1] + std::max<std::int64_t>(layout.recv, 0);
    if (layout.recv >= 0 && layout.extents.recv_stride != 1) {
      gathered = gather_elements(recv_elements(stages[stage - 1], layout), previous);
      previous = gathered.data();
    }
  }
  lay_out_stage(stage, layout);
  const int world_rank = c.group.empty() ? rank : c.group[spec::to_size(rank)];
  prepare(family, c, world_rank, layout, previous, image);
  if (!family.is_chained(c)) return;
  for (std::size_t s = 0; s < stage; ++s) {
    ImageLayout source;
    lay_out_stage(s, source);
    if (left[s] != nullptr) {
      take_arrays(family, source, left[s], layout, spec::info(c.type).bytes, image);
    }
  }
}

std::optional<std::string> find_clobbered(const Case& c,
                                          const ImageLayout& layout,
                                          const Image& before,
                                          const Image& after) {
  if (before.size() != after.size()) return "the image has the wrong size";
  const std::int64_t bytes = spec::info(c.type).bytes;
  const std::int64_t stride = layout.extents.recv_stride;
  if (stride != 1 && layout.recv >= 0 && !layout.rest_undefined) {
    // Takes over what the call may change. Nothing else may differ then.
    Image expected = before;
    for (const spec::Block& block : layout.extents.recv) {
      const std::int64_t at = layout.recv + block.offset * stride * bytes;
      const Elements elements{.count = block.count, .stride = stride, .element_bytes = bytes};
      spread_elements(
          elements, gather_elements(elements, after.data() + at).data(), expected.data() + at);
    }
    const std::int64_t at = first_difference(expected, after, 0, layout.size);
    return at < layout.size ? std::optional(describe(layout, bytes, at)) : std::nullopt;
  }
  std::vector<spec::Block> free = writable(c, layout);
  free.push_back({layout.size, 0});
  std::int64_t begin = 0;
  for (const spec::Block& block : free) {
    const std::int64_t at = first_difference(before, after, begin, block.offset);
    if (at < block.offset) return describe(layout, bytes, at);
    begin = block.offset + block.count;
  }
  return std::nullopt;
}

}  // namespace rankcheck::harness

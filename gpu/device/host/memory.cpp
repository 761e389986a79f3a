#include "gpu/device/host/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::host {

namespace {

constexpr std::size_t alignment = 64;
constexpr std::size_t guard_bytes = 64;
/// A byte that makes every floating-point type NaN.
constexpr std::byte poison{0xff};

}  // namespace

std::byte* Memory::allocate(std::int64_t bytes) {
  Block& block = blocks_.emplace_back();
  block.size = spec::to_size(bytes);
  block.bytes.assign(block.size + 2 * guard_bytes + alignment, poison);
  const auto address = reinterpret_cast<std::uintptr_t>(block.bytes.data()) + guard_bytes;
  block.begin = guard_bytes + (alignment - address % alignment) % alignment;
  return block.bytes.data() + block.begin;
}

void Memory::adopt(const std::byte* begin, std::int64_t bytes) {
  adopted_.emplace_back(begin, spec::to_size(bytes));
}

std::int64_t Memory::room(const std::byte* address) const {
  std::int64_t room = -1;
  const auto look_in = [&](const std::byte* begin, std::size_t size) {
    const std::byte* const end = begin + size;
    const std::less_equal<> is_not_behind;
    if (is_not_behind(begin, address) && is_not_behind(address, end)) {
      room = std::max<std::int64_t>(room, end - address);
    }
  };
  for (const Block& block : blocks_) look_in(block.bytes.data() + block.begin, block.size);
  for (const auto& each : adopted_) look_in(each.data(), each.size());
  return room;
}

std::string Memory::find_damage() const {
  for (const Block& block : blocks_) {
    const auto is_whole = [&](std::size_t begin, std::size_t end) {
      const auto* data = block.bytes.data();
      return std::all_of(data + begin, data + end, [](std::byte at) { return at == poison; });
    };
    const std::string size = std::to_string(block.size) + " bytes of scratch memory";
    if (!is_whole(0, block.begin)) return "a write before " + size;
    if (!is_whole(block.begin + block.size, block.bytes.size())) return "a write past " + size;
  }
  return {};
}

}  // namespace rankcheck::gpu::host

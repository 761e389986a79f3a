#include "gpu/device/sim/arena.hpp"

#include <algorithm>
#include <cstring>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/random.hpp"

namespace rankcheck::gpu::sim {

namespace {

/// Scratch is poisoned only up to here, because the monitor finds every read of memory that was
/// never written. Only a fault lets such a read pass; with a fault, all scratch is poisoned.
constexpr std::int64_t poison_bytes_max = 4096;

}  // namespace

void Arena::begin(std::span<const std::int64_t> sizes_bytes, std::uint64_t seed, bool poisons_all) {
  std::int64_t bytes = guard_bytes;
  guards_.assign(1, 0);
  for (const std::int64_t size : sizes_bytes) {
    bytes += (size + guard_bytes - 1) / guard_bytes * guard_bytes;
    guards_.push_back(bytes);
    bytes += guard_bytes;
  }
  if (bytes > capacity_bytes_) {
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(spec::to_size(bytes));
    capacity_bytes_ = bytes;
  }
  poison_ = static_cast<std::byte>(0xa1U + plan::Random(seed).below(0x1e));
  const auto poison = [this](std::int64_t begin, std::int64_t size) {
    std::memset(bytes_.get() + begin, std::to_integer<int>(poison_), spec::to_size(size));
  };
  for (std::size_t r = 0; r < sizes_bytes.size(); ++r) {
    const std::int64_t room = guards_[r + 1] - (guards_[r] + guard_bytes);
    poison(guards_[r], guard_bytes + (poisons_all ? room : std::min(room, poison_bytes_max)));
  }
  poison(guards_.back(), guard_bytes);
}

std::byte* Arena::scratch(std::size_t rank) const {
  return bytes_.get() + guards_[rank] + guard_bytes;
}

std::optional<std::size_t> Arena::find_damage() const {
  for (std::size_t g = 0; g < guards_.size(); ++g) {
    const std::byte* const first = bytes_.get() + guards_[g];
    const std::byte* const last = first + guard_bytes;
    if (std::all_of(first, last, [this](std::byte byte) { return byte == poison_; })) continue;
    return std::min(g, guards_.size() - 2);
  }
  return std::nullopt;
}

}  // namespace rankcheck::gpu::sim

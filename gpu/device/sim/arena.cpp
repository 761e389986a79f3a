#include "gpu/device/sim/arena.hpp"

#include <algorithm>

#include "gpu/plan/random.hpp"

namespace rankcheck::gpu::sim {

namespace {

constexpr std::int64_t alignment_bytes = 64;
/// Scratch is poisoned only up to here, because the monitor finds every read of memory that was
/// never written. Only a fault lets such a read pass; with a fault, all scratch is poisoned.
constexpr std::int64_t poison_bytes_max = 4096;

}  // namespace

void Arena::begin(std::span<const std::int64_t> sizes_bytes, std::uint64_t seed, bool poisons_all) {
  std::int64_t bytes = 0;
  begins_.clear();
  for (const std::int64_t size : sizes_bytes) {
    begins_.push_back(bytes);
    bytes += (size + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  }
  if (bytes > capacity_bytes_) {
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
    capacity_bytes_ = bytes;
  }
  const std::uint32_t poison = 0xa1U + plan::Random(seed).below(0x1e);
  for (std::size_t r = 0; r < sizes_bytes.size(); ++r) {
    const std::int64_t size = sizes_bytes[r];
    const std::int64_t filled = poisons_all ? size : std::min(size, poison_bytes_max);
    std::fill_n(scratch(r), filled, static_cast<std::byte>(poison));
  }
}

std::byte* Arena::scratch(std::size_t rank) const {
  return bytes_.get() + begins_[rank];
}

}  // namespace rankcheck::gpu::sim

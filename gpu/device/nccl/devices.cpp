#include "gpu/device/nccl/devices.hpp"

#include <algorithm>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::nccl {

std::byte* Devices::allocate(int slot, std::int64_t bytes) {
  auto& blocks = blocks_[spec::to_size(slot)];
  auto best = blocks.end();
  for (auto each = blocks.begin(); each != blocks.end(); ++each) {
    if (!each->is_free || each->bytes < bytes) continue;
    if (best == blocks.end() || each->bytes < best->bytes) best = each;
  }
  // A block that is much too large is left for a larger request.
  if (best == blocks.end() || best->bytes / 2 > std::max<std::int64_t>(bytes, 4096)) {
    const std::int64_t size = std::max<std::int64_t>(bytes, 4096);
    blocks.push_back({.begin = obtain(slot, size), .bytes = size, .is_free = true});
    best = blocks.end() - 1;
  }
  best->is_free = false;
  return best->begin;
}

void Devices::begin() {
  for (auto& blocks : blocks_) {
    for (Block& block : blocks) block.is_free = true;
  }
}

}  // namespace rankcheck::gpu::nccl

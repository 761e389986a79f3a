#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace rankcheck::gpu::sim {

/// The scratch memory of all ranks in one allocation, which is kept from plan to plan.
class Arena {
 public:
  /// Makes room for sizes_bytes[r] bytes of each rank r. The seed decides the content of the
  /// scratch. Without `poisons_all`, only the first few KiB of a rank's scratch are filled.
  void begin(std::span<const std::int64_t> sizes_bytes, std::uint64_t seed, bool poisons_all);

  /// A rank's scratch, valid until the next begin().
  [[nodiscard]] std::byte* scratch(std::size_t rank) const;

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::int64_t capacity_bytes_ = 0;
  /// The offset of each rank's scratch in bytes.
  std::vector<std::int64_t> begins_;
};

}  // namespace rankcheck::gpu::sim

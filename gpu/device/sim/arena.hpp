#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rankcheck::gpu::sim {

/// The scratch memory of all ranks in one allocation. Each rank's part lies between two guard
/// zones. The allocation is kept from plan to plan.
class Arena {
 public:
  /// Bytes of a guard zone. A zone behind scratch begins at the next multiple of this size.
  static constexpr std::int64_t guard_bytes = 64;

  /// Makes room for sizes_bytes[r] bytes of each rank r. The seed decides the content of guard
  /// zones and scratch. Without `poisons_all`, only the first few KiB of a rank's scratch are
  /// filled.
  void begin(std::span<const std::int64_t> sizes_bytes, std::uint64_t seed, bool poisons_all);

  /// A rank's scratch, valid until the next begin().
  [[nodiscard]] std::byte* scratch(std::size_t rank) const;

  /// A rank with a damaged guard zone beside its scratch; empty if all guard zones are intact.
  [[nodiscard]] std::optional<std::size_t> find_damage() const;

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::int64_t capacity_bytes_ = 0;
  /// The offsets of the guard zones in bytes: one zone before each rank's scratch and one after the
  /// last.
  std::vector<std::int64_t> guards_;
  std::byte poison_{};
};

}  // namespace rankcheck::gpu::sim

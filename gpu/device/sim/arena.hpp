#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace rankcheck::gpu::sim {

/// The scratch of all ranks in one run of memory, each between two guard zones. Keeps its memory
/// from plan to plan.
class Arena {
 public:
  /// Makes room for so many bytes of each rank. The seed decides what guard zones and scratch hold.
  /// Without `poisons_all`, only the first few KiB of a rank's scratch are filled.
  void begin(std::span<const std::int64_t> sizes_bytes, std::uint64_t seed, bool poisons_all);

  /// A rank's scratch; lasts until the next begin().
  [[nodiscard]] std::byte* scratch(std::size_t rank) const;

  /// A rank beside whose scratch a guard zone was written; none where all zones are whole.
  [[nodiscard]] std::optional<std::size_t> find_damage() const;

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::int64_t capacity_bytes_ = 0;
  /// Where the guard zones begin: one in front of each rank's scratch, and one behind the last.
  std::vector<std::int64_t> guards_;
  std::byte poison_{};
};

}  // namespace rankcheck::gpu::sim

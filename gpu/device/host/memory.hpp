#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rankcheck::gpu::host {

/// Memory of a simulated or host device: poisoned with NaNs, between guard zones.
class Memory {
 public:
  /// At a multiple of 64 bytes; lasts until clear().
  std::byte* allocate(std::int64_t bytes);

  /// Memory of the caller's that the device uses until clear().
  void adopt(const std::byte* begin, std::int64_t bytes);

  /// Bytes from an address on to the end of what was allocated or adopted there; -1 where nothing
  /// was.
  [[nodiscard]] std::int64_t room(const std::byte* address) const;

  /// Describes the first write outside what was allocated; empty where there was none.
  [[nodiscard]] std::string find_damage() const;

  /// Frees everything.
  void clear() {
    blocks_.clear();
    adopted_.clear();
  }

 private:
  struct Block {
    std::vector<std::byte> bytes;
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  std::vector<Block> blocks_;
  std::vector<std::span<const std::byte>> adopted_;
};

}  // namespace rankcheck::gpu::host

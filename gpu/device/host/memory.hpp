#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rankcheck::gpu::host {

/// Memory of a simulated or host device, filled with NaNs and surrounded by guard zones.
class Memory {
 public:
  /// Allocates at a multiple of 64 bytes. The memory is valid until clear().
  std::byte* allocate(std::int64_t bytes);

  /// Declares memory of the caller that the device uses until clear().
  void adopt(const std::byte* begin, std::int64_t bytes);

  /// The number of bytes from an address to the end of the allocated or adopted memory there; -1 if
  /// there is none.
  [[nodiscard]] std::int64_t room(const std::byte* address) const;

  /// Describes the first write outside allocated memory; empty if there was none.
  [[nodiscard]] std::string find_damage() const;

  /// Frees all allocated memory and forgets all adopted memory.
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

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rankcheck::gpu::host {

/// Memory of a simulated or host device: poisoned with NaNs, between guard zones.
class Memory {
 public:
  /// At a multiple of 64 bytes; lasts until clear().
  std::byte* allocate(std::int64_t bytes);

  /// Describes the first write outside what was allocated; empty where there was none.
  [[nodiscard]] std::string find_damage() const;

  /// Frees everything.
  void clear() { blocks_.clear(); }

 private:
  struct Block {
    std::vector<std::byte> bytes;
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  std::vector<Block> blocks_;
};

}  // namespace rankcheck::gpu::host

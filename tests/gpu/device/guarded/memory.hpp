#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <system_error>
#include <vector>

#include <sys/mman.h>

namespace rankcheck::gpu {

/// One device's memory, which this program can touch only while it is open: anything else that does
/// ends the program, as it would go wrong with the memory of a real device.
class GuardedMemory {
 public:
  GuardedMemory() {
    void* const memory =
        ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    begin_ = static_cast<std::byte*>(memory);
  }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  ~GuardedMemory() { ::munmap(begin_, size); }

  static constexpr std::size_t size = std::size_t{64} << 20;

  [[nodiscard]] const std::byte* begin() const { return begin_; }

  /// Full of NaNs; never given back.
  std::byte* allocate(std::size_t bytes) {
    std::byte* const memory = begin_ + used_;
    constexpr std::size_t alignment = 256;
    used_ += (bytes + alignment) / alignment * alignment;
    if (used_ > size) throw std::system_error(ENOMEM, std::generic_category(), "GuardedMemory");
    blocks_.emplace_back(memory, bytes);
    const Open open(this);
    std::memset(memory, 0xff, bytes);
    return memory;
  }

  /// Whether this lies in something that was allocated.
  [[nodiscard]] bool has(const void* begin, std::int64_t bytes) const {
    const auto* const at = static_cast<const std::byte*>(begin);
    return std::any_of(blocks_.begin(), blocks_.end(), [&](std::span<const std::byte> block) {
      return at >= block.data() && at + bytes <= block.data() + block.size();
    });
  }

  /// Opens the memory of a device, where there is one.
  class Open {
   public:
    explicit Open(GuardedMemory* memory) : memory_(memory) { set(PROT_READ | PROT_WRITE); }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    ~Open() { set(PROT_NONE); }

   private:
    void set(int protection) const {
      if (memory_ != nullptr) ::mprotect(memory_->begin_, size, protection);
    }

    GuardedMemory* memory_;
  };

 private:
  std::byte* begin_ = nullptr;
  std::size_t used_ = 0;
  std::vector<std::span<const std::byte>> blocks_;
};

}  // namespace rankcheck::gpu

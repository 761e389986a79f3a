#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>

#include <rankcheck/subject.hpp>

/// Memory that is not the host's, as far as a subject can tell. It is poisoned when it is allocated
/// and when it is released.
namespace rankcheck::tests {

class Device {
 public:
  static Device& get() {
    static Device device;
    return device;
  }

  void* allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto* const memory = static_cast<unsigned char*>(::operator new(bytes, std::align_val_t(64)));
    std::memset(memory, poison, bytes);
    blocks_[memory] = bytes;
    return memory;
  }

  void release(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(static_cast<unsigned char*>(memory));
    if (found == blocks_.end()) throw std::logic_error("released what was not allocated");
    std::memset(memory, poison, found->second);
    blocks_.erase(found);
    ::operator delete(memory, std::align_val_t(64));
  }

  /// Whether all bytes are of one block.
  [[nodiscard]] bool has(const void* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto* const begin = static_cast<const unsigned char*>(memory);
    auto next = blocks_.upper_bound(const_cast<unsigned char*>(begin));
    if (next == blocks_.begin()) return false;
    --next;
    return begin + bytes <= next->first + next->second;
  }

  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }
  bool is_used = false;

 private:
  static constexpr unsigned char poison = 0xa5;

  std::mutex mutex_;
  std::map<unsigned char*, std::size_t> blocks_;
};

/// Throws if the buffer is not in the device's memory though the subject asked for this memory.
inline void require_device(const Buffer& buffer) {
  if (!buffer || !Device::get().is_used) return;
  if (!Device::get().has(buffer.data(), buffer.bytes())) {
    throw std::logic_error("a buffer is not in the device's memory");
  }
}

inline Memory device_memory() {
  Device::get().is_used = true;
  const auto copy_in = [](int, void* to, const void* from, std::size_t bytes) {
    if (!Device::get().has(to, bytes)) throw std::logic_error("a copy to no device");
    std::memcpy(to, from, bytes);
  };
  const auto copy_out = [](int, void* to, const void* from, std::size_t bytes) {
    if (!Device::get().has(from, bytes)) throw std::logic_error("a copy from no device");
    std::memcpy(to, from, bytes);
  };
  return {[](int, std::size_t bytes) { return Device::get().allocate(bytes); },
          [](int, void* memory) { Device::get().release(memory); },
          copy_in,
          copy_out};
}

}  // namespace rankcheck::tests

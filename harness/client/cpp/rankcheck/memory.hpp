#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

/// Where the buffers of a call live.
namespace rankcheck {

/// Memory of your own, for example of a device. All functions are called by the thread that speaks
/// with the harness. When a function returns, its work has to be done. `rank` is a world rank.
struct Memory {
  /// Returns memory that begins at a multiple of 64.
  std::function<void*(int rank, std::size_t bytes)> allocate;
  std::function<void(int rank, void* memory)> release;
  /// Copies bytes of the host into this memory before a call, and back after it.
  std::function<void(int rank, void* to, const void* from, std::size_t bytes)> copy_in;
  std::function<void(int rank, void* to, const void* from, std::size_t bytes)> copy_out;
};

namespace detail {

/// The image of one rank: host memory, and a copy in memory of the user's if there is such memory.
/// It is used again for the next call. `memory` must outlive it.
class ImageMemory {
 public:
  ImageMemory(const Memory& memory, int rank) : memory_(&memory), rank_(rank) {}
  ~ImageMemory() {
    if (device_ != nullptr) memory_->release(rank_, device_);
  }
  ImageMemory(const ImageMemory&) = delete;
  ImageMemory& operator=(const ImageMemory&) = delete;

  /// Makes room for so many bytes, whose old values are lost.
  void resize(std::size_t bytes) {
    placed_.reset();
    if (bytes > capacity_ || host_ == nullptr) {
      host_.reset(static_cast<unsigned char*>(::operator new(bytes + 1, alignment)));
      capacity_ = bytes;
    }
    size_ = bytes;
    reserve_device();
  }

  /// Takes bytes where they are, in place of memory of its own.
  void place(std::shared_ptr<unsigned char> bytes, std::size_t size) {
    placed_ = std::move(bytes);
    size_ = size;
    reserve_device();
  }

  /// Whether the harness sees the bytes where they are.
  [[nodiscard]] bool is_placed() const { return placed_ != nullptr; }
  [[nodiscard]] unsigned char* host() const { return placed_ ? placed_.get() : host_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Whether the call gets memory of the host that belongs to this object.
  [[nodiscard]] bool is_own_host() const { return device_ == nullptr && !is_placed(); }
  /// The memory that the call gets.
  [[nodiscard]] unsigned char* at_call() const { return device_ ? device_ : host(); }

  void copy_in() {
    if (device_ != nullptr) memory_->copy_in(rank_, device_, host(), size_);
  }
  void copy_out() {
    if (device_ != nullptr) memory_->copy_out(rank_, host(), device_, size_);
  }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(unsigned char* memory) const { ::operator delete(memory, alignment); }
  };

  void reserve_device() {
    if (!memory_->allocate || (device_ != nullptr && size_ <= device_capacity_)) return;
    // If the caller's function throws, there is no memory any more.
    device_capacity_ = 0;
    if (device_ != nullptr) memory_->release(rank_, std::exchange(device_, nullptr));
    device_ = static_cast<unsigned char*>(memory_->allocate(rank_, size_ + 1));
    if (device_ == nullptr) {
      throw std::runtime_error("allocate: no memory for " + std::to_string(size_) + " bytes");
    }
    device_capacity_ = size_;
  }

  const Memory* memory_;
  int rank_;
  std::unique_ptr<unsigned char, Free> host_;
  /// Bytes of the file that the harness shares.
  std::shared_ptr<unsigned char> placed_;
  unsigned char* device_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t device_capacity_ = 0;
  std::size_t size_ = 0;
};

}  // namespace detail

}  // namespace rankcheck

#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include <sys/mman.h>

#include "harness/case/image.hpp"

namespace rankcheck::cases {

/// Memory for calls that are repeated. The first call has pages of its own. As soon as it has
/// returned, they are given back to the system, and the second call has other pages at the same
/// address. These stay, so that the third call has another address, and so on. A library that
/// remembers pages by their address uses the wrong ones.
class RepeatedMemory {
 public:
  RepeatedMemory() = default;
  RepeatedMemory(const RepeatedMemory&) = delete;
  RepeatedMemory& operator=(const RepeatedMemory&) = delete;
  ~RepeatedMemory() { release(); }

  /// Maps pages for a call, with the content of `image`. Throws std::bad_alloc.
  std::byte* map(const harness::Image& image) {
    const std::size_t size = std::max<std::size_t>(1, image.size());
    void* const wish = std::exchange(given_back_, nullptr);
    void* const pages =
        ::mmap(wish, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    mapped_.push_back({static_cast<std::byte*>(pages), size});
    is_second_ = pages == wish;
    std::copy(image.begin(), image.end(), mapped_.back().begin);
    return mapped_.back().begin;
  }

  /// Copies what the call has left into `image`, which has the size that it had in map(). Then
  /// gives the pages back, or overwrites them.
  void leave(harness::Image& image) {
    const Pages last = mapped_.back();
    std::copy_n(last.begin, image.size(), image.begin());
    if (is_second_) {
      std::for_each_n(last.begin, image.size(), [](std::byte& each) { each = ~each; });
      return;
    }
    ::munmap(last.begin, last.size);
    mapped_.pop_back();
    given_back_ = last.begin;
  }

  void release() {
    for (const Pages& each : mapped_) ::munmap(each.begin, each.size);
    mapped_.clear();
    given_back_ = nullptr;
  }

 private:
  struct Pages {
    std::byte* begin;
    std::size_t size;
  };

  std::vector<Pages> mapped_;
  void* given_back_ = nullptr;
  bool is_second_ = false;
};

}  // namespace rankcheck::cases

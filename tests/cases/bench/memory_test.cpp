#include "cases/bench/memory.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/memory.hpp"

namespace rankcheck::cases::bench {
namespace {

constexpr int children = 3;

/// Returns a size beside which the program's own pages count little. The share that a process has
/// in these pages depends on how many other processes of this program there are, and the system may
/// take such pages back. So their memory may seem to grow or shrink while a test runs.
std::size_t telling_bytes() {
  const double own = tests::status_bytes("RssFile:");
  return std::max(std::size_t{64} << 20, static_cast<std::size_t>(4 * own));
}

/// Child processes that each execute `body` and then wait until they are ended.
class Children {
 public:
  template <class Body>
  explicit Children(const Body& body) {
    std::array<int, 2> ready{};
    if (::pipe(ready.data()) != 0) return;
    for (pid_t& child : ids_) {
      child = ::fork();
      if (child == 0) {
        body();
        [[maybe_unused]] const ssize_t told = ::write(ready[1], "", 1);
        for (;;) ::pause();
      }
    }
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      char byte = 0;
      [[maybe_unused]] const ssize_t got = ::read(ready[0], &byte, 1);
    }
    ::close(ready[0]);
    ::close(ready[1]);
  }
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;
  ~Children() {
    for (const pid_t child : ids_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }

 private:
  std::array<pid_t, children> ids_{};
};

std::byte* map(std::size_t bytes, int flags) {
  return static_cast<std::byte*>(
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0));
}

TEST(PeakMemoryTest, WhatProcessesShareCountsOnce) {
  if (tests::has_sanitizer) GTEST_SKIP() << "sanitizers take memory of their own";
  const std::size_t bytes = telling_bytes();
  restart_peak_memory();
  const double before = peak_memory_bytes();
  std::byte* const shared = map(bytes, MAP_SHARED);
  std::memset(shared, 1, bytes);
  double with_children = 0;
  {
    const Children all([&] { std::memset(shared, 2, bytes); });
    with_children = peak_memory_bytes();
  }
  ::munmap(shared, bytes);
  // Counted in each process, it would be four times as much.
  EXPECT_GT(with_children - before, 0.5 * static_cast<double>(bytes));
  EXPECT_LT(with_children - before, 2 * static_cast<double>(bytes));
}

TEST(PeakMemoryTest, WhatEachProcessHadForItselfCountsAlsoAfterwards) {
  if (tests::has_sanitizer) GTEST_SKIP() << "sanitizers take memory of their own";
  const std::size_t bytes = telling_bytes();
  restart_peak_memory();
  const double before = peak_memory_bytes();
  const Children all([&] {
    std::byte* const own = map(bytes, MAP_PRIVATE);
    std::memset(own, 1, bytes);
    ::munmap(own, bytes);
  });
  EXPECT_GT(peak_memory_bytes() - before, 0.9 * children * static_cast<double>(bytes));
  EXPECT_LT(peak_memory_bytes() - before, 1.5 * children * static_cast<double>(bytes));
}

}  // namespace
}  // namespace rankcheck::cases::bench

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>
#include <malloc.h>

#include "cases/reconstruct/solvers.hpp"
#include "tests/cases/reconstruct/small_data.hpp"
#include "tests/memory.hpp"

namespace {

/// The bytes that this program has allocated, and the most that it has had at a time. What the
/// system counts instead also depends on other programs, to which it may give this one's pages.
std::atomic<std::size_t> allocated{0};
std::atomic<std::size_t> most_allocated{0};

}  // namespace

// Sanitizers bring their own new and delete.
#if !RANKCHECK_HAS_SANITIZER
namespace {

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const std::size_t now = allocated += ::malloc_usable_size(memory);
  std::size_t most = most_allocated;
  while (most < now && !most_allocated.compare_exchange_weak(most, now)) continue;
  return memory;
}

void release(void* memory) noexcept {
  allocated -= ::malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

// The other forms of new and delete call these.
void* operator new(std::size_t bytes) {
  return counted(std::malloc(std::max<std::size_t>(bytes, 1)));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(
      std::aligned_alloc(unit, (std::max<std::size_t>(bytes, 1) + unit - 1) / unit * unit));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  release(memory);
}
#endif

namespace rankcheck::cases::reconstruct {
namespace {

/// Returns the memory that a check takes at a time, in bytes.
double measured_bytes(const Solver& solver, const Problem& problem, int modes) {
  const State state = starting_state(problem.data, modes, false);
  const std::size_t before = allocated;
  most_allocated = before;
  static_cast<void>(
      solver.check(problem, {.before = state, .after = state, .batch = 0, .cost = 0}));
  return static_cast<double>(most_allocated - before);
}

/// check_bytes() counts the reference's arrays for every solver, but no arrays of the object's
/// size.
TEST(CheckBytesTest, AreMoreThanAnyReferenceTakesButNotTwiceAsMuch) {
  if (tests::has_sanitizer) GTEST_SKIP() << "sanitizers have their own new and delete";
  const Dataset data = simulate({.positions = 12, .detector = 32, .probe = 32, .step = 5});
  Devices devices;
  for (const Solver& solver : solvers()) {
    const int batches = solver.batches == 1 ? 1 : 2;
    const Problem problem = devices.problem(data, batches);
    constexpr int modes = 2;
    const double counted = check_bytes(data, modes, batches);
    const double measured = measured_bytes(solver, problem, modes);
    EXPECT_LT(measured, counted) << solver.name;
    EXPECT_GT(measured, counted / 2) << solver.name;
  }
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct

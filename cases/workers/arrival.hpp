#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <thread>

#include "harness/case/case.hpp"
#include "harness/case/input.hpp"

/// The times at which ranks of worker processes enter and leave a call.
namespace rankcheck::cases {

/// Nanoseconds of the clock that all processes of a machine share.
inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Makes ranks arrive at different times, so that a barrier that does nothing is detected. All
/// ranks arrive within 200 microseconds. In a quarter of the cases one rank arrives after 2 ms, to
/// make it late whatever the scheduler does.
inline void arrive_late(const harness::Case& c, std::span<const int> group, int group_rank) {
  constexpr std::uint64_t delay_us_max = 200;
  constexpr std::uint64_t straggler_us = 2000;
  constexpr std::uint64_t cases_per_straggler = 4;
  const harness::CounterHash common(c.data_seed, group.size());
  const auto rank = static_cast<std::uint64_t>(group_rank);
  std::uint64_t delay_us = harness::CounterHash(c.data_seed, rank)(0) % (delay_us_max + 1);
  if (common(1) % cases_per_straggler == 0 && common(2) % group.size() == rank) {
    delay_us = straggler_us;
  }
  std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
}

/// Lets the member that the case calls late enter after the others.
inline void wait_if_late(const harness::Case& c, int group_rank) {
  // Longer than a small call takes.
  constexpr std::chrono::microseconds delay{200};
  if (c.late == group_rank) std::this_thread::sleep_for(delay);
}

}  // namespace rankcheck::cases

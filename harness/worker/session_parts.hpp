#pragma once

#include <chrono>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/worker/session.hpp"

/// What session.cpp and session_run.cpp share.
namespace rankcheck::harness::worker {

/// Time that processes get to end.
inline constexpr std::chrono::seconds end_patience{3};
/// Maximum time between two checks for a stop.
inline constexpr std::chrono::milliseconds stop_tick{100};

/// The time that the other ranks get after one of them has failed `took` after it was asked. On a
/// machine where that took long, they also take long.
[[nodiscard]] std::chrono::nanoseconds failure_patience(std::chrono::nanoseconds took);

[[nodiscard]] inline std::chrono::steady_clock::duration whole(std::chrono::duration<double> time) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(time);
}

/// For example "rank 2" or "ranks 0,1".
[[nodiscard]] inline std::string title(const std::vector<int>& ranks) {
  return ranks.size() == 1 ? fmt::format("rank {}", ranks.front())
                           : fmt::format("ranks {}", fmt::join(ranks, ","));
}

[[nodiscard]] inline std::string describe_breach(const std::vector<int>& ranks,
                                                 const std::exception& error) {
  return fmt::format("{}: breaks the worker protocol: {}", title(ranks), error.what());
}

/// What it means that a process breaks the protocol.
[[nodiscard]] inline RunStatus status_of_breach(const WorkerOptions& options) {
  return options.is_own ? RunStatus::crashed : RunStatus::errored;
}

}  // namespace rankcheck::harness::worker

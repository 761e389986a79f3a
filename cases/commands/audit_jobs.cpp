#include "cases/commands/audit_jobs.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace rankcheck::cases {

void for_each_index(std::size_t count, int jobs, const std::function<void(std::size_t)>& work) {
  const bool shows_progress = isatty(STDERR_FILENO) != 0;
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> done = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      work(i);
      if (shows_progress) fmt::print(stderr, "\r\033[K{} of {}", ++done, count);
    }
  };
  std::vector<std::jthread> threads;
  for (int job = 1; job < jobs; ++job) threads.emplace_back(run);
  run();
  threads.clear();
  if (shows_progress) fmt::print(stderr, "\r\033[K");
}

}  // namespace rankcheck::cases

#include "cases/workers/launch.hpp"

#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <poll.h>

namespace rankcheck::cases {

using harness::worker::Process;

int run_processes(std::span<const harness::worker::Command> commands) {
  std::vector<std::unique_ptr<Process>> running;
  for (const auto& each : commands) {
    running.push_back(std::make_unique<Process>(each, harness::worker::StandardIo{}));
  }
  while (!running.empty()) {
    std::vector<pollfd> entries;
    // A process that ends closes its error output.
    bool has_closed = false;
    for (const auto& each : running) {
      entries.push_back({.fd = each->error_descriptor(), .events = POLLIN, .revents = 0});
      has_closed = has_closed || each->error_descriptor() < 0;
    }
    constexpr int tick_ms = 5;
    constexpr int patience_ms = 500;
    ::poll(entries.data(), entries.size(), has_closed ? tick_ms : patience_ms);
    for (auto& each : running) {
      each->drain();
      if (!each->ended()) continue;
      each->drain();
      if (!each->succeeded()) {
        const std::string words = each->last_words();
        fmt::print(stderr, "{}\n", words.empty() ? "a process " + each->fate() : words);
        return each->status().value_or(1);
      }
      each.reset();
    }
    std::erase(running, nullptr);
  }
  return 0;
}

}  // namespace rankcheck::cases

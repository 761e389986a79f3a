#include "cases/hardware/probe.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <sys/socket.h>

#include "harness/base/json_text.hpp"
#include "harness/worker/local_socket.hpp"
#include "harness/worker/session.hpp"

#include "cases/backends/worker_command.hpp"

namespace rankcheck::cases::hardware {

namespace {

using harness::Verdict;
using Clock = std::chrono::steady_clock;

constexpr const char* worker_name = "rankcheck-worker-cuda";

/// Reads a worker's answer.
ProbeOutcome outcome_of(const nlohmann::json& said) {
  try {
    if (const auto why = said.find("skipped"); why != said.end()) {
      return {.verdict = Verdict::skipped, .reason = why->get<std::string>()};
    }
    return {.result = result_from_json(said)};
  } catch (const std::exception& error) {
    return {.verdict = Verdict::errored, .reason = error.what()};
  }
}

}  // namespace

ProbeOutcome run_probe(const harness::worker::Command& worker,
                       double timeout_s,
                       const harness::StopRequest& stop) {
  WorkerAnswer answer = ask_worker(worker, worker_name, timeout_s, stop);
  if (answer.verdict != Verdict::passed) {
    return {.verdict = answer.verdict, .reason = std::move(answer.reason)};
  }
  return outcome_of(answer.said);
}

/// A process and the socket that is its standard input and output.
struct ProbeWorker::Running {
  Running(const harness::worker::Command& worker, std::array<harness::worker::Descriptor, 2> ends)
      : socket(std::move(ends[0])),
        process(worker, {.input = ends[1].get(), .output = ends[1].get()}) {}

  /// Sends a line. What a process that has ended no longer reads is noticed by next_object().
  void send(const std::string& line) const {
    static_cast<void>(::send(socket.get(), line.data(), line.size(), MSG_NOSIGNAL));
  }

  enum class Got : std::uint8_t { object, end, nothing };

  /// Returns the next line that begins a JSON object. Launchers print other lines.
  Got next_object(Clock::time_point end, const harness::StopRequest& stop, std::string& object) {
    while (true) {
      const std::size_t line_end = unread.find('\n');
      if (line_end != std::string::npos) {
        object = unread.substr(0, line_end);
        unread.erase(0, line_end + 1);
        if (object.starts_with('{')) return Got::object;
        continue;
      }
      if (stop.is_made()) throw harness::Interrupted();
      if (Clock::now() >= end) return Got::nothing;
      if (!read()) return Got::end;
    }
  }

  /// Waits a moment for output. Returns false after its end.
  bool read() {
    constexpr int tick_ms = 100;
    std::array<pollfd, 2> waits{
        {{.fd = socket.get(), .events = POLLIN, .revents = 0},
         {.fd = process.error_descriptor(), .events = POLLIN, .revents = 0}}};
    ::poll(waits.data(), waits.size(), tick_ms);
    process.drain();
    if (waits[0].revents == 0) return true;
    std::array<char, 4096> part{};
    const ssize_t got = ::recv(socket.get(), part.data(), part.size(), MSG_DONTWAIT);
    if (got > 0) unread.append(part.data(), static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
  }

  harness::worker::Descriptor socket;
  harness::worker::Process process;
  std::string unread = {};
  bool has_answered = false;
};

ProbeWorker::ProbeWorker(harness::worker::Command worker, double timeout_s, double opening_s)
    : worker_(std::move(worker)), timeout_s_(timeout_s), opening_s_(opening_s) {}

ProbeWorker::~ProbeWorker() = default;

ProbeOutcome ProbeWorker::probe(const ProbeRequest& request, const harness::StopRequest& stop) {
  using Got = Running::Got;
  if (running_ == nullptr) {
    try {
      running_ = std::make_unique<Running>(worker_, harness::worker::connected_sockets());
    } catch (const std::exception& error) {
      return {.verdict = Verdict::errored, .reason = error.what()};
    }
  }
  const double seconds = timeout_s_ + (running_->has_answered ? 0 : opening_s_);
  const auto patience = std::chrono::duration<double>(seconds);
  running_->send(to_json(request).dump() + '\n');
  const auto last = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
  std::string object;
  Got got = Got::nothing;
  try {
    got = running_->next_object(last, stop, object);
  } catch (const harness::Interrupted&) {
    // A later probe must not get the answer to this one.
    running_.reset();
    throw;
  }
  if (got == Got::object) {
    running_->has_answered = true;
    return outcome_of(harness::parse_json(object));
  }
  // Its destructor ends the process.
  const std::unique_ptr<Running> broken = std::move(running_);
  if (got == Got::nothing) {
    return {.verdict = Verdict::hung, .reason = fmt::format("no answer within {} s", seconds)};
  }
  constexpr auto dying = std::chrono::seconds(5);
  static_cast<void>(broken->process.wait_until(Clock::now() + dying));
  return {.verdict = Verdict::crashed,
          .reason = with_last_words(fmt::format("{} {}", worker_name, broken->process.fate()),
                                    broken->process)};
}

}  // namespace rankcheck::cases::hardware

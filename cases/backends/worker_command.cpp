#include "cases/backends/worker_command.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/json_text.hpp"
#include "harness/worker/session.hpp"

namespace rankcheck::cases {

namespace {

/// Whether the process died of the signal because it was asked to end before it could handle the
/// signal. A launcher then exits with the signal's number, as MPICH's launcher does, or with 128
/// plus that number.
bool ended_by_being_told(harness::worker::Process& process) {
  const int status = process.status().value_or(0);
  return process.ending_signal() == worker_end_signal || status == worker_end_signal ||
         status == 128 + worker_end_signal;
}

/// Returns everything that was written to a file in memory.
std::string content_of(int file) {
  std::string text;
  std::array<char, 4096> part{};
  ::lseek(file, 0, SEEK_SET);
  for (ssize_t got = 0; (got = ::read(file, part.data(), part.size())) > 0;) {
    text.append(part.data(), spec::to_size(got));
  }
  return text;
}

/// Returns the last line that begins a JSON object, or empty if no line does. Launchers print other
/// lines.
std::string object_in(const std::string& text) {
  std::istringstream lines(text);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('{')) found = line;
  }
  return found;
}

WorkerAnswer no_answer(harness::Verdict verdict, std::string reason) {
  return {.verdict = verdict, .reason = std::move(reason)};
}

}  // namespace

int run_worker(const harness::worker::Command& command,
               const std::string& what,
               const std::string& complaint,
               const std::atomic<bool>& interrupted) {
  harness::worker::Process process(command, {.output = STDOUT_FILENO});
  bool was_told = false;
  while (!process.wait_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(50))) {
    if (was_told || !interrupted) continue;
    process.signal(worker_end_signal);
    was_told = true;
  }
  const std::string last_words = process.last_words(complaint);
  if (!last_words.empty()) throw std::runtime_error(last_words.substr(complaint.size()));
  if (process.status().value_or(2) <= 1) return *process.status();
  if (was_told && ended_by_being_told(process)) return 0;
  throw std::runtime_error(
      harness::worker::with_last_words(fmt::format("{} {}", what, process.fate()), process));
}

ProgramEnd run_program(const harness::worker::Command& command,
                       const std::string& what,
                       double timeout_s,
                       const harness::StopRequest& stop) {
  using Clock = std::chrono::steady_clock;
  using harness::Verdict;
  const harness::worker::Descriptor output(::memfd_create("rankcheck-answer", MFD_CLOEXEC));
  if (output.get() < 0) {
    return {.verdict = Verdict::errored, .reason = "no memory for the answer of " + what};
  }
  ProgramEnd end;
  try {
    harness::worker::Process process(command, {.output = output.get()});
    const auto patience = std::chrono::duration<double>(timeout_s);
    const auto last = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
    constexpr auto tick = std::chrono::milliseconds(100);
    while (!process.wait_until(std::min(last, Clock::now() + tick))) {
      if (stop.is_made()) throw harness::Interrupted();
      if (Clock::now() < last) continue;
      return {.verdict = Verdict::hung, .reason = fmt::format("no answer within {} s", timeout_s)};
    }
    end.status = process.status();
    end.last_words = process.last_words();
    if (!process.succeeded()) {
      end.verdict = Verdict::crashed;
      end.reason = with_last_words(what + ' ' + process.fate(), process);
    }
  } catch (const std::exception& error) {
    return {.verdict = Verdict::errored, .reason = error.what()};
  }
  end.output = content_of(output.get());
  return end;
}

WorkerAnswer ask_worker(const harness::worker::Command& command,
                        const std::string& what,
                        double timeout_s,
                        const harness::StopRequest& stop) {
  using harness::Verdict;
  ProgramEnd end = run_program(command, what, timeout_s, stop);
  if (end.verdict != Verdict::passed) return no_answer(end.verdict, std::move(end.reason));
  WorkerAnswer answer{.said = harness::parse_json(object_in(end.output))};
  if (answer.said.is_object()) return answer;
  return no_answer(Verdict::errored, what + ": expected an answer in JSON");
}

}  // namespace rankcheck::cases

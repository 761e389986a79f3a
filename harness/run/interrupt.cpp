#include "harness/run/interrupt.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <ctime>

#include <fmt/format.h>

namespace rankcheck::harness::run {

namespace {

// A signal handler can reach only static storage.
std::atomic<bool> was_requested{false};
std::atomic<int> signal_number{0};
/// The time of the first SIGINT or SIGTERM in nanoseconds. 0 if none came.
std::atomic<std::int64_t> first_ns{0};
std::atomic<std::int64_t (*)()> now_ns{Interrupt::monotonic_ns};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<std::int64_t>::is_always_lock_free);

/// Signals within this time count as one signal: `timeout` signals a program and then its whole
/// process group.
constexpr std::int64_t same_signal_ns = 1'000'000'000;

void note(int number) {
  int none = 0;
  signal_number.compare_exchange_strong(none, number);
  was_requested.store(true);
}

void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(number, &action, nullptr);
}

/// Notes the first signal. Ends the program by a second one.
void note_or_end(int number) {
  const int error = errno;
  const std::int64_t now = now_ns.load()();
  std::int64_t first = 0;
  if (first_ns.compare_exchange_strong(first, now) || now - first < same_signal_ns) {
    note(number);
  } else {
    handle(number, SIG_DFL, 0);
    ::raise(number);
  }
  errno = error;
}

}  // namespace

std::int64_t Interrupt::monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec + 1;
}

Interrupt::Interrupt(std::initializer_list<int> further, std::int64_t (*clock)())
    : signals_(further) {
  now_ns.store(clock);
  signal_number.store(0);
  was_requested.store(false);
  first_ns.store(0);
  for (const int number : signals_) handle(number, note, SA_RESTART);
  for (const int number : {SIGINT, SIGTERM}) {
    handle(number, note_or_end, SA_RESTART);
    signals_.push_back(number);
  }
  // Writing beyond the file size limit then fails with an error instead of ending the program.
  handle(SIGXFSZ, SIG_IGN, 0);
}

Interrupt::~Interrupt() {
  signals_.push_back(SIGXFSZ);
  for (const int number : signals_) handle(number, SIG_DFL, 0);
}

const std::atomic<bool>& Interrupt::requested() const {
  return was_requested;
}

int Interrupt::status_of(const char* what, const std::function<int()>& work) const {
  try {
    return work();
  } catch (const Interrupted&) {
    std::fflush(stdout);
    fmt::print(stderr, "rankcheck: interrupted before {}\n", what);
    return exit_status();
  }
}

int Interrupt::exit_status() const {
  const int number = signal_number.load();
  return number == 0 ? 0 : 128 + number;
}

}  // namespace rankcheck::harness::run

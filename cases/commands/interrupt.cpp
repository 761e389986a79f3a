#include "cases/commands/interrupt.hpp"

#include <csignal>

namespace rankcheck::cases {

namespace {

// A signal handler reaches nothing but static storage.
std::atomic<bool> was_requested{false};
std::atomic<int> signal_number{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void note(int number) {
  signal_number.store(number);
  was_requested.store(true);
}

void handle(int number, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  ::sigaction(number, &action, nullptr);
}

}  // namespace

Interrupt::Interrupt(std::initializer_list<int> further) : signals_(further) {
  signal_number.store(0);
  was_requested.store(false);
  for (const int number : signals_) handle(number, note, SA_RESTART);
  for (const int number : {SIGINT, SIGTERM}) {
    handle(number, note, static_cast<int>(SA_RESETHAND) | SA_RESTART);
    signals_.push_back(number);
  }
  // A file that may not grow is an error of the write.
  handle(SIGXFSZ, SIG_IGN, 0);
}

Interrupt::~Interrupt() {
  signals_.push_back(SIGXFSZ);
  for (const int number : signals_) handle(number, SIG_DFL, 0);
}

const std::atomic<bool>& Interrupt::requested() const {
  return was_requested;
}

int Interrupt::exit_status() const {
  const int number = signal_number.load();
  return number == 0 ? 0 : 128 + number;
}

}  // namespace rankcheck::cases

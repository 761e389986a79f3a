#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>

#include <sys/stat.h>

#include "harness/base/run_clock.hpp"

#include "cases/commands/program.hpp"

/// rankcheck with a clock of runs that moves by events and not by itself, so that tests with time
/// budgets do not depend on the speed of the machine.
namespace rankcheck {
namespace {

constexpr const char* reading_variable = "RANKCHECK_TESTS_READING_S";
constexpr const char* tick_variable = "RANKCHECK_TESTS_TICK_S";
constexpr const char* last_variable = "RANKCHECK_TESTS_READINGS_MAX";

/// Returns the number in an environment variable, or 0.
double number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? 0 : std::atof(text);
}

/// Returns the number of bytes that workers have written into the file `ticks`.
double ticks() {
  struct stat file {};
  return ::stat("ticks", &file) == 0 ? static_cast<double>(file.st_size) : 0;
}

/// The clock moves by `reading_variable` whenever somebody reads it, and by `tick_variable` for
/// each tick. After `last_variable` readings, the program kills itself.
harness::RunClock::time_point now() {
  using Clock = harness::RunClock;
  static const Clock::time_point begin = Clock::Steady::now();
  static const double reading_s = number_in(reading_variable);
  static const double tick_s = number_in(tick_variable);
  static const double ticks_before = ticks();
  static std::atomic<std::int64_t> readings = 0;
  static const double readings_max = number_in(last_variable);
  const auto number = static_cast<double>(++readings);
  if (number == readings_max) ::raise(SIGKILL);
  const double seconds = reading_s * number + (tick_s > 0 ? tick_s * (ticks() - ticks_before) : 0);
  return begin +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace
}  // namespace rankcheck

int main(int argc, char** argv) {
  // Without these variables, it is the program that users have.
  for (const char* each :
       {rankcheck::reading_variable, rankcheck::tick_variable, rankcheck::last_variable}) {
    if (std::getenv(each) != nullptr) rankcheck::harness::RunClock::source = rankcheck::now;
  }
  return rankcheck::cases::run_program(argc, argv);
}

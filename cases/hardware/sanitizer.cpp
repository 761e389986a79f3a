#include "cases/hardware/sanitizer.hpp"

#include <fmt/format.h>

#include "harness/base/program.hpp"

#include "cases/backends/worker_command.hpp"

namespace rankcheck::cases::hardware {

namespace {

/// What compute-sanitizer says of a write to global memory that is out of bounds. The size and the
/// place follow.
constexpr const char* report_of_write = "Invalid __global__ write";

}  // namespace

std::string find_sanitizer() {
  for (const char* name : {"compute-sanitizer", "/usr/local/cuda/bin/compute-sanitizer"}) {
    if (const auto program = harness::find_program(name); !program.empty()) return program;
  }
  return {};
}

std::string sanitizer_launcher(const std::string& sanitizer) {
  return fmt::format("{} --error-exitcode {}", sanitizer, sanitizer_error_status);
}

std::string why_blind(const harness::worker::Command& planted,
                      double timeout_s,
                      const harness::StopRequest& stop) {
  const ProgramEnd end = run_program(planted, "it", timeout_s, stop);
  const bool has_reported = end.output.find(report_of_write) != std::string::npos;
  if (end.status == sanitizer_error_status && has_reported) return {};
  std::string why = "it did not report it";
  if (end.status == sanitizer_error_status) {
    why = fmt::format("it ended with status {}, but without the words \"{}\"",
                      sanitizer_error_status,
                      report_of_write);
  } else if (!end.reason.empty()) {
    why = end.reason;
  }
  return "compute-sanitizer was to report a planted write out of bounds: " + why +
         ". So its silence says nothing";
}

}  // namespace rankcheck::cases::hardware

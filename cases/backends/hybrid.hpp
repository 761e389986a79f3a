#pragma once

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "harness/backend/backend.hpp"
#include "harness/case/case.hpp"

namespace rankcheck::cases {

/// Environment variables that the options --devices-per-process and --devices set.
inline constexpr const char* devices_per_process_variable = "RANKCHECK_DEVICES_PER_PROCESS";
inline constexpr const char* hybrid_devices_variable = "RANKCHECK_HYBRID_DEVICES";

/// The most devices of one process.
inline constexpr int devices_per_process_max = 64;

/// Returns the number of devices of each process but the last: the user's number, or 2. Throws
/// BadInput if the variable has no such number.
[[nodiscard]] inline int devices_per_process() {
  const char* const named = std::getenv(devices_per_process_variable);
  const std::string_view text = named == nullptr ? "2" : named;
  int devices = 0;
  const char* const end = text.data() + text.size();
  const bool is_number = std::from_chars(text.data(), end, devices).ptr == end;
  if (is_number && devices >= 1 && devices <= devices_per_process_max) return devices;
  throw harness::BadInput(fmt::format("{0}: got {2:.60}, expected 1 to {1}",
                                      devices_per_process_variable,
                                      devices_per_process_max,
                                      text));
}

/// Returns the backend for MPI processes with several devices each.
[[nodiscard]] harness::BackendEntry hybrid_backend();

/// Name of the program that reconstructs on simulated devices. The error messages of all programs
/// that reconstruct on this backend begin with this name.
inline constexpr std::string_view hybrid_reconstruct_program = "rankcheck-reconstruct-hybrid";

/// Runs a program with these arguments in as many processes as `ranks` need. The processes write to
/// our standard output. They are asked to end once `interrupted` is true. Returns the exit status:
/// 0, or 1 if something was falsified. Throws BadInput if there are too many ranks or the program
/// is missing. Throws std::runtime_error with the processes' error message, or with the way they
/// died.
[[nodiscard]] int reconstruct_in_hybrid(int ranks,
                                        const std::vector<std::string>& arguments,
                                        const std::atomic<bool>& interrupted);

}  // namespace rankcheck::cases

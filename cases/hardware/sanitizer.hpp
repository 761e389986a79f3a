#pragma once

#include <string>

#include "harness/base/stop.hpp"
#include "harness/worker/process.hpp"

/// compute-sanitizer in the gate.
namespace rankcheck::cases::hardware {

/// The exit status that compute-sanitizer is told to have if it reports an error.
inline constexpr int sanitizer_error_status = 86;

/// Returns the path of compute-sanitizer. Empty if it is not installed.
[[nodiscard]] std::string find_sanitizer();

/// The sanitizer with its options, as one text with blanks. A program and its arguments follow.
[[nodiscard]] std::string sanitizer_launcher(const std::string& sanitizer);

/// Shows that a sanitizer sees errors, so that its silence means something. `planted` is a program
/// under the sanitizer that writes out of bounds on a device. Returns why the sanitizer did not
/// report it. Empty if it did: it had sanitizer_error_status and named an invalid write. Throws
/// harness::Interrupted if `stop` is made before the answer.
[[nodiscard]] std::string why_blind(const harness::worker::Command& planted,
                                    double timeout_s,
                                    const harness::StopRequest& stop = {});

}  // namespace rankcheck::cases::hardware

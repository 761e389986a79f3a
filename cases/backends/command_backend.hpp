#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "harness/backend.hpp"

namespace rankcheck::cases {

/// Returns the path that a program of this name has in the folder of this program.
[[nodiscard]] std::string program_beside(std::string_view name);

/// Returns program_beside(name). Throws BadInput if the program there is missing or cannot be
/// executed.
[[nodiscard]] std::string require_program_beside(std::string_view name);

/// Says in one line why the program cannot be a backend. Empty if it can be tried.
[[nodiscard]] std::string why_command_unavailable(const std::string& path);

/// Opens the backend `command:PATH`: a user's program that hosts all ranks and speaks the worker
/// protocol (harness/worker/PROTOCOL.md) over its standard input and output. Throws
/// std::runtime_error.
[[nodiscard]] std::unique_ptr<harness::Backend> open_command(
    const std::string& path, const harness::BackendOptions& options);

}  // namespace rankcheck::cases

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "reference/spec/contract.hpp"

#include "harness/backend.hpp"

namespace rankcheck::cases {

/// The contract of an operation; null where there is none of that name.
[[nodiscard]] const spec::Contract* contract_of(std::string_view operation);

/// The path that a program of this name has beside this one.
[[nodiscard]] std::string program_beside(std::string_view name);

/// Returns that path. Throws BadInput if no such program exists.
[[nodiscard]] std::string require_program_beside(std::string_view name);

/// Why the program cannot be a backend: one line; empty where it can be tried.
[[nodiscard]] std::string why_command_unavailable(const std::string& path);

/// A program of the user's that hosts all ranks and speaks the worker protocol
/// (reports/PROTOCOL.md) over its standard input and output; the backend `command:PATH`. Throws
/// std::runtime_error.
[[nodiscard]] std::unique_ptr<harness::Backend> open_command(
    const std::string& path, const harness::BackendOptions& options);

}  // namespace rankcheck::cases

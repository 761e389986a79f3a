#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/backend/backend.hpp"

namespace rankcheck::harness::worker {
struct WorkerOptions;
}

namespace rankcheck::cases {

/// Returns the path that a program of this name has in the folder of this program.
[[nodiscard]] std::string program_beside(std::string_view name);

/// Returns program_beside(name). Throws BadInput if the program there is missing or cannot be
/// executed.
[[nodiscard]] std::string require_program_beside(std::string_view name);

/// Splits the line of `command:LINE` into words, as a shell does: quotes, backslashes, variables
/// and patterns of files are expanded, commands are not. {ranks} is replaced by the number of
/// ranks. Throws BadInput if the line has no words or cannot be split.
[[nodiscard]] std::vector<std::string> words_of_command(const std::string& line, int ranks);

/// Says in one line why the command cannot be a backend. Empty if it can be tried.
[[nodiscard]] std::string why_command_unavailable(const std::string& line);

/// The environment variable that names the interpreter of `python:FILE`. python3 by default.
inline constexpr const char* python_variable = "RANKCHECK_PYTHON";

/// Prints a table of the ready subjects in cases/subjects, and returns the exit status. A program
/// in Python does it. Throws BadInput if there is no interpreter.
[[nodiscard]] int list_subjects();

/// Says in one line why the file of `python:FILE` cannot be a backend. Empty if it can be tried.
[[nodiscard]] std::string why_python_unavailable(const std::string& line);

/// Says in one line why ranks cannot connect to the address. Empty if they can.
[[nodiscard]] std::string why_listen_unavailable(const std::string& address);

/// How the workers of these backends are started and watched. They host all ranks and speak the
/// worker protocol (harness/worker/PROTOCOL.md):
/// - `command:LINE`: the user's processes.
/// - `python:FILE`, or `python:FILE NAME`: a subject of the package for Python in
///   harness/client/python, which the processes find by way of PYTHONPATH. The words are split as
///   for `command:LINE`.
/// - `listen:ADDRESS`: ranks that the user starts connect to this address of the loopback, and send
///   the secret that RANKCHECK_SECRET holds. The program begins to listen, and listens until it
///   ends, so that ranks may connect before they are needed. Throws std::runtime_error if the
///   system refuses.
[[nodiscard]] harness::worker::WorkerOptions options_of_command(
    const std::string& line, const harness::BackendOptions& options);
[[nodiscard]] harness::worker::WorkerOptions options_of_python(
    const std::string& line, const harness::BackendOptions& options);
[[nodiscard]] harness::worker::WorkerOptions options_of_listen(
    const std::string& address, const harness::BackendOptions& options);

}  // namespace rankcheck::cases

#include "cases/backends/command_backend.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>
#include <wordexp.h>

#include "reference/registry.hpp"

#include "harness/base/program.hpp"
#include "harness/base/table.hpp"
#include "harness/run/data_files.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/worker/process.hpp"
#include "harness/worker/relay.hpp"
#include "harness/worker/worker_backend.hpp"

namespace rankcheck::cases {

namespace {

/// Returns the words of a line behind the prefix of a backend. See words_of_command().
std::vector<std::string> split_words(const std::string& prefix,
                                     const std::string& line,
                                     const std::string& expected,
                                     int ranks) {
  const auto fail = [&](const std::string& what) {
    throw harness::BadInput(fmt::format("{}{:.200}: {}", prefix, line, what));
  };
  constexpr std::string_view place = "{ranks}";
  std::string text = line;
  for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place)) {
    text.replace(at, place.size(), std::to_string(ranks));
  }
  wordexp_t words{};
  const int failed = ::wordexp(text.c_str(), &words, WRDE_NOCMD);
  if (failed == WRDE_CMDSUB)
    fail("has $(…) or `…`, which are not carried out, expected " + expected);
  if (failed == WRDE_BADCHAR) fail("has | & ; < > ( ) { } or a line end without quotes around it");
  if (failed != 0) fail("has quotes that are not closed, expected " + expected);
  std::vector<std::string> all(words.we_wordv, words.we_wordv + words.we_wordc);
  ::wordfree(&words);
  if (all.empty()) {
    throw harness::BadInput(
        fmt::format("{} names no program or file, expected {}", prefix, expected));
  }
  return all;
}

/// A hint for words that are a path with blanks, and what follows it. Empty if they are not.
std::string how_to_quote(std::string_view prefix, const std::vector<std::string>& words) {
  std::error_code unknown;
  std::string path;
  for (const std::string& word : words) {
    path += (path.empty() ? "" : " ") + word;
    if (&word == &words.front() || !std::filesystem::is_regular_file(path, unknown)) continue;
    return fmt::format("; quote a path with blanks: \"{}{}\"", prefix, harness::shell_quoted(path));
  }
  return {};
}

/// Returns the file of the ready subject of this name, or nothing if there is none.
std::string file_of_ready_subject(std::string name) {
  if (name.find_first_of("./") != std::string::npos) return {};
  std::replace(name.begin(), name.end(), '-', '_');
  // A subject must not hide the module that it imports, so some files have a longer name.
  for (const char* const end : {".py", "_subject.py"}) {
    const auto file = harness::run::data_folder() / "cases/subjects" / (name + end);
    if (std::filesystem::is_regular_file(file)) return file;
  }
  return {};
}

/// Returns the file of `python:LINE`, and the subject's name if there is one. The line may also be
/// the name of a ready subject.
std::vector<std::string> words_of_python(const std::string& line) {
  const char* const expected = "a file of Python, and the subject's name if the file has several";
  std::vector<std::string> words = split_words("python:", line, expected, 1);
  if (words.size() == 1 && !std::filesystem::is_regular_file(words[0])) {
    if (std::string ready = file_of_ready_subject(words[0]); !ready.empty()) return {ready};
  }
  if (words.size() <= 2) return words;
  throw harness::BadInput(fmt::format("python:{:.100}: got {} words, expected {}{}",
                                      line,
                                      words.size(),
                                      expected,
                                      how_to_quote("python:", words)));
}

std::string interpreter() {
  const char* const named = std::getenv(python_variable);
  return named == nullptr || *named == '\0' ? "python3" : named;
}

std::string no_interpreter() {
  return fmt::format("{} was not found: install Python 3, or name its interpreter in {}",
                     interpreter(),
                     python_variable);
}

/// The options of worker processes that `command` starts for a number of ranks.
harness::worker::WorkerOptions options_with(std::function<harness::worker::Command(int)> command,
                                            const harness::BackendOptions& options,
                                            bool may_use_standard_io = true) {
  return {
      .command =
          [start = std::move(command), shows = options.shows_error_output](const std::string&,
                                                                           int ranks) {
            harness::worker::Command started = start(ranks);
            started.shows_error_output = shows;
            return started;
          },
      .ranks = options.ranks_max,
      .contract_of = reference::find_contract,
      .may_use_standard_io = may_use_standard_io,
      .run_timeout = std::chrono::duration<double>(options.timeout_s),
      .stop = options.stop,
  };
}

}  // namespace

std::string program_beside(std::string_view name) {
  return harness::own_program().parent_path() / name;
}

std::string require_program_beside(std::string_view name) {
  std::string path = program_beside(name);
  if (::access(path.c_str(), X_OK) == 0) return path;
  throw harness::BadInput(fmt::format(
      "{} is missing beside rankcheck: build rankcheck where the backend can be built", name));
}

std::vector<std::string> words_of_command(const std::string& line, int ranks) {
  return split_words("command:", line, "a program and its arguments", ranks);
}

std::string why_command_unavailable(const std::string& line) {
  const std::vector<std::string> words = words_of_command(line, 1);
  if (!harness::find_program(words.front()).empty()) return {};
  return fmt::format(
      "got {}, expected an executable program{}", words.front(), how_to_quote("command:", words));
}

/// What launchers say of a process: its rank. If rankcheck itself was started by one, its workers
/// must not believe that this is their rank.
const std::set<std::string> rank_variables{
    "OMPI_COMM_WORLD_RANK", "PMI_RANK", "RANK", "RANKCHECK_RANK", "SLURM_PROCID"};

harness::worker::WorkerOptions options_of_command(const std::string& line,
                                                  const harness::BackendOptions& options) {
  return options_with(
      [line](int ranks) {
        return harness::worker::Command{.arguments = words_of_command(line, ranks),
                                        .environment = {{"RANKCHECK_RANKS", std::to_string(ranks)}},
                                        .removed = rank_variables};
      },
      options);
}

int list_subjects() {
  if (harness::find_program(interpreter()).empty()) throw harness::BadInput(no_interpreter());
  const std::filesystem::path data = harness::run::data_folder();
  harness::worker::Process process(
      {.arguments = {interpreter(),
                     data / "harness/client/python/rankcheck/list_subjects.py",
                     data / "cases/subjects"},
       .environment = {},
       .shows_error_output = true},
      {.output = STDOUT_FILENO});
  while (!process.wait_until(std::chrono::steady_clock::now() + std::chrono::seconds(1))) {
  }
  return process.succeeded() ? harness::run::status_held : harness::run::status_unable;
}

std::string why_python_unavailable(const std::string& line) {
  const std::vector<std::string> words = words_of_python(line);
  const std::string& file = words.front();
  if (!std::filesystem::is_regular_file(file)) {
    const bool is_name = words.size() == 1 && file.find_first_of("./") == std::string::npos;
    return fmt::format("got {}, expected a file of Python{}{}",
                       harness::shell_quoted(file),
                       how_to_quote("python:", words),
                       is_name ? " or a ready subject of 'rankcheck list --subjects'" : "");
  }
  if (!harness::find_program(interpreter()).empty()) return {};
  return no_interpreter();
}

harness::worker::WorkerOptions options_of_python(const std::string& line,
                                                 const harness::BackendOptions& options) {
  std::vector<std::string> arguments = {interpreter(), "-m", "rankcheck"};
  for (std::string& word : words_of_python(line)) arguments.push_back(std::move(word));
  std::string path = harness::run::data_folder() / "harness/client/python";
  const char* const others = std::getenv("PYTHONPATH");
  if (others != nullptr && *others != '\0') path += std::string(":") + others;
  harness::worker::WorkerOptions worker = options_with(
      [arguments = std::move(arguments), path = std::move(path)](int ranks) {
        const std::string number = std::to_string(ranks);
        harness::worker::Command command{
            .arguments = arguments,
            .environment = {{"RANKCHECK_RANKS", number}, {"PYTHONPATH", path}},
            .removed = rank_variables};
        command.arguments.insert(command.arguments.end(), {"--ranks", number});
        return command;
      },
      options);
  worker.expected_hello = "that the file's code ends, which must not wait for input";
  return worker;
}

std::string why_listen_unavailable(const std::string& address) {
  harness::worker::require_loopback(address);
  const char* const secret = std::getenv(harness::worker::secret_variable);
  const std::size_t length = secret == nullptr ? 0 : std::strlen(secret);
  if (length >= harness::worker::secret_length_min && length <= harness::worker::secret_length_max)
    return {};
  return fmt::format(
      "listen:{:.60}: the secret in {} has {} characters, expected {}..{}: the ranks need the same",
      address,
      harness::worker::secret_variable,
      length,
      harness::worker::secret_length_min,
      harness::worker::secret_length_max);
}

harness::worker::WorkerOptions options_of_listen(const std::string& address,
                                                 const harness::BackendOptions& options) {
  static std::map<std::string, harness::worker::Descriptor> listeners;
  auto found = listeners.find(address);
  if (found == listeners.end()) {
    found = listeners.emplace(address, harness::worker::listen_on_loopback(address)).first;
  }
  harness::worker::WorkerOptions worker = options_with(
      [listener = found->second.get()](int /*ranks*/) {
        return harness::worker::Command{
            .arguments = {harness::own_program(), "relay"}, .environment = {}, .input = listener};
      },
      options,
      false);
  worker.name = fmt::format("listen:{}", address);
  worker.expected_hello =
      fmt::format("ranks that connect to this {}", harness::worker::address_variable);
  return worker;
}

}  // namespace rankcheck::cases

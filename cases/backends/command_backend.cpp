#include "cases/backends/command_backend.hpp"

#include <chrono>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>
#include <wordexp.h>

#include "reference/registry.hpp"

#include "harness/program.hpp"
#include "harness/worker/worker_backend.hpp"

namespace rankcheck::cases {

namespace {

/// Large libraries need many seconds to load.
constexpr double start_timeout_s = 60;

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
  const auto fail = [&](const char* what) {
    throw harness::BadInput(fmt::format("command:{:.200}: {}", line, what));
  };
  constexpr std::string_view place = "{ranks}";
  std::string text = line;
  for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place)) {
    text.replace(at, place.size(), std::to_string(ranks));
  }
  wordexp_t words{};
  const int failed = ::wordexp(text.c_str(), &words, WRDE_NOCMD);
  if (failed == WRDE_CMDSUB) fail("expected a program and its arguments, got $(…) or `…`");
  if (failed == WRDE_BADCHAR) fail("expected quotes around | & ; < > ( ) { } and line ends");
  if (failed != 0) fail("expected a program and its arguments, with closed quotes");
  const std::vector<std::string> all(words.we_wordv, words.we_wordv + words.we_wordc);
  ::wordfree(&words);
  if (all.empty()) fail("expected a program and its arguments");
  return all;
}

std::string why_command_unavailable(const std::string& line) {
  const std::string program = words_of_command(line, 1).front();
  if (!harness::find_program(program).empty()) return {};
  return fmt::format("command:{}: expected an executable program, got {}", line, program);
}

std::unique_ptr<harness::Backend> open_command(const std::string& line,
                                               const harness::BackendOptions& options) {
  const char* const patience = std::getenv(start_timeout_variable);
  return std::make_unique<harness::worker::WorkerBackend>(harness::worker::WorkerOptions{
      .command =
          [line, ranks = options.ranks_max](const std::string&) {
            return harness::worker::Command{
                .arguments = words_of_command(line, ranks),
                .environment = {{"RANKCHECK_RANKS", std::to_string(ranks)}}};
          },
      .contract_of = reference::find_contract,
      .may_use_standard_io = true,
      .start_timeout = std::chrono::duration<double>(
          patience == nullptr ? start_timeout_s : std::strtod(patience, nullptr)),
      .run_timeout = std::chrono::duration<double>(options.timeout_s),
      .stop = options.stop,
  });
}

}  // namespace rankcheck::cases

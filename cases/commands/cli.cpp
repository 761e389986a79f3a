#include "cases/commands/cli.hpp"

#include <cstdlib>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/files.hpp"
#include "harness/base/table.hpp"
#include "harness/run/data_files.hpp"

#include "cases/backends/registry.hpp"
#include "cases/commands/version.hpp"
#include "cases/suites/catalogue.hpp"

namespace rankcheck::cases {

namespace {

namespace fs = std::filesystem;
using harness::BadInput;

/// Longer text is not a path on any system.
constexpr std::size_t path_bytes_max = 4096;

/// Reads a case from its text. If the text names no property and the operation does not claim the
/// default one, uses the first property that the operation claims.
harness::Case case_of(const harness::Catalogue& catalogue, const std::string& text) {
  harness::Case c = harness::case_from_text(text);
  const harness::Operation* operation = catalogue.find(c.operation);
  const bool is_open = operation != nullptr && !operation->properties.empty() &&
                       catalogue.find_property(c.operation, c.property) == nullptr &&
                       !nlohmann::json::parse(text).contains("property");
  if (is_open) c.property = operation->properties.front().name;
  return c;
}

}  // namespace

harness::Case read_case(const harness::Catalogue& catalogue, const std::string& text_or_path) {
  const std::size_t first = text_or_path.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) {
    throw BadInput("case: got nothing, expected JSON text or the path of a file");
  }
  if (text_or_path[first] == '{' || text_or_path[first] == '[') {
    return case_of(catalogue, text_or_path);
  }
  std::error_code unknown;
  if (!fs::exists(fs::status(text_or_path, unknown)) || text_or_path.size() > path_bytes_max) {
    throw BadInput("case: " + text_or_path.substr(0, 80) +
                   ": there is no such file, expected JSON text or a file");
  }
  const std::string text = harness::read_file(text_or_path, harness::run::text_bytes_max);
  try {
    return case_of(catalogue, text);
  } catch (const BadInput& bad) {
    throw BadInput(fmt::format("{}: {}", text_or_path, bad.what()));
  }
}

CLI::Option* add_filter(CLI::App& command,
                        const std::string& name,
                        std::vector<std::string>& lists,
                        const std::string& what) {
  return command.add_option(name, lists, what)->type_name("LIST")->allow_extra_args(false);
}

std::size_t terminal_width() {
  if (const char* columns = std::getenv("COLUMNS")) {
    const int width = std::atoi(columns);
    if (width > 0) return spec::to_size(width);
  }
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : harness::Table::no_limit;
}

harness::run::ThisProgram this_program(std::string command) {
  return {
      .command = std::move(command),
      .version = version(),
      .commit = commit(),
      .catalogue = make_catalogue(),
      .backends = available_backends(),
      .describe_machine = describe_machine,
  };
}

}  // namespace rankcheck::cases

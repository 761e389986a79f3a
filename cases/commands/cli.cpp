#include "cases/commands/cli.hpp"

#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/files.hpp"
#include "harness/base/table.hpp"
#include "harness/report/report.hpp"
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

void print_verdict(harness::Verdict verdict, const std::string& reason) {
  fmt::print(
      "verdict    {}{}{}\n", name(verdict), reason.empty() ? "" : ": ", harness::printable(reason));
}

void print_compared(const harness::Judgement& judgement) {
  fmt::print("compared   {} bytes", harness::grouped(judgement.compared_bytes));
  if (judgement.ratio_max > 0) {
    fmt::print(", error/bound{} at most {:.3g}",
               judgement.wrong_count > 0 ? " of the right elements" : "",
               judgement.ratio_max);
  }
  fmt::print("\n");
  if (judgement.power.elements > 0) {
    fmt::print(
        "power      {} of {} elements have a useful bound; a change by {:.2g} of the largest "
        "value is seen in every output\n",
        harness::grouped(judgement.power.useful),
        harness::grouped(judgement.power.elements),
        judgement.power.smallest_change);
    if (judgement.power.any_input > 0) {
      fmt::print("           {} may be NaN or any input, because nan_rule is unspecified\n",
                 harness::counted(judgement.power.any_input, "element", "elements"));
    }
  }
  if (judgement.wrong.empty()) return;
  fmt::print("wrong      {}, the first:\n{}",
             harness::counted(judgement.wrong_count, "element", "elements"),
             to_table(judgement.wrong).text());
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

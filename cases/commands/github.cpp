#include "cases/commands/github.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "harness/base/files.hpp"
#include "harness/base/table.hpp"
#include "harness/worker/process.hpp"

namespace rankcheck::cases {

namespace {

constexpr const char* summary_variable = "GITHUB_STEP_SUMMARY";

std::string_view in_environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// Appends the text. Opening a pipe must not wait for a reader. Throws FileError.
void append(const std::string& path, const std::string& text) {
  const harness::worker::Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666));
  struct stat state {};
  if (file.get() < 0 || ::fstat(file.get(), &state) != 0) {
    harness::throw_file_error("cannot write", path);
  }
  if (!S_ISREG(state.st_mode)) throw harness::FileError("cannot write: " + path + ": no file");
  // What an earlier command wrote may be a table, which a line behind it would continue.
  const std::string whole = (state.st_size > 0 ? "\n" : "") + text;
  for (std::size_t done = 0; done < whole.size();) {
    const ssize_t now = ::write(file.get(), whole.data() + done, whole.size() - done);
    if (now <= 0) harness::throw_file_error("cannot write", path);
    done += static_cast<std::size_t>(now);
  }
}

}  // namespace

void tell_github(const std::string& summary,
                 const std::vector<harness::github::Annotation>& annotations) {
  if (in_environment("GITHUB_ACTIONS") == "true") fmt::print("{}", to_commands(annotations));
  const std::string path(in_environment(summary_variable));
  if (path.empty()) return;
  try {
    append(path, summary);
  } catch (const harness::FileError& error) {
    std::fflush(stdout);
    fmt::print(stderr,
               "rankcheck: {}: {}, expected a writable file; the summary is left out\n",
               summary_variable,
               harness::printable(error.what()));
  }
}

void tell_github(const harness::Report& report, const harness::SummaryNotes& notes) {
  namespace github = harness::github;
  tell_github(github::to_step_summary(to_markdown(report, notes)), github::annotations_of(report));
}

}  // namespace rankcheck::cases

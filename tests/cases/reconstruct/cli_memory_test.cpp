#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases/reconstruct/dataset.hpp"
#include "tests/data.hpp"
#include "tests/harness/sample.hpp"
#include "tests/memory.hpp"
#include "tests/print.hpp"

/// Tests how much memory reconstructions of measured data take. The data may be absent.
namespace rankcheck {
namespace {

namespace rec = cases::reconstruct;

/// Replaces this process by the program. The program's standard output is discarded.
[[noreturn]] void become_program(const std::filesystem::path& folder,
                                 std::vector<std::string> arguments) {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (::chdir(folder.c_str()) != 0 || ::dup2(nowhere, STDOUT_FILENO) < 0) ::_exit(127);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::execv(RANKCHECK_BINARY_DIR "/rankcheck", pointers.data());
  ::_exit(127);
}

/// Returns the program's peak memory in bytes. Other children of this process do not count.
double peak_bytes(const std::filesystem::path& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "rankcheck");
  // The system's peak also counts the memory that the child shared with its parent before exec: the
  // anonymous pages. So the peak says something only if it exceeds them.
  const double own = tests::status_bytes("RssAnon:");
  const pid_t child = ::fork();
  if (child == 0) become_program(folder, arguments);
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) continue;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const double peak = 1024.0 * static_cast<double>(usage.ru_maxrss);
  EXPECT_GT(own, 0);
  EXPECT_GT(peak, own);
  return peak;
}

/// The parameter is the solver.
class CliMemoryTest : public testing::TestWithParam<std::string> {};

TEST_P(CliMemoryTest, IsThreeTimesTheFramesAndTheObjectAtMost) {
  if (tests::has_sanitizer) GTEST_SKIP() << "sanitizers take memory of their own";
  const auto path = tests::data_file(tests::siemens_star);
  if (!path) GTEST_SKIP() << tests::absent(tests::siemens_star);
  const harness::TemporaryFolder folder;
  const std::string scan = std::filesystem::absolute(*path).string();
  const double bare = peak_bytes(folder.path(), {"--version"});
  const double peak =
      peak_bytes(folder.path(), {"reconstruct", scan, "--solver", GetParam(), "--iterations", "2"});
  const rec::Dataset data = rec::open_dataset(*path);
  const double frames =
      static_cast<double>(data.count) * static_cast<double>(data.pixels()) * sizeof(float);
  const double object = static_cast<double>(data.object.size()) * sizeof(data.object.front());
  constexpr double mebi = 1 << 20;
  EXPECT_LE(peak, 3 * frames + object + bare)
      << "MiB: " << peak / mebi << ", of that the bare program " << bare / mebi << "; frames "
      << frames / mebi << ", object " << object / mebi;
  // The frames are in memory.
  EXPECT_GT(peak, frames + bare);
}

INSTANTIATE_TEST_SUITE_P(Reconstruct,
                         CliMemoryTest,
                         testing::Values("rpie", "conjugate_gradient"),
                         tests::printed_name);

}  // namespace
}  // namespace rankcheck

#include "harness/worker/process.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

namespace rankcheck::harness::worker {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t error_bytes_max = 16384;
constexpr std::size_t line_bytes_max = 300;
/// Maximum number of chunks of error output to read at a time: a child may write without end.
constexpr int chunks_max = 64;

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<std::string> environment_of(const Command& command) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string key(text.substr(0, text.find('=')));
    const bool is_kept = !command.environment.contains(key) && !command.removed.contains(key);
    if (is_kept) merged.emplace_back(text);
  }
  for (const auto& [key, value] : command.environment) {
    merged.push_back(fmt::format("{}={}", key, value));
  }
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

struct ChildDescriptors {
  StandardIo io;
  int error_output = -1;
  int failure = -1;
};

/// Runs in the child between fork and exec. Must not call anything that may take a lock.
[[noreturn]] void become(char* const* arguments,
                         char* const* environment,
                         pid_t parent,
                         ChildDescriptors descriptors) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const StandardIo io = descriptors.io;
  if (::getppid() == parent && ::dup2(io.input >= 0 ? io.input : nothing, 0) >= 0 &&
      ::dup2(io.output >= 0 ? io.output : descriptors.error_output, 1) >= 0 &&
      ::dup2(descriptors.error_output, 2) >= 0) {
    ::execvpe(arguments[0], arguments, environment);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t told = ::write(descriptors.failure, &error, sizeof(error));
  ::_exit(127);
}

/// A descriptor that identifies the process even after its end. Invalid if there is no such
/// process.
Descriptor open_process(pid_t id) {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, id, 0U)));
}

/// The processes of a group, including processes that have ended and were not reaped yet.
std::vector<pid_t> processes_of(pid_t group) {
  std::vector<pid_t> all;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", unreadable)) {
    const pid_t id = std::atoi(entry.path().filename().c_str());
    if (id > 0 && ::getpgid(id) == group) all.push_back(id);
  }
  return all;
}

/// Whether a process has a handler for the signal.
bool listens_to(pid_t id, int number) {
  std::ifstream lines(fmt::format("/proc/{}/status", id));
  for (std::string word; lines >> word;) {
    if (word != "SigCgt:") continue;
    std::uint64_t handled = 0;
    lines >> std::hex >> handled;
    return (handled >> (number - 1) & 1) != 0;
  }
  return false;
}

/// Whether a line has words that say what is wrong. Two kinds of lines do not: those of a stack
/// that Python printed without an error, for example because a launcher ended the process, and the
/// advice of MPICH's launcher.
bool is_telling(std::string_view line) {
  const bool is_of_stack = line.starts_with("  File \"") ||
                           line.find("(most recent call first)") != std::string_view::npos;
  const bool is_advice = line.starts_with("This typically refers to a problem") ||
                         line.starts_with("Please see the FAQ page");
  if (is_of_stack || is_advice) return false;
  return std::ranges::any_of(line, [](char c) { return std::isalnum(c) != 0; });
}

/// The last line that begins so and is telling. Empty if there is none.
std::string last_line_of(std::string_view rest, std::string_view beginning) {
  while (!rest.empty()) {
    const std::size_t end = rest.find_last_of('\n');
    const std::string_view line = rest.substr(end == std::string_view::npos ? 0 : end + 1);
    if (line.starts_with(beginning) && is_telling(line))
      return std::string(line.substr(0, line_bytes_max));
    rest = rest.substr(0, end == std::string_view::npos ? 0 : end);
  }
  return {};
}

/// What Open MPI's launcher says between two lines of dashes, and what was printed before it.
struct Framed {
  std::string_view before;
  std::string_view text;
};

/// The text between two lines of dashes if it is the last of the output.
std::optional<Framed> last_framed(std::string_view output) {
  constexpr std::string_view rule = "--------------------------------------------------";
  const std::size_t end = output.find_last_not_of("-\n\r ");
  if (end == std::string_view::npos || output.find(rule, end + 1) == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t begin = output.rfind(rule, end);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t first = output.find_first_not_of("-\n\r ", begin);
  const std::size_t dashes = output.find_last_not_of('-', begin);
  return Framed{output.substr(0, dashes == std::string_view::npos ? 0 : dashes + 1),
                output.substr(first, end + 1 - first)};
}

/// Whether a launcher only says that a process has ended with some status, so that the process's
/// own last line says more.
bool says_only_that_it_ended(std::string_view text) {
  return text.find("exited with non-zero status") != std::string_view::npos ||
         text.find("returned\na non-zero exit code") != std::string_view::npos;
}

/// The lines up to an empty line as one line.
std::string first_paragraph(std::string_view text) {
  std::string paragraph(text.substr(0, text.find("\n\n")));
  std::ranges::replace(paragraph, '\n', ' ');
  return paragraph.substr(0, line_bytes_max);
}

}  // namespace

pid_t Keeper::fork(const std::function<void()>& become) {
  std::promise<pid_t> forked;
  thread_ = std::thread([&, released = release_.get_future()] {
    const pid_t child = ::fork();
    if (child == 0) become();
    forked.set_value(child);
    released.wait();
  });
  return forked.get_future().get();
}

Keeper::~Keeper() {
  if (!thread_.joinable()) return;
  release_.set_value();
  thread_.join();
}

Process::Process(const Command& command, StandardIo io)
    : shows_error_output_(command.shows_error_output) {
  Pipe errors = make_pipe();
  Pipe failure = make_pipe();
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = environment_of(command);
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(environment);
  const pid_t parent = ::getpid();
  id_ = keeper_.fork([&] {
    become(argument_pointers.data(),
           environment_pointers.data(),
           parent,
           {io, errors.write_end.get(), failure.write_end.get()});
  });
  if (id_ < 0) throw std::runtime_error("cannot start another process: the system refuses to fork");
  ::setpgid(id_, id_);
  failure.write_end.reset();
  int error = 0;
  ssize_t got = -1;
  do {
    got = ::read(failure.read_end.get(), &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  if (got == sizeof(error)) {
    ::waitpid(id_, nullptr, 0);
    throw std::runtime_error(
        fmt::format("cannot start {}: {}", command.arguments[0], std::strerror(error)));
  }
  ::fcntl(errors.read_end.get(), F_SETFL, O_NONBLOCK);
  error_output_ = std::move(errors.read_end);
}

Process::~Process() {
  if (!reaped_) stop(std::chrono::milliseconds(0));
}

void Process::add_outputs(std::vector<pollfd>& entries) const {
  for (const Descriptor* output : {&error_output_, &passed_on_}) {
    if (output->get() < 0) continue;
    entries.push_back({.fd = output->get(), .events = POLLIN, .revents = 0});
  }
}

void Process::pass_on(Descriptor output) {
  ::fcntl(output.get(), F_SETFL, O_NONBLOCK);
  passed_on_ = std::move(output);
}

void Process::drain() {
  drain(error_output_, shows_error_output_, errors_);
  drain(passed_on_, true, printed_);
}

void Process::drain(Descriptor& output, bool passes_on, std::string& text) {
  std::array<char, 4096> chunk{};
  for (int i = 0; i < chunks_max && output.get() >= 0; ++i) {
    const ssize_t got = ::read(output.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return output.reset();
    if (passes_on) std::fwrite(chunk.data(), 1, spec::to_size(got), stderr);
    text.append(chunk.data(), spec::to_size(got));
    if (text.size() > 2 * error_bytes_max) text.erase(0, text.size() - error_bytes_max);
  }
}

bool Process::ended() {
  if (fate_) return true;
  siginfo_t info{};
  const int rc = ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (rc != 0) {
    fate_ = "is gone";
  } else if (info.si_pid != 0) {
    (info.si_code == CLD_EXITED ? status_ : ending_signal_) = info.si_status;
    const char* signal_name = ::sigdescr_np(info.si_status);
    fate_ = info.si_code == CLD_EXITED
                ? fmt::format("ended with status {}", info.si_status)
                : fmt::format("was killed by signal {} ({})",
                              info.si_status,
                              signal_name == nullptr ? "unknown" : signal_name);
  }
  return fate_.has_value();
}

bool Process::wait_until(Clock::time_point deadline) {
  constexpr int tick_ms = 5;
  std::vector<pollfd> entries;
  while (!ended()) {
    if (Clock::now() >= deadline) return false;
    entries.clear();
    add_outputs(entries);
    ::poll(entries.data(), entries.size(), tick_ms);
    drain();
  }
  drain();
  return true;
}

void Process::signal(int number) {
  if (ended()) return;
  bool is_heard = false;
  for (const pid_t id : processes_of(id_)) {
    // Opened before the check, so that the checked process is the one that gets the signal.
    const Descriptor process = open_process(id);
    if (::getpgid(id) != id_ || !listens_to(id, number)) continue;
    const long refused = ::syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0U);
    is_heard = is_heard || refused == 0;
  }
  if (!is_heard) ::kill(-id_, number);
}

void Process::stop(std::chrono::milliseconds patience) {
  if (reaped_) return;
  if (!ended()) {
    ::kill(id_, SIGTERM);
    static_cast<void>(wait_until(Clock::now() + patience));
  }
  ::kill(-id_, SIGKILL);
  static_cast<void>(wait_until(Clock::time_point::max()));
  while (::waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
}

std::string Process::fate() {
  return ended() ? *fate_ : "is running";
}

std::string last_words_of(std::string_view errors, std::string_view beginning) {
  std::string_view rest(errors);
  while (beginning.empty()) {
    const auto framed = last_framed(rest);
    if (!framed) break;
    if (!says_only_that_it_ended(framed->text)) return first_paragraph(framed->text);
    rest = framed->before;
  }
  // If nothing else was said, what the launcher said must do.
  const std::string words = last_line_of(rest, beginning);
  return words.empty() ? last_line_of(errors, beginning) : words;
}

std::optional<std::size_t> first_to_end_of(std::string_view errors) {
  // What stands before the number. `Process name: [[29213,1],2]` has the job before it.
  constexpr std::array<std::array<std::string_view, 2>, 3> texts{{
      {"noticed that process rank ", ""},
      {"MPI_ABORT was invoked on rank ", ""},
      {"The first process to do so was:", "],"},
  }};
  for (const auto& [beginning, behind] : texts) {
    std::size_t at = errors.find(beginning);
    if (at == std::string_view::npos) continue;
    at = errors.find(behind, at + beginning.size());
    if (at == std::string_view::npos) continue;
    const std::string_view number = errors.substr(at + behind.size());
    std::size_t rank = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), rank);
    if (error == std::errc()) return rank;
  }
  return std::nullopt;
}

bool Process::has_printed(std::string_view text) const {
  return printed_.find(text) != std::string::npos;
}

std::optional<std::size_t> Process::first_to_end() const {
  return first_to_end_of(errors_);
}

std::string Process::last_words(std::string_view beginning) const {
  const std::string words = last_words_of(errors_, beginning);
  return words.empty() ? last_words_of(printed_, beginning) : words;
}

}  // namespace rankcheck::harness::worker

#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/types.h>

#include "harness/base/descriptor.hpp"

namespace rankcheck::harness::worker {

using harness::Descriptor;

/// The program to start. The child gets this process's environment plus these variables.
struct Command {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
  /// Variables of this process that the program does not get.
  std::set<std::string> removed = {};
  /// The descriptor that becomes the standard input, unless it is a connection. -1 for none.
  int input = -1;
  /// Whether drain() passes the error output on to this process's error output.
  bool shows_error_output = false;
};

/// The descriptors for a child's standard input and output. -1 means /dev/null as input, and the
/// error output as output.
struct StandardIo {
  int input = -1;
  int output = -1;
};

/// A thread that forks and then stays alive. The system tells a child of its parent's death when
/// the thread that forked it ends.
class Keeper {
 public:
  Keeper() = default;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper();

  /// Forks once. The child runs `become`, which must not return. Returns the child's process id, or
  /// -1.
  [[nodiscard]] pid_t fork(const std::function<void()>& become);

 private:
  std::promise<void> release_;
  std::thread thread_;
};

/// A child in its own process group. The last part of its error output is kept. When this object is
/// destroyed, the child and its group are killed. If this process is killed, the child is asked to
/// end.
class Process {
 public:
  /// Throws std::runtime_error if the program cannot be started.
  Process(const Command& command, StandardIo io);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  /// The descriptor to poll for error output; -1 after the output's end.
  [[nodiscard]] int error_descriptor() const { return error_output_.get(); }
  [[nodiscard]] bool shows_error_output() const { return shows_error_output_; }
  /// Appends the descriptors to poll for output of all kinds. There are none after the output's
  /// end.
  void add_outputs(std::vector<pollfd>& entries) const;
  /// Takes over the reading end of the child's standard output. drain() passes this output on to
  /// this process's error output, and keeps it apart from error output.
  void pass_on(Descriptor output);
  /// Reads the available output, up to 256 KiB of each kind. Does not wait.
  void drain();

  /// Whether the child has ended. Does not reap it, so that its group keeps its number.
  [[nodiscard]] bool ended();
  /// Reads error output until the child has ended. Returns false if it has not ended by the
  /// deadline.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point deadline);
  /// Sends a signal to the processes of the child's group that handle it. A launcher may wait for
  /// the program that it starts and not pass the signal on. If no process handles the signal, all
  /// get it.
  void signal(int number);
  /// Asks the child to end, waits for `patience`, then kills its whole group. Returns after the
  /// child's end.
  void stop(std::chrono::milliseconds patience);

  /// Whether the child has ended with status 0.
  [[nodiscard]] bool succeeded() { return status() == 0; }
  /// The child's exit status. Empty while it runs, or if a signal ended it.
  [[nodiscard]] std::optional<int> status() { return ended() ? status_ : std::nullopt; }
  /// The signal that ended the child. Empty while it runs, or if it exited.
  [[nodiscard]] std::optional<int> ending_signal() {
    return ended() ? ending_signal_ : std::nullopt;
  }
  /// "ended with status 1", "was killed by signal 11 (Segmentation fault)" or "is running".
  [[nodiscard]] std::string fate();
  /// Whether what is kept of the standard output has this text. It may have bytes of 0.
  [[nodiscard]] bool has_printed(std::string_view text) const;
  /// See last_words_of(). Those of the standard output only if the error output has none: a program
  /// may write what it has buffered after its error.
  [[nodiscard]] std::string last_words(std::string_view beginning = {}) const;
  /// See first_to_end_of().
  [[nodiscard]] std::optional<std::size_t> first_to_end() const;

 private:
  Keeper keeper_;
  pid_t id_ = -1;
  bool reaped_ = false;
  std::optional<int> status_;
  std::optional<int> ending_signal_;
  std::optional<std::string> fate_;
  /// Reads what is there from one of the outputs, which is closed after its end.
  void drain(Descriptor& output, bool passes_on, std::string& text);

  Descriptor error_output_;
  bool shows_error_output_ = false;
  Descriptor passed_on_;
  /// The last part of the error output, and of the standard output that is passed on.
  std::string errors_;
  std::string printed_;
};

/// The last line of an error output that has a letter or digit and starts with `beginning`.
/// Messages that Open MPI's launcher frames by lines of dashes are passed over if they only say
/// that a process has ended; of another one, the first paragraph is returned. May be empty.
[[nodiscard]] std::string last_words_of(std::string_view errors, std::string_view beginning = {});

/// Which of the processes that Open MPI's launcher started ended first or called MPI_Abort, so that
/// the launcher ended the others. Empty if the error output does not say it.
[[nodiscard]] std::optional<std::size_t> first_to_end_of(std::string_view errors);

}  // namespace rankcheck::harness::worker

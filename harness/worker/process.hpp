#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace rankcheck::harness::worker {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() { reset(); }

  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] int release() { return std::exchange(value_, -1); }
  void reset();

 private:
  int value_ = -1;
};

/// What to start. The child gets our environment with these variables added.
struct Command {
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
};

/// What becomes a child's standard input and output; -1: nothing to read, and the error output.
struct StandardIo {
  int input = -1;
  int output = -1;
};

/// A thread that forks and then only lives: the signal that tells a child of its parent's death
/// comes when the thread that forked it ends.
class Keeper {
 public:
  Keeper() = default;
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper();

  /// Forks once; the child runs `become`, which does not return. The child's number, or -1.
  [[nodiscard]] pid_t fork(const std::function<void()>& become);

 private:
  std::promise<void> release_;
  std::thread thread_;
};

/// A child in its own process group. Its error output is kept, bounded; it is killed with its whole
/// group when this object goes, and told to end when we are killed.
class Process {
 public:
  /// Throws std::runtime_error where the program cannot be started.
  Process(const Command& command, StandardIo io);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  /// The descriptor to poll for error output; -1 after its end.
  [[nodiscard]] int error_descriptor() const { return error_output_.get(); }
  /// Takes in error output that is there, up to 256 KiB; call it when the descriptor is ready.
  void drain();

  /// Whether the child has ended; leaves it unreaped, so that its group keeps its number.
  [[nodiscard]] bool ended();
  /// Takes in error output until the child has ended. False when it had not at the deadline.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point deadline);
  /// Sends a signal to those of the child's group that listen to it: a launcher may wait for the
  /// program that it starts, and not pass on what it gets itself. Where nobody listens, all get it.
  void signal(int number);
  /// Asks the child, then its whole group by force, to end; returns when it has.
  void stop(std::chrono::milliseconds patience);

  /// Whether it has ended with status 0.
  [[nodiscard]] bool succeeded() { return status() == 0; }
  /// Its exit status; empty while it runs, and where a signal ended it.
  [[nodiscard]] std::optional<int> status() { return ended() ? status_ : std::nullopt; }
  /// The signal that ended it; empty while it runs, and where it exited.
  [[nodiscard]] std::optional<int> ending_signal() {
    return ended() ? ending_signal_ : std::nullopt;
  }
  /// "ended with status 1" or "was killed by signal 11 (Segmentation fault)"; "is running".
  [[nodiscard]] std::string fate();
  /// The last telling line of the error output, or of those that begin so; may be empty.
  [[nodiscard]] std::string last_words(std::string_view beginning = {}) const;

 private:
  Keeper keeper_;
  pid_t id_ = -1;
  bool reaped_ = false;
  std::optional<int> status_;
  std::optional<int> ending_signal_;
  std::optional<std::string> fate_;
  Descriptor error_output_;
  std::string errors_;
};

}  // namespace rankcheck::harness::worker

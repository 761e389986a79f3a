#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

/// Threads that make the calls of ranks.
namespace rankcheck::detail {

/// Runs the function. Returns the text of its exception in one line, which may be empty, or
/// nothing.
template <class Run>
std::optional<std::string> failure_of(const Run& run) {
  constexpr std::size_t length_max = 300;
  std::string text;
  try {
    run();
    return std::nullopt;
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {
    text = "an exception that is not a std::exception";
  }
  std::string line;
  for (const char c : text) {
    const bool is_space = static_cast<unsigned char>(c) <= ' ';
    if (is_space && (line.empty() || line.back() == ' ')) continue;
    line += is_space ? ' ' : c;
  }
  return line.substr(0, length_max);
}

/// What became of calls that were made at the same time.
struct Outcome {
  /// The call that failed first, or the number of calls.
  std::size_t failed = 0;
  std::string reason;
  /// The calls that have not ended. Their threads are left behind.
  std::vector<std::size_t> unfinished;
};

/// A thread for each rank. A rank makes all its calls in its own thread.
class RankThreads {
 public:
  using Clock = std::chrono::steady_clock;

  explicit RankThreads(std::size_t threads) : slots_(threads) {}
  ~RankThreads() {
    for (Slot& slot : slots_) {
      if (slot.state == nullptr) continue;
      slot.state->post(nullptr, true);
      slot.thread.join();
    }
  }
  RankThreads(const RankThreads&) = delete;
  RankThreads& operator=(const RankThreads&) = delete;

  /// Whether a thread was left behind. The process must then end without waiting for it.
  [[nodiscard]] bool has_left_some() const { return has_left_some_; }

  /// Makes call i in the thread of `ranks[i]` and waits until all have ended. Waits until
  /// `deadline` at the longest, and a quarter of a second after a call has failed.
  Outcome run(const std::vector<std::size_t>& ranks,
              std::vector<std::function<void()>> calls,
              Clock::time_point deadline) {
    constexpr std::chrono::milliseconds patience{250};
    const auto batch = std::make_shared<Batch>(calls.size());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      slot(ranks[i]).post(
          [batch, i, call = std::move(calls[i])] { batch->end(i, failure_of(call)); });
    }
    std::unique_lock lock(batch->mutex);
    const auto has_ended = [&] { return batch->running == 0; };
    const auto has_news = [&] { return has_ended() || batch->outcome.failed < calls.size(); };
    if (deadline == Clock::time_point::max()) {
      batch->changed.wait(lock, has_news);
    } else {
      batch->changed.wait_until(lock, deadline, has_news);
    }
    if (has_news()) batch->changed.wait_for(lock, patience, has_ended);
    Outcome outcome = batch->outcome;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (batch->has_ended[i]) continue;
      outcome.unfinished.push_back(i);
      leave(ranks[i]);
    }
    return outcome;
  }

 private:
  /// What the caller and the calls share. The last of them frees it.
  struct Batch {
    explicit Batch(std::size_t calls) : running(calls), has_ended(calls) { outcome.failed = calls; }

    void end(std::size_t i, const std::optional<std::string>& failure) {
      const std::lock_guard lock(mutex);
      has_ended[i] = true;
      --running;
      const bool is_first = failure && outcome.failed == has_ended.size();
      if (is_first) {
        outcome.failed = i;
        outcome.reason = *failure;
      }
      if (is_first || running == 0) changed.notify_one();
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::size_t running;
    std::vector<bool> has_ended;
    Outcome outcome;
  };

  /// What a thread and its owner share.
  struct State {
    void post(std::function<void()> next, bool is_last = false) {
      const std::lock_guard lock(mutex);
      job = std::move(next);
      ends = is_last;
      changed.notify_one();
    }

    void work() {
      for (;;) {
        std::function<void()> next;
        {
          std::unique_lock lock(mutex);
          changed.wait(lock, [&] { return job != nullptr || ends; });
          if (job == nullptr) return;
          std::swap(next, job);
        }
        next();
      }
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::function<void()> job;
    bool ends = false;
  };

  struct Slot {
    std::shared_ptr<State> state;
    std::thread thread;
  };

  State& slot(std::size_t rank) {
    Slot& slot = slots_.at(rank);
    if (slot.state == nullptr) {
      slot.state = std::make_shared<State>();
      slot.thread = std::thread([state = slot.state] { state->work(); });
    }
    return *slot.state;
  }

  void leave(std::size_t rank) {
    Slot& slot = slots_.at(rank);
    slot.state->post(nullptr, true);
    slot.thread.detach();
    slot = {};
    has_left_some_ = true;
  }

  std::vector<Slot> slots_;
  bool has_left_some_ = false;
};

/// Calls `expire` if it lives longer than a deadline.
class Watch {
 public:
  Watch(RankThreads::Clock::time_point deadline, std::function<void()> expire) {
    if (deadline == RankThreads::Clock::time_point::max()) return;
    thread_ = std::thread([this, deadline, expire = std::move(expire)] {
      std::unique_lock lock(mutex_);
      has_expired_ = !changed_.wait_until(lock, deadline, [&] { return is_over_; });
      if (has_expired_) expire();
    });
  }
  ~Watch() { stop(); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Ends the watch. Returns whether `expire` was called.
  bool stop() {
    if (!thread_.joinable()) return has_expired_;
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
      changed_.notify_one();
    }
    thread_.join();
    return has_expired_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  bool has_expired_ = false;
  std::thread thread_;
};

}  // namespace rankcheck::detail

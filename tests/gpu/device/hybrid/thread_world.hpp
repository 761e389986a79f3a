#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/device/hybrid/processes.hpp"

namespace rankcheck::gpu::hybrid {

/// Processes that are threads of this test. A send waits until the message is taken, as a large
/// message of MPI does. So messages that wait for one another in a circle are found.
class ThreadWorld {
 public:
  explicit ThreadWorld(int size) : size_(size) {}

  /// Runs `main` in one thread for each process. Returns the error of the first process that has
  /// one; empty if there is none.
  std::string run(const std::function<void(Processes&)>& main) {
    std::vector<std::string> errors(spec::to_size(size_));
    std::vector<std::thread> threads;
    for (int p = 0; p < size_; ++p) {
      threads.emplace_back([&, p] {
        Process process(*this, p);
        try {
          main(process);
        } catch (const std::exception& error) {
          errors[spec::to_size(p)] = error.what();
        }
      });
    }
    for (std::thread& each : threads) each.join();
    for (const auto& [ends, waiting] : messages_) {
      if (!waiting.empty()) return "a message was left";
    }
    for (const std::string& each : errors) {
      if (!each.empty()) return each;
    }
    return {};
  }

  /// The number of messages so far, and of those without a byte.
  int messages = 0;
  int empty_messages = 0;

 private:
  using Message = std::vector<std::byte>;
  using Ends = std::pair<int, int>;

  class Process final : public Processes {
   public:
    Process(ThreadWorld& world, int rank) : world_(world), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return world_.size_; }
    void send(int process, const std::byte* data, std::int64_t bytes) override {
      world_.send({rank_, process}, {data, data + bytes});
    }
    void receive(int process, std::byte* data, std::int64_t bytes) override {
      const Message message = world_.receive({process, rank_});
      if (std::cmp_not_equal(message.size(), bytes)) throw std::runtime_error("another size");
      std::copy(message.begin(), message.end(), data);
    }

   private:
    ThreadWorld& world_;
    int rank_;
  };

  /// Waits until `is_done`. Throws if that takes longer than any test.
  template <class IsDone>
  void await(std::unique_lock<std::mutex>& lock, const IsDone& is_done) {
    constexpr std::chrono::hours patience{1};
    if (!changed_.wait_for(lock, patience, is_done)) throw std::runtime_error("nobody answers");
  }

  void send(const Ends& ends, Message message) {
    std::unique_lock lock(mutex_);
    ++messages;
    empty_messages += message.empty() ? 1 : 0;
    messages_[ends].push_back(std::move(message));
    changed_.notify_all();
    await(lock, [&] { return messages_[ends].empty(); });
  }

  Message receive(const Ends& ends) {
    std::unique_lock lock(mutex_);
    await(lock, [&] { return !messages_[ends].empty(); });
    Message message = std::move(messages_[ends].front());
    messages_[ends].pop_front();
    changed_.notify_all();
    return message;
  }

  int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<Ends, std::deque<Message>> messages_;
};

}  // namespace rankcheck::gpu::hybrid

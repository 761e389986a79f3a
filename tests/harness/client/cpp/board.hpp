#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <vector>

#include <rankcheck/subject.hpp>

/// Where the threads of a group exchange copies of what they send.
namespace rankcheck::tests {

class Board {
 public:
  /// What a member sent.
  struct Slot {
    std::vector<unsigned char> bytes;
    std::vector<Block> blocks;
    std::vector<unsigned char> scalar;
    Type type = Type::f32;

    template <class T>
    [[nodiscard]] Span<const T> as() const {
      return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }
    /// Row or array `i`, or the whole buffer if it is one array.
    template <class T>
    [[nodiscard]] Span<const T> block(std::size_t i) const {
      if (blocks.empty()) return as<T>();
      return {as<T>().data() + blocks.at(i).start, blocks.at(i).count};
    }
  };

  explicit Board(std::vector<int> ranks) : ranks_(std::move(ranks)), slots_(ranks_.size()) {}

  [[nodiscard]] const std::vector<int>& ranks() const { return ranks_; }
  [[nodiscard]] const Slot& slot(std::size_t rank) const { return slots_.at(rank); }

  /// A later exchange throws std::out_of_range.
  void close() { slots_.clear(); }

  /// No member leaves before all have come.
  void meet() {
    std::unique_lock lock(mutex_);
    const std::size_t turn = turn_;
    if (++waiting_ == slots_.size()) {
      waiting_ = 0;
      ++turn_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return turn != turn_; });
  }

  /// Copies what a member sends. Afterwards, the slots of all members are filled until meet().
  void exchange(const Call& call, const Buffer& send) {
    Slot& slot = slots_.at(static_cast<std::size_t>(call.rank));
    const auto* const bytes = static_cast<const unsigned char*>(send.data());
    slot.bytes.assign(bytes, bytes + send.bytes());
    slot.blocks = send.blocks();
    slot.type = call.type;
    meet();
  }

  /// The factor of a member for premul_sum.
  template <class T>
  void give_scalar(const Call& call) {
    const T scalar = call.scalar<T>();
    auto& bytes = slots_.at(static_cast<std::size_t>(call.rank)).scalar;
    bytes.resize(sizeof scalar);
    std::memcpy(bytes.data(), &scalar, sizeof scalar);
  }
  template <class T>
  [[nodiscard]] T scalar(std::size_t rank) const {
    T value;
    std::memcpy(&value, slots_.at(rank).scalar.data(), sizeof value);
    return value;
  }

 private:
  std::vector<int> ranks_;
  std::vector<Slot> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t waiting_ = 0;
  std::size_t turn_ = 0;
};

}  // namespace rankcheck::tests

/// A subject whose ranks are threads of one process: they read one another's buffers.
#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <mutex>
#include <vector>

#include <rankcheck/subject.hpp>

namespace {

using rankcheck::Buffer;
using rankcheck::Call;
using rankcheck::Op;

/// What the members of a group share.
class Board {
 public:
  explicit Board(std::size_t members) : sent(members) {}

  /// No member leaves before all have come.
  void meet() {
    std::unique_lock lock(mutex_);
    const std::size_t turn = turn_;
    if (++waiting_ == sent.size()) {
      waiting_ = 0;
      ++turn_;
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return turn != turn_; });
  }

  std::vector<Buffer> sent;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t waiting_ = 0;
  std::size_t turn_ = 0;
};

template <class T>
T combine(Op op, T a, T b) {
  if (op == Op::min) return std::min(a, b);
  if (op == Op::max) return std::max(a, b);
  return op == Op::sum ? a + b : a * b;
}

void all_reduce(const Call& call, Buffer send, Buffer recv) {
  auto& board = call.group<Board>();
  board.sent[static_cast<std::size_t>(call.rank)] = send;
  board.meet();
  rankcheck::with_type<std::uint32_t, float, double>(call.type, [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> result(send.as<T>().begin(), send.as<T>().end());
    for (std::size_t q = 0; q < board.sent.size(); ++q) {
      for (std::size_t i = 0; i < result.size(); ++i) {
        const T other = board.sent[q].as<T>()[i];
        result[i] = q == 0 ? other : combine(call.op, result[i], other);
      }
    }
    // In place, others still read what the result replaces.
    board.meet();
    std::copy(result.begin(), result.end(), recv.as<T>().begin());
  });
}

void broadcast(const Call& call, Buffer send, Buffer recv) {
  auto& board = call.group<Board>();
  board.sent[static_cast<std::size_t>(call.rank)] = send;
  board.meet();
  const Buffer source = board.sent[static_cast<std::size_t>(call.root)];
  // In place, the root has its result already, and others read it.
  if (recv.data() != source.data()) std::memcpy(recv.data(), source.data(), recv.bytes());
  board.meet();
}

}  // namespace

// Without memory, this program may end by an exception.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  rankcheck::Subject subject("threads");
  subject.types("uint32 f32 f64").deterministic();
  subject.group([](const std::vector<int>& ranks) { return Board(ranks.size()); });
  subject.barrier([](const Call& call) { call.group<Board>().meet(); });
  subject.all_reduce("sum prod min max", all_reduce).in_place();
  subject.broadcast(broadcast).in_place();
  return subject.serve(argc, argv);
}

/// A right subject with every collective. Its ranks are threads. `--bug NAME` plants a bug.
/// `--device` puts the buffers into memory of its own.
#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <rankcheck/subject.hpp>
#include <unistd.h>

#include "tests/harness/client/cpp/board.hpp"
#include "tests/harness/client/cpp/device.hpp"

namespace rankcheck::tests {
namespace {

std::string bug;
constexpr const char* all_ops = "sum prod min max avg premul_sum band bor bxor land lor lxor";

std::size_t place(int rank) {
  return static_cast<std::size_t>(rank);
}

/// Integers wrap.
template <class T>
T plus(T a, T b) {
  if constexpr (!std::is_integral_v<T>) return a + b;
  return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

template <class T>
T times(T a, T b) {
  if constexpr (!std::is_integral_v<T>) return a * b;
  return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// The number of terms need not fit into the element type.
template <class T>
T average(T sum, std::size_t terms) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::int64_t>(sum) / static_cast<std::int64_t>(terms));
  } else {
    return sum / static_cast<T>(terms);
  }
}

/// Combines integers bit by bit, or as truth values.
template <class T>
T combine_bits(Op op, T a, T b) {
  if (op == Op::band) return static_cast<T>(a & b);
  if (op == Op::bor) return static_cast<T>(a | b);
  if (op == Op::bxor) return static_cast<T>(a ^ b);
  if (op == Op::land) return static_cast<T>(a != 0 && b != 0);
  if (op == Op::lor) return static_cast<T>(a != 0 || b != 0);
  return static_cast<T>((a != 0) != (b != 0));
}

template <class T>
T combine(Op op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (op >= Op::band) return combine_bits(op, a, b);
  }
  if (op == Op::min) return std::min(a, b);
  if (op == Op::max) return std::max(a, b);
  return op == Op::prod ? times(a, b) : plus(a, b);
}

/// Meets the others, and lets a planted bug happen. Returns what all members send.
Board& exchange(const Call& call, const Buffer& send) {
  require_device(send);
  if (bug == "raises" && call.rank == 1) throw std::runtime_error("no route\nto rank 0");
  if (bug == "hangs" && call.rank == 1)
    for (;;) ::pause();
  if (bug == "exits" && call.rank == 1) std::_Exit(3);
  if (bug == "crashes" && call.rank == 1) std::abort();
  auto& board = call.group<Board>();
  if (call.op == Op::premul_sum) {
    with_real_type(call.type, [&](auto zero) { board.give_scalar<decltype(zero)>(call); });
  }
  board.exchange(call, send);
  return board;
}

/// Writes the reduction of block `i` of all members.
void reduce_block(const Call& call, const Board& board, std::size_t i, const Buffer& out) {
  require_device(out);
  with_real_type(call.type, [&](auto zero) {
    using T = decltype(zero);
    const std::size_t skipped = bug == "last_element" ? 1 : 0;
    for (std::size_t k = 0; k + skipped < out.count(); ++k) {
      T value{};
      for (std::size_t q = 0; q < board.ranks().size(); ++q) {
        T other = board.slot(q).block<T>(i)[k];
        if (call.op == Op::premul_sum) other = times(board.scalar<T>(q), other);
        value = q == 0 ? other : combine(call.op, value, other);
      }
      if (call.op == Op::avg) value = average(value, place(call.size));
      out.as<T>()[k] = value;
    }
  });
}

/// Copies block `i` of a member.
void copy_block(const Board& board, std::size_t member, std::size_t i, const Buffer& out) {
  require_device(out);
  const Board::Slot& slot = board.slot(member);
  const std::size_t element = element_bytes(out.type());
  const std::size_t start = slot.blocks.empty() ? 0 : slot.blocks.at(i).start * element;
  if (out.bytes() > 0) std::memcpy(out.data(), slot.bytes.data() + start, out.bytes());
}

/// The root, unless it is ignored.
std::size_t root_of(const Call& call) {
  return bug == "wrong_root" ? 0 : place(call.root);
}

/// The member whose data belong into block q, unless the order of the group is ignored.
std::size_t member_for(const Board& board, std::size_t q) {
  if (bug != "group_ignored") return q;
  std::vector<int> sorted = board.ranks();
  std::sort(sorted.begin(), sorted.end());
  return place(static_cast<int>(std::find(board.ranks().begin(), board.ranks().end(), sorted[q]) -
                                board.ranks().begin()));
}

/// What a member does with the data of all, before one of them leaves.
using Work = void (*)(const Call& call, const Board& board, const Buffer& recv);

auto exchanged(Work work) {
  return [work](const Call& call, const Buffer& send, const Buffer& recv) {
    Board& board = exchange(call, send);
    work(call, board, recv);
    board.meet();
  };
}

void all_reduce(const Call& call, const Board& board, const Buffer& recv) {
  reduce_block(call, board, 0, recv);
}

void reduce(const Call& call, const Board& board, const Buffer& recv) {
  if (place(call.rank) == root_of(call)) reduce_block(call, board, 0, recv);
}

void reduce_list(const Call& call, const Board& board, const Buffer& recv) {
  const bool gets = call.operation == "all_reduce_list" || place(call.rank) == root_of(call);
  for (std::size_t i = 0; gets && i < recv.size(); ++i) reduce_block(call, board, i, recv[i]);
}

void reduce_scatter(const Call& call, const Board& board, const Buffer& recv) {
  reduce_block(call, board, place(call.rank), recv);
}

void reduce_axis(const Call& call, const Board& board, const Buffer& recv) {
  if (place(call.rank) == root_of(call)) {
    with_real_type(call.type, [&](auto zero) {
      using T = decltype(zero);
      for (std::size_t k = 0; k < recv.count(); ++k) {
        T value{};
        std::size_t length = 0;
        for (std::size_t q = 0; q < call.counts.size(); ++q) {
          for (std::size_t j = 0; j < call.counts[q]; ++j) {
            const std::size_t row = k / call.inner * call.counts[q] + j;
            const T other = board.slot(q).as<T>()[row * call.inner + k % call.inner];
            value = length++ == 0 ? other : combine(call.op, value, other);
          }
        }
        if (call.op == Op::avg && length > 0) value = average(value, length);
        recv.as<T>()[k] = value;
      }
    });
  }
}

void gather_axis(const Call& call, const Board& board, const Buffer& recv) {
  if (call.operation == "all_gather_axis" || place(call.rank) == root_of(call)) {
    auto* out = static_cast<unsigned char*>(recv.data());
    for (std::size_t a = 0; a < call.outer; ++a) {
      for (std::size_t q = 0; q < call.counts.size(); ++q) {
        const std::size_t bytes = call.counts[q] * call.inner * element_bytes(call.type);
        if (bytes > 0) std::memcpy(out, board.slot(q).bytes.data() + a * bytes, bytes);
        out += bytes;
      }
    }
  }
}

void gather(const Call& call, const Board& board, const Buffer& recv) {
  const bool gets = call.operation.compare(0, 3, "all") == 0 || place(call.rank) == root_of(call);
  for (std::size_t q = 0; gets && q < recv.size(); ++q) {
    copy_block(board, member_for(board, q), 0, recv[q]);
  }
}

void scatter(const Call& call, const Board& board, const Buffer& recv) {
  copy_block(board, root_of(call), place(call.rank), recv);
}

void all_to_all(const Call& call, const Board& board, const Buffer& recv) {
  for (std::size_t q = 0; q < recv.size(); ++q) copy_block(board, q, place(call.rank), recv[q]);
}

void broadcast(const Call& call, const Board& board, const Buffer& recv) {
  copy_block(board, root_of(call), 0, recv);
}

void broadcast_list(const Call& call, const Board& board, const Buffer& recv) {
  for (std::size_t i = 0; i < recv.size(); ++i) copy_block(board, root_of(call), i, recv[i]);
}

void send_recv(const Call& call, const Board& board, const Buffer& recv) {
  if (call.source) copy_block(board, place(*call.source), 0, recv);
}

void offer_all(Subject& subject) {
  subject.barrier([](const Call& call) { call.group<Board>().meet(); });
  subject.all_reduce(all_ops, exchanged(all_reduce)).in_place();
  subject.reduce(all_ops, exchanged(reduce)).in_place();
  subject.all_reduce_list(all_ops, exchanged(reduce_list)).in_place();
  subject.reduce_list(all_ops, exchanged(reduce_list)).in_place();
  subject.reduce_scatter(all_ops, exchanged(reduce_scatter)).in_place();
  subject.reduce_scatter_v(all_ops, exchanged(reduce_scatter)).in_place();
  subject.reduce_axis("sum prod min max avg", exchanged(reduce_axis));
  subject.all_gather(exchanged(gather)).in_place();
  subject.all_gather_v(exchanged(gather)).in_place();
  subject.gather(exchanged(gather)).in_place();
  subject.gather_v(exchanged(gather)).in_place();
  subject.all_gather_axis(exchanged(gather_axis));
  subject.gather_axis(exchanged(gather_axis));
  subject.scatter(exchanged(scatter)).in_place();
  subject.scatter_v(exchanged(scatter)).in_place();
  subject.all_to_all(exchanged(all_to_all)).in_place();
  subject.all_to_all_v(exchanged(all_to_all));
  subject.broadcast(exchanged(broadcast)).in_place();
  subject.broadcast_list(exchanged(broadcast_list)).in_place();
  subject.send_recv(exchanged(send_recv));
}

}  // namespace
}  // namespace rankcheck::tests

// Without memory, this program may end by an exception.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  rankcheck::Subject subject("every");
  subject.types("uint8 int32 f32 f64").deterministic();
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--bug" && i + 1 < argc) rankcheck::tests::bug = argv[i + 1];
    if (word == "--device") subject.memory(rankcheck::tests::device_memory());
    if (word == "--deadline") subject.deadline(0.5);
  }
  subject.group([](const std::vector<int>& ranks) { return rankcheck::tests::Board(ranks); },
                [](rankcheck::tests::Board& board) { board.close(); },
                2);
  rankcheck::tests::offer_all(subject);
  return subject.serve(argc, argv);
}

/// The ready subject threads.cpp with a bug in each of its functions: `planted_threads BUG`.
#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <rankcheck/subject.hpp>
#include <unistd.h>

// A subject is one source without a header, and its functions have no other name outside. The
// headers that it includes are above, so that only its own names come into this namespace.
namespace ready {
#include "cases/subjects/threads.cpp"  // NOLINT(bugprone-suspicious-include)
}  // namespace ready

namespace {

using rankcheck::Function;
using ready::Board;
using ready::Buffer;
using ready::Call;
using ready::Op;

std::string bug;

/// What a function may do wrong beside its result. One member does it, and the others wait for it.
void misbehave(const Call& call, const Buffer& recv) {
  if (call.rank != 1) return;
  if (bug == "raises") throw std::runtime_error("no route to the root");
  if (bug == "hangs")
    for (;;) ::pause();
  if (bug == "exits") std::_Exit(3);
  if (bug == "aborts") std::abort();
  if (bug == "prints") std::printf("hello from rank %d\n", call.rank), std::fflush(stdout);
  if (bug == "wrong_type") static_cast<void>(recv.as<char>());
}

/// The calls of a broadcast that goes on when all members but one have come.
class Meetings {
 public:
  /// If the root comes last, nothing is there yet, or what an earlier call has left.
  void broadcast(const Call& call, Buffer send, Buffer recv) {
    std::unique_lock lock(mutex_);
    Meeting& here = of_group_[call.ranks];
    if (send) {
      const auto* const begin = static_cast<const unsigned char*>(send.data());
      here.left.assign(begin, begin + send.bytes());
    }
    ++here.come;
    const std::size_t due = ++here.calls[call.rank] * call.ranks.size() - 1;
    changed_.notify_all();
    changed_.wait(lock, [&] { return here.come >= due; });
    std::copy_n(here.left.begin(),
                std::min(recv.bytes(), here.left.size()),
                static_cast<unsigned char*>(recv.data()));
  }

  /// Waits until only one member of a group has not come.
  void await_all_but_one() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return std::any_of(of_group_.begin(), of_group_.end(), [](const auto& each) {
        return (each.second.come + 1) % each.first.size() == 0;
      });
    });
  }

 private:
  struct Meeting {
    std::map<int, std::size_t> calls;
    std::size_t come = 0;
    std::vector<unsigned char> left;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::vector<int>, Meeting> of_group_;
};

Meetings& meetings() {
  static Meetings all;
  return all;
}

void planted_broadcast(const Call& call, Buffer send, Buffer recv) {
  misbehave(call, recv);
  if (bug == "unawaited_root") return meetings().broadcast(call, send, recv);
  Call other = call;
  if (bug == "wrong_root") other.root = (call.root + 1) % call.size;
  // Roots are places in the group. Here they are taken for ranks of the world.
  if (bug == "group_ignored") {
    other.root = call.ranks[static_cast<std::size_t>(call.root)] % call.size;
  }
  // Only the root has something to send. Here every rank has, and the wrong one is taken.
  ready::broadcast(other, send ? send : recv, recv);
}

/// Gives what the call before this one gave, if the two differ in their data only.
void give_stale(const Call& call, Buffer recv) {
  using Shape = std::tuple<rankcheck::Type, Op, std::vector<int>, std::size_t>;
  struct Result {
    Shape shape;
    std::vector<unsigned char> bytes;
  };
  static std::mutex mutex;
  static std::map<int, Result> before;
  const auto* const begin = static_cast<const unsigned char*>(recv.data());
  Result result{{call.type, call.op, call.ranks, recv.bytes()}, {begin, begin + recv.bytes()}};
  const std::lock_guard lock(mutex);
  Result& last = before[call.rank];
  if (last.shape == result.shape) std::memcpy(recv.data(), last.bytes.data(), recv.bytes());
  last = std::move(result);
}

void planted_all_reduce(const Call& call, Buffer send, Buffer recv) {
  ready::all_reduce(call, send, recv);
  const std::size_t element = rankcheck::element_bytes(recv.type());
  auto* const bytes = static_cast<unsigned char*>(recv.data());
  if (bug == "last_element" && recv.count() > 0) {
    std::memmove(bytes + recv.bytes() - element, bytes, element);
  }
  if (bug == "stale_buffer") give_stale(call, recv);
}

/// What roots have sent in each call of each group.
class Mailboxes {
 public:
  /// Starts a call of a member. Returns what writes its result when the root's data is there.
  rankcheck::End start(const Call& call, Buffer send, Buffer recv) {
    const std::lock_guard lock(mutex_);
    const std::size_t number = calls_[call.ranks][call.rank]++;
    if (call.rank == call.root) {
      const auto* const begin = static_cast<const unsigned char*>(send.data());
      sent_[call.ranks][number].assign(begin, begin + send.bytes());
      changed_.notify_all();
    }
    return [this, number, ranks = call.ranks, recv] {
      std::unique_lock waiting(mutex_);
      changed_.wait(waiting, [&] { return sent_[ranks].count(number) > 0; });
      const std::vector<unsigned char>& data = sent_[ranks][number];
      std::copy(data.begin(), data.end(), static_cast<unsigned char*>(recv.data()));
    };
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::vector<int>, std::map<int, std::size_t>> calls_;
  std::map<std::vector<int>, std::map<std::size_t, std::vector<unsigned char>>> sent_;
};

/// With `wrong_wait`, the wait for a call ends the oldest one of the rank that is under way.
rankcheck::End started_broadcast(const Call& call, Buffer send, Buffer recv) {
  static Mailboxes mailboxes;
  thread_local std::vector<std::shared_ptr<rankcheck::End>> under_way;
  const auto own = std::make_shared<rankcheck::End>(mailboxes.start(call, send, recv));
  under_way.push_back(own);
  return [own] {
    const auto place = bug == "wrong_wait" ? under_way.begin()
                                           : std::find(under_way.begin(), under_way.end(), own);
    const auto next = *place;
    under_way.erase(place);
    (*next)();
  };
}

}  // namespace

/// Takes the place of the system's function by which std::this_thread waits, and with it of the
/// pause of a late rank before its call. The pause of `unawaited_root` ends when the others have
/// come, however slow the machine is. Nothing else here needs a pause.
extern "C" int nanosleep(const timespec* /*time*/, timespec* /*left*/) {
  if (bug == "unawaited_root") {
    meetings().await_all_but_one();
  } else {
    std::this_thread::yield();
  }
  return 0;
}

// Without memory, this program may end by an exception.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  if (argc < 2) return ready::main(argc, argv);
  bug = argv[1];
  rankcheck::Subject subject("planted_threads");
  subject.types("uint32 f32 f64").deterministic();
  const auto make_group = [](const std::vector<int>& ranks) { return Board(ranks.size()); };
  // One communicator is kept, so that calls of several groups are made one by one.
  subject.group(
      make_group, [](Board&) {}, bug == "raises" ? 1 : 64);
  subject.all_reduce("sum prod min max", planted_all_reduce).in_place();
  const bool only_starts = bug == "wrong_wait" || bug == "right_wait";
  subject.broadcast(only_starts ? Function(started_broadcast) : planted_broadcast).in_place();
  return subject.serve(argc - 1, argv + 1);
}

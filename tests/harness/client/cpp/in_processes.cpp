/// A right subject whose ranks are processes. They share a file. `--bug NAME` plants a bug.
#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <linux/futex.h>
#include <rankcheck/subject.hpp>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rankcheck::tests {
namespace {

/// What all processes share. Fresh files are full of zeros.
struct Shared {
  std::atomic<int> waiting;
  std::atomic<int> turn;
  unsigned char data[1 << 20];
};

Shared* shared = nullptr;
int world = 0;

void open_shared(const Me& me) {
  world = me.world;
  const int file = ::open(me.shared_file.c_str(), O_RDWR | O_CREAT, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(Shared)) != 0) throw std::runtime_error("no file");
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory");
  shared = static_cast<Shared*>(memory);
  ::close(file);
}

/// Waits while the turn is `value`, or wakes `value` processes that wait so. std::atomic::wait()
/// would not be woken by another process.
void on_turn(int what, int value) {
  ::syscall(SYS_futex, &shared->turn, what, value, nullptr, nullptr, 0);
}

void meet() {
  const int turn = shared->turn;
  if (++shared->waiting == world) {
    shared->waiting = 0;
    ++shared->turn;
    return on_turn(FUTEX_WAKE, INT_MAX);
  }
  while (turn == shared->turn) on_turn(FUTEX_WAIT, turn);
}

void broadcast(const std::string& bug, const Call& call, Buffer send, Buffer recv) {
  if (call.rank == 1 && bug == "exits") std::_Exit(7);
  if (call.rank == 1 && bug == "raises") throw std::runtime_error("no route to the root");
  if (call.rank == 1 && bug == "hangs")
    for (;;) ::pause();
  if (send.bytes() > sizeof shared->data) throw std::length_error("too many bytes");
  if (call.is_root() && send.bytes() > 0) std::memcpy(shared->data, send.data(), send.bytes());
  meet();
  const std::size_t skipped = bug == "last_element" ? element_bytes(call.type) : 0;
  if (recv.bytes() > skipped) std::memcpy(recv.data(), shared->data, recv.bytes() - skipped);
  if (bug == "writes_beyond") static_cast<unsigned char*>(recv.data())[recv.bytes()] ^= 1;
  meet();
}

}  // namespace
}  // namespace rankcheck::tests

// Without memory, this program may end by an exception.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  const std::string bug = argc > 2 && std::string(argv[1]) == "--bug" ? argv[2] : "";
  rankcheck::Subject subject("in-processes");
  subject.launch(rankcheck::processes()).groups("world");
  if (bug == "hangs") subject.deadline(0.3);
  subject.setup(rankcheck::tests::open_shared);
  subject.barrier([](const rankcheck::Call&) { rankcheck::tests::meet(); });
  subject.broadcast([&](const auto& call, auto send, auto recv) {
    rankcheck::tests::broadcast(bug, call, send, recv);
  });
  return subject.serve(argc, argv);
}

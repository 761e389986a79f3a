#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

/// Work that waits for other work, and is done late and in an order that nothing but its waits
/// decides: where one is missing, sooner or later the result shows it.
///
/// What it does not show: reading behind the end of what is allocated, which gives some bytes;
/// writing there before somebody waits for the device; two kernels, or the threads of one, that run
/// at the same time; what copying costs.
namespace rankcheck::stand_in {

/// One piece of work of a device.
struct Task {
  int device = 0;
  /// The devices, as bits, whose memory it may touch.
  std::uint64_t opens = 0;
  /// Null where there is nothing to do but to have waited.
  std::function<void()> work = nullptr;
  /// What has to be done before; empty afterwards.
  std::vector<std::shared_ptr<Task>> waits = {};
  bool done = false;
  std::int64_t done_ns = 0;
};
using TaskPtr = std::shared_ptr<Task>;

/// Of this program. Runs work in the thread that waits for it.
class Scheduler {
 public:
  static Scheduler& get();

  /// `task.waits` may have nulls. Some work, whichever, may be done on the way.
  TaskPtr add(Task task);
  /// Does it, and before it whatever it waits for. Other work may be done before, or be left.
  void finish(const TaskPtr& task);
  /// Does all work of a device.
  void finish_device(int device);
  /// A number below `count`.
  std::uint64_t draw(std::uint64_t count);

 private:
  /// How soon work is done that nobody waits for, drawn anew when all is done.
  enum class Mood : std::uint8_t { never, at_waits, at_once };

  Scheduler();
  void finish_now(const TaskPtr& task);
  void run(Task& task);
  void finish_some(std::uint64_t count);
  void forget_done();

  std::vector<TaskPtr> pending_;
  std::size_t forget_at_ = 64;
  std::uint64_t state_;
  Mood mood_ = Mood::never;
};

}  // namespace rankcheck::stand_in

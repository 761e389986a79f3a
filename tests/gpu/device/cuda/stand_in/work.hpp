#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

/// Work that waits for other work. It is done late, in any order that its waits allow, so a missing
/// wait shows in a result sooner or later.
///
/// Not detected:
/// - reads past the end of an allocation, which return some bytes;
/// - writes there before somebody waits for the device;
/// - errors of two kernels, or of threads of one kernel, that run at the same time.
/// The time that copies take is not modelled.
namespace rankcheck::stand_in {

/// One piece of work of a device.
struct Task {
  int device = 0;
  /// The devices (a bit mask) whose memory the work may access.
  std::uint64_t opens = 0;
  /// Null if the task only waits.
  std::function<void()> work = nullptr;
  /// Work that must be done before; empty afterwards.
  std::vector<std::shared_ptr<Task>> waits = {};
  bool done = false;
  std::int64_t done_ns = 0;
};
using TaskPtr = std::shared_ptr<Task>;

/// The program's only scheduler. Work runs in the thread that waits for it.
class Scheduler {
 public:
  static Scheduler& get();

  /// Adds a task; `task.waits` may contain nulls. Some arbitrary work may be done during this call.
  TaskPtr add(Task task);
  /// Does the task, after everything that it waits for. Other work may be done before it or be
  /// left.
  void finish(const TaskPtr& task);
  /// Does all work of a device.
  void finish_device(int device);
  /// Returns a random number below `count`.
  std::uint64_t draw(std::uint64_t count);

 private:
  /// Timing of work that nobody waits for. A new mood is drawn when all work is done.
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

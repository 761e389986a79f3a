#include "tests/gpu/device/cuda/stand_in/work.hpp"

#include <chrono>
#include <cstdlib>

#include "reference/spec/split_mix.hpp"

#include "tests/gpu/device/cuda/stand_in/memory.hpp"

namespace rankcheck::stand_in {

namespace {

std::int64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace

Scheduler& Scheduler::get() {
  // The scheduler is never destroyed: streams and events may outlive static objects.
  static auto* const scheduler = new Scheduler;
  return *scheduler;
}

Scheduler::Scheduler() {
  const char* seed = std::getenv("RANKCHECK_STAND_IN_SEED");
  state_ = seed == nullptr ? 1 : std::strtoull(seed, nullptr, 10);
}

std::uint64_t Scheduler::draw(std::uint64_t count) {
  state_ += spec::golden_gamma;
  return spec::split_mix(state_) % count;
}

TaskPtr Scheduler::add(Task task) {
  if (pending_.empty()) mood_ = static_cast<Mood>(draw(3));
  std::erase_if(task.waits, [](const TaskPtr& each) { return each == nullptr || each->done; });
  pending_.push_back(std::make_shared<Task>(std::move(task)));
  TaskPtr added = pending_.back();
  if (mood_ == Mood::at_once) finish_some(draw(3));
  open_memory(0);
  return added;
}

void Scheduler::finish(const TaskPtr& task) {
  if (mood_ != Mood::never) finish_some(draw(8));
  if (task != nullptr) finish_now(task);
  open_memory(0);
  forget_done();
}

void Scheduler::finish_device(int device) {
  const std::vector<TaskPtr> all = pending_;
  for (const TaskPtr& each : all) {
    if (each->device == device) finish_now(each);
  }
  open_memory(0);
  forget_done();
}

void Scheduler::finish_some(std::uint64_t count) {
  for (std::uint64_t k = 0; k < count && !pending_.empty(); ++k) {
    finish_now(pending_[draw(pending_.size())]);
  }
  if (pending_.size() > forget_at_) forget_done();
}

void Scheduler::finish_now(const TaskPtr& task) {
  std::vector<TaskPtr> path{task};
  while (!path.empty()) {
    Task& last = *path.back();
    std::erase_if(last.waits, [](const TaskPtr& each) { return each->done; });
    if (!last.waits.empty()) {
      path.push_back(last.waits[draw(last.waits.size())]);
      continue;
    }
    if (!last.done) run(last);
    path.pop_back();
  }
}

void Scheduler::run(Task& task) {
  if (task.work) {
    open_memory(task.opens);
    task.work();
  }
  task.work = nullptr;
  task.done = true;
  task.done_ns = now_ns();
}

void Scheduler::forget_done() {
  std::erase_if(pending_, [](const TaskPtr& each) { return each->done; });
  forget_at_ = 64 + 2 * pending_.size();
}

}  // namespace rankcheck::stand_in

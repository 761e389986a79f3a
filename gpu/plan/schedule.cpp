#include "gpu/plan/schedule.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <numeric>

#include "reference/spec/assert.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::plan {

std::string to_text(const Schedule& schedule) {
  switch (schedule.policy) {
    case Schedule::Policy::random:
      return "random:" + std::to_string(schedule.seed);
    case Schedule::Policy::pct:
      return "pct:" + std::to_string(schedule.seed);
    default:
      return "in_order";
  }
}

std::optional<Schedule> parse_schedule(std::string_view text) {
  if (text == "in_order") return Schedule{};
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  Schedule schedule;
  const std::string_view policy = text.substr(0, colon);
  if (policy != "random" && policy != "pct") return std::nullopt;
  schedule.policy = policy == "pct" ? Schedule::Policy::pct : Schedule::Policy::random;
  const char* const end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data() + colon + 1, end, schedule.seed);
  if (error != std::errc{} || parsed != end) return std::nullopt;
  return schedule;
}

void Scheduler::begin(const Plan& plan, const Schedule& schedule) {
  plan_ = &plan;
  schedule_ = schedule;
  random_ = Random(schedule.seed);
  const auto n = spec::to_size(plan.ranks());
  const auto events = spec::to_size(plan.events);
  steps_.assign(n, Move::entry);
  ready_.clear();
  held_.clear();
  order_ = plan.order;
  std::sort(order_.begin(), order_.end());
  awaited_.assign(n, 0);
  for (const auto& [before, after] : order_) ++awaited_[spec::to_size(after)];
  is_late_.assign(n, 0);
  for (const std::int32_t rank : plan.late) is_late_[spec::to_size(rank)] = 1;
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    if (awaited_[spec::to_size(rank)] == 0) admit(rank);
  }
  happened_.assign(events, 0);
  first_waiter_.assign(events, -1);
  next_waiter_.assign(n, -1);
  current_.reset();
  moves_ = 0;
  left_ = 0;
  if (schedule.policy == Schedule::Policy::pct) begin_pct();
}

void Scheduler::admit(std::int32_t rank) {
  (is_late_[spec::to_size(rank)] != 0 ? held_ : ready_).push_back(rank);
}

void Scheduler::begin_pct() {
  const auto n = static_cast<std::uint32_t>(plan_->ranks());
  priority_.resize(n);
  std::iota(priority_.begin(), priority_.end(), 1);
  for (std::uint32_t i = n; i > 1; --i) std::swap(priority_[i - 1], priority_[random_.below(i)]);
  std::size_t moves = 2 * std::size_t{n};
  for (const auto& program : plan_->steps) moves += program.size();
  change_at_.clear();
  for (int i = 0; i < change_points; ++i) {
    change_at_.push_back(random_.below(static_cast<std::uint32_t>(moves)));
  }
}

std::optional<Move> Scheduler::next() {
  settle();
  if (ready_.empty()) {
    ready_.swap(held_);
    // The rank that moved last can go no further, so its place says nothing any more.
    current_.reset();
  }
  if (ready_.empty()) return std::nullopt;
  current_slot_ = choose();
  RANKCHECK_ASSERT(current_slot_ < ready_.size());
  current_ = position(ready_[current_slot_]);
  ++moves_;
  return current_;
}

void Scheduler::stop(const Move& move) {
  if (!current_ || current_->rank != move.rank) return;
  ready_[current_slot_] = ready_.back();
  ready_.pop_back();
  current_.reset();
}

std::size_t Scheduler::choose() {
  switch (schedule_.policy) {
    case Schedule::Policy::random:
      return random_.below(static_cast<std::uint32_t>(ready_.size()));
    case Schedule::Policy::pct:
      return choose_pct();
    default:
      break;
  }
  if (current_ && current_slot_ < ready_.size() && ready_[current_slot_] == current_->rank) {
    return current_slot_;
  }
  return spec::to_size(std::min_element(ready_.begin(), ready_.end()) - ready_.begin());
}

std::size_t Scheduler::choose_pct() {
  const auto leader = [&] {
    const auto lower = [&](std::int32_t a, std::int32_t b) {
      return priority_[spec::to_size(a)] < priority_[spec::to_size(b)];
    };
    return std::max_element(ready_.begin(), ready_.end(), lower) - ready_.begin();
  };
  for (std::size_t i = 0; i < change_at_.size(); ++i) {
    if (change_at_[i] != moves_) continue;
    const std::int32_t rank = ready_[spec::to_size(leader())];
    priority_[spec::to_size(rank)] = -static_cast<std::int64_t>(i);
  }
  return spec::to_size(leader());
}

void Scheduler::settle() {
  if (!current_) return;
  const auto rank = spec::to_size(current_->rank);
  const auto& program = plan_->steps[rank];
  const auto size = static_cast<std::int32_t>(program.size());
  const std::int32_t step = steps_[rank]++;
  // A rank that has left is not chosen again.
  RANKCHECK_ASSERT(step <= size);
  if (step == Move::entry) {
    happen(current_->rank);
  } else if (step < size && program[spec::to_size(step)].kind == StepKind::signal) {
    happen(program[spec::to_size(step)].event.id);
  }
  bool goes_on = step < size;
  if (!goes_on) {
    ++left_;
    const std::pair<std::int32_t, std::int32_t> from{current_->rank, 0};
    for (auto next = std::lower_bound(order_.begin(), order_.end(), from);
         next != order_.end() && next->first == current_->rank;
         ++next) {
      if (--awaited_[spec::to_size(next->second)] == 0) admit(next->second);
    }
  }
  if (step + 1 < size) {
    const Step& following = program[spec::to_size(step + 1)];
    if (following.kind == StepKind::wait && !has_happened(following.event)) {
      std::int32_t& first = first_waiter_[spec::to_size(following.event.id)];
      next_waiter_[rank] = first;
      first = current_->rank;
      goes_on = false;
    }
  }
  if (goes_on) return;
  RANKCHECK_ASSERT(current_slot_ < ready_.size() && ready_[current_slot_] == current_->rank);
  ready_[current_slot_] = ready_.back();
  ready_.pop_back();
}

void Scheduler::happen(std::int32_t event) {
  const auto index = spec::to_size(event);
  RANKCHECK_ASSERT(event >= 0 && index < happened_.size());
  happened_[index] = 1;
  for (std::int32_t rank = first_waiter_[index]; rank >= 0;
       rank = next_waiter_[spec::to_size(rank)]) {
    ready_.push_back(rank);
  }
  first_waiter_[index] = -1;
}

}  // namespace rankcheck::gpu::plan

#include "cases/reconstruct/observer.hpp"

#include <cstdio>

#include <fmt/format.h>

namespace rankcheck::cases::reconstruct {

void Pace::checked(double seconds) {
  checks_ += 1;
  checks_s_ += seconds;
}

double Pace::each(std::int64_t iteration, double elapsed) const {
  return (elapsed - checks_s_) / static_cast<double>(iteration - first_);
}

double Pace::left(std::int64_t iteration, double elapsed) const {
  const double check = knows_checks() ? checks_s_ / checks_ : 0;
  return each(iteration, elapsed) * static_cast<double>(budget_.iterations - iteration) +
         check * static_cast<double>(checks_to_come(iteration));
}

std::int64_t Pace::checks_to_come(std::int64_t iteration) const {
  if (budget_.check_every == 0) return 0;
  return budget_.iterations * batches_ / budget_.check_every -
         iteration * batches_ / budget_.check_every;
}

void Progress::iterated(std::int64_t iteration, double cost) const {
  const double elapsed = std::chrono::duration<double>(Clock::now() - start_).count();
  const bool is_known = pace_.knows_checks() || pace_.checks_to_come(iteration) == 0;
  fmt::print("{}iteration {}/{}  cost {:.6g}  {:.3g} s each, {:.0f} s left{}{}",
             clearing(),
             iteration,
             iterations_,
             cost,
             pace_.each(iteration, elapsed),
             pace_.left(iteration, elapsed),
             is_known ? "" : " without checks",
             is_terminal_ ? "" : "\n");
  std::fflush(stdout);
}

void Progress::checking(std::int64_t step) {
  check_start_ = Clock::now();
  // If lines stay visible, prints only announcements of checks for which somebody may be waiting.
  constexpr double short_s = 2;
  if (!is_terminal_ && check_s_ > 0 && check_s_ < short_s) return;
  fmt::print("{}step {}: repeating it in the reference", clearing(), step);
  if (check_s_ > 0) fmt::print(", which took {:.3g} s before", check_s_);
  fmt::print("{}", is_terminal_ ? "" : "\n");
  std::fflush(stdout);
}

void Progress::checked(std::int64_t step, const StepCheck& check) {
  check_s_ = std::chrono::duration<double>(Clock::now() - check_start_).count();
  pace_.checked(check_s_);
  fmt::print("{}step {}: ", clearing(), step);
  fmt::print("error/bound {:.3g}, {}", check.ratio, check.place);
  if (check.useful < 1) fmt::print("; {:.3g} % have a useful bound", 100 * check.useful);
  if (!check.blind.empty()) fmt::print(", none in {}", check.blind);
  fmt::print("; {:.3g} s\n", check_s_);
  std::fflush(stdout);
}

void Progress::clear() const {
  fmt::print("{}", clearing());
}

void Checks::add(const StepCheck& check) {
  is_falsified_ = is_falsified_ || !(check.ratio <= 1);
  has_power_ = has_power_ || check.has_power;
}

void Checks::add_unequal(std::int64_t step, const std::string& copy) {
  if (!unequal_.empty()) return;
  unequal_ = fmt::format("after step {}, not all ranks have the same bits: {}", step, copy);
}

std::string Checks::complaint(bool were_wanted) const {
  if (!unequal_.empty()) return "falsified: " + unequal_;
  if (is_falsified_) return "falsified: a step is beyond its bound";
  if (were_wanted && !has_power_)
    return "vacuous: no step had a useful bound of the object or the probe";
  return {};
}

AnyProcess::AnyProcess(gpu::Cluster& cluster) : cluster_(cluster) {
  for (const int rank : cluster.local()) flags_.push_back(cluster.allocate(rank, sizeof(float)));
}

bool AnyProcess::says(bool mine) {
  const float flag = mine ? 1 : 0;
  const auto local = cluster_.local();
  for (std::size_t i = 0; i < local.size(); ++i) {
    cluster_.write(local[i], &flag, flags_[i], sizeof flag);
  }
  gpu::sum_over_ranks(cluster_, spec::Type::f32, 1, flags_);
  return cluster_.read_value(local.front(), reinterpret_cast<const float*>(flags_.front())) > 0;
}

}  // namespace rankcheck::cases::reconstruct

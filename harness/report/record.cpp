#include "harness/report/record.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rankcheck::harness {

namespace {

/// Merges a finding into the earlier findings of its unit.
void add_to(std::optional<Finding>& total, Finding finding) {
  if (total) {
    merge(*total, finding);
  } else {
    total = std::move(finding);
  }
}

}  // namespace

Record::Record(JournalHeader header)
    : header_(std::move(header)),
      environment_(header_.environment),
      findings_(header_.units.size()),
      took_s_(header_.units.size()) {
  if (!header_.known.is_null()) known_ = known_from_json(nlohmann::json(header_.known), "known");
  for (std::size_t i = 0; i < header_.units.size(); ++i) indices_[header_.units[i].id()] = i;
}

void Record::resume(nlohmann::ordered_json environment) {
  environment_ = std::move(environment);
  partial_.clear();
  end_.reset();
  spent_s_ += std::exchange(session_s_, 0);
}

void Record::add(JournalEntry entry) {
  const std::size_t index = index_of(entry.finding.unit);
  RANKCHECK_ASSERT(index < findings_.size());
  entry.finding.unit = header_.units[index];
  // A backend that ends badly adds a further finding to the last unit that it ran.
  const bool is_bad_end = entry.finding.cases == 0 && is_red(entry.finding.verdict);
  const bool is_second =
      done_.contains({entry.round, index}) || (!entry.whole && partial_.contains(index));
  if (is_second && !is_bad_end) {
    throw BadInput(fmt::format("finding: {}: got a second, expected one in round {}",
                               entry.finding.unit.id(),
                               entry.round));
  }
  session_s_ = std::max(session_s_, entry.at_s);
  took_s_[index] += entry.took_s;
  if (entry.whole) {
    add_to(findings_[index], std::move(entry.finding));
    done_.emplace(entry.round, index);
  } else {
    partial_[index] = std::move(entry.finding);
  }
}

void Record::end(JournalEnd end) {
  session_s_ = end.duration_s;
  end_ = std::move(end);
}

std::size_t Record::index_of(const Unit& unit) const {
  const auto found = indices_.find(unit.id());
  if (found == indices_.end()) {
    throw BadInput("finding: " + unit.id() + ": expected a unit of the journal's first line");
  }
  return found->second;
}

std::optional<Finding> Record::all_of(std::size_t index) const {
  std::optional<Finding> total = finding(index);
  const auto part = partial_.find(index);
  if (part != partial_.end()) add_to(total, part->second);
  return total;
}

Tally Record::tally() const {
  Tally total;
  for (std::size_t i = 0; i < findings_.size(); ++i) {
    if (const auto finding = all_of(i)) total.add(*finding);
  }
  return total;
}

Report Record::report() const {
  Report report;
  report.run = header_.run;
  report.ending = end_ ? end_->ending : "killed";
  report.environment = environment_;
  if (end_) {
    report.environment["finished"] = end_->finished;
    report.environment["duration_s"] = end_->duration_s;
    report.environment["rounds"] = end_->rounds;
  }
  for (const auto& [id, index] : indices_) {
    if (took_s_[index] > 0) report.environment["durations_s"][id] = took_s_[index];
  }
  for (std::size_t i = 0; i < findings_.size(); ++i) {
    std::optional<Finding> finding = all_of(i);
    if (finding && end_ && header_.cycles && lacks_coverage(*finding)) {
      finding->reason += fmt::format(": the run ended in round {}", end_->rounds);
    }
    if (finding) {
      report.findings.push_back(std::move(*finding));
    } else {
      ++report.not_run;
    }
  }
  const bool is_whole = report.ending == "completed" && report.not_run == 0;
  report.known = known_statuses(known_, environment_, report.findings, is_whole);
  const auto strict = header_.run.find("strict_known");
  report.is_strict = strict != header_.run.end() && *strict == true;
  return report;
}

}  // namespace rankcheck::harness

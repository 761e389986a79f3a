#include "harness/worker/worker_backend.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "harness/backend/capabilities.hpp"
#include "harness/backend/preference.hpp"
#include "harness/case/family.hpp"

namespace rankcheck::harness::worker {

WorkerBackend::WorkerBackend(WorkerOptions options) : options_(std::move(options)) {
  hello_ = session({}).hello();
}

std::vector<AlgorithmInfo> WorkerBackend::algorithms() const {
  std::vector<AlgorithmInfo> infos;
  for (const Algorithm& algorithm : hello_.algorithms) infos.push_back(algorithm.info);
  return infos;
}

const Algorithm* WorkerBackend::find(const Case& c) const {
  for (const Algorithm& algorithm : hello_.algorithms) {
    const bool is_named = algorithm.info.name == c.algorithm;
    if (algorithm.info.operation == c.operation && is_named) return &algorithm;
  }
  return nullptr;
}

std::vector<std::string> WorkerBackend::candidates(const Case& c) const {
  if (!c.algorithm.empty()) return {c.algorithm};
  std::vector<std::string> names;
  for (const Algorithm& algorithm : hello_.algorithms) {
    // All stages of one run share an environment, so only algorithms that run in any environment
    // are candidates.
    if (algorithm.info.operation == c.operation && algorithm.environment.empty()) {
      names.push_back(algorithm.info.name);
    }
  }
  std::ranges::sort(names, [&](const std::string& a, const std::string& b) {
    return preference(c, a) > preference(c, b);
  });
  return names;
}

const Capabilities* WorkerBackend::capabilities(std::string_view operation,
                                                std::string_view algorithm) const {
  const Algorithm* found = nullptr;
  for (const Algorithm& each : hello_.algorithms) {
    const bool is_named = algorithm.empty() || each.info.name == algorithm;
    if (each.info.operation != operation || !is_named) continue;
    // Cases that leave the algorithm open have no limits if there are several.
    if (found != nullptr) return nullptr;
    found = &each;
  }
  return found == nullptr ? nullptr : found->takes.get();
}

std::string WorkerBackend::ask_why_refused(const Case& c, Session& session) const {
  const Algorithm* const algorithm = find(c);
  if (algorithm == nullptr || algorithm->takes == nullptr) return session.why_refused(c);
  if (std::string why = session.why_ranks_refused(c); !why.empty()) return why;
  return algorithm->takes->why_refused(c);
}

void WorkerBackend::choose(std::span<Case> stages, Session& session) {
  for (Case& c : stages) {
    if (!c.algorithm.empty()) continue;
    for (const std::string& name : candidates(c)) {
      c.algorithm = name;
      if (ask_why_refused(c, session).empty()) break;
      c.algorithm.clear();
    }
  }
}

void WorkerBackend::retire() const {
  if (!session_) return;
  pending_ = session_->close();
  session_.reset();
  if (!pending_ || !pending_->is_slow_end) return;
  // A unit must not fail because a library ends slowly, for example on a busy machine.
  if (!std::exchange(has_warned_, true)) {
    fmt::print(stderr, "rankcheck: warning: {}; it was killed\n", pending_->reason);
  }
  pending_.reset();
}

void WorkerBackend::retire_unless(const Surroundings& surroundings) const {
  if (!session_ || (session_->usable() && surroundings_ == surroundings)) return;
  const bool is_fresh = session_->usable() && !session_->has_run();
  retire();
  // No run can have caused a bad end of workers that have run nothing.
  if (is_fresh) pending_.reset();
}

Session& WorkerBackend::session(const Surroundings& surroundings) const {
  if (!session_) {
    session_ = take_spare(surroundings);
    if (!session_) session_ = start(surroundings);
    surroundings_ = surroundings;
  }
  return *session_;
}

std::unique_ptr<Session> WorkerBackend::start(const Surroundings& surroundings) const {
  auto started = std::make_unique<Session>(options_, surroundings);
  if (!expects_restart_) {
    started->connect();
    return started;
  }
  std::unique_ptr<Session> spare;
  try {
    spare = std::make_unique<Session>(options_, surroundings);
  } catch (const std::exception&) {
    // Whoever needs the workers starts them again, and then tells why they do not start.
  }
  started->connect();
  try {
    if (spare) spare->connect();
    // Only now, because nobody may take workers that have not said hello.
    spare_ = std::move(spare);
    spare_surroundings_ = surroundings;
  } catch (const std::exception&) {
    // They may lack only what the others have.
  }
  return started;
}

std::unique_ptr<Session> WorkerBackend::take_spare(const Surroundings& surroundings) const {
  std::unique_ptr<Session> spare = std::move(spare_);
  if (!spare || spare_surroundings_ != surroundings || spare->failure()) return nullptr;
  return spare;
}

void WorkerBackend::restart(int ranks) {
  const auto started = [this](int number) { return number > 0 ? number : options_.ranks; };
  const bool is_fresh = session_ && session_->usable() && !session_->has_run() &&
                        started(surroundings_.ranks) == started(ranks) && !session_->failure();
  if (!is_fresh) session_.reset();
  if (spare_surroundings_.ranks != ranks) spare_.reset();
  expects_restart_ = false;
  pending_.reset();
  ranks_ = ranks;
  // Otherwise, why_refused() would ask as many ranks as the last case had.
  surroundings_.ranks = ranks;
}

std::string WorkerBackend::why_hosts_refused(const Case& c) const {
  if (c.hosts.empty()) return {};
  if (options_.command_on_hosts == nullptr) return "hosts: all ranks of this backend are on one";
  return options_.why_no_hosts == nullptr ? "" : options_.why_no_hosts(hello_, c.hosts);
}

Surroundings WorkerBackend::surroundings_of(std::span<const Case> stages) const {
  // A stage that leaves the algorithm open runs in any environment.
  Surroundings needed{.ranks = ranks_};
  for (const Case& c : stages) {
    const Algorithm* algorithm = find(c);
    if (algorithm != nullptr && !algorithm->environment.empty()) {
      needed.environment = algorithm->environment;
    }
    if (!c.hosts.empty()) needed.hosts = c.hosts;
  }
  return needed;
}

Surroundings WorkerBackend::surroundings_to_ask(const Case& c) const {
  // Several algorithms may be asked about a case that leaves the choice, without a new start for
  // each.
  if (surroundings_.environment.empty() || c.algorithm.empty()) return surroundings_;
  Surroundings needed = surroundings_of({&c, 1});
  return needed.environment == surroundings_.environment ? surroundings_ : needed;
}

std::string WorkerBackend::why_refused(const Case& c) const {
  // A worker that knows no streams would pass over the field, and the case would show nothing.
  if (c.pending && !hello_.traits.has_streams) return "pending: the worker has no streams";
  if (c.late >= 0 && !hello_.traits.has_delays) return "late: the worker lets no rank come late";
  if (c.overlaps && !hello_.traits.has_overlaps)
    return "overlaps: the worker ends each call before the next one";
  if (c.frees && !hello_.traits.frees_groups) return "frees: the worker frees no communicators";
  // A worker without this trait would read the gaps as elements.
  if (find_family(c.operation)->is_strided(c) && !hello_.traits.has_strides)
    return "recv_stride, send_stride: the worker takes only dense buffers";
  if (c.given != nullptr && !hello_.takes_inputs && !hello_.takes_given)
    return "input: the worker derives its inputs, and takes none that a user gave";
  if (std::string why = why_hosts_refused(c); !why.empty()) return why;
  std::string why;
  Case asked = c;
  for (const std::string& name : candidates(c)) {
    asked.algorithm = name;
    if (find(asked) == nullptr) continue;
    const Surroundings surroundings = surroundings_to_ask(c);
    retire_unless(surroundings);
    // The failure must not be lost: the next run reports it with the right verdict.
    if (pending_) return {};
    try {
      why = ask_why_refused(asked, session(surroundings));
    } catch (const std::exception&) {
      return {};
    }
    if (why.empty()) return {};
  }
  if (!why.empty()) return why;
  // No candidate was asked.
  std::vector<std::string> names;
  for (const Algorithm& algorithm : hello_.algorithms) {
    if (algorithm.info.operation == c.operation) names.push_back(algorithm.info.name);
  }
  return why_no_algorithm(c, names);
}

void WorkerBackend::run(std::span<const Case> stages, Observation& observation) {
  const Surroundings surroundings = surroundings_of(stages);
  retire_unless(surroundings);
  if (pending_) {
    tell(observation);
    observation.symptom = Symptom::from_before;
    return;
  }
  try {
    Session& workers = session(surroundings);
    chosen_.assign(stages.begin(), stages.end());
    choose(chosen_, workers);
    workers.run(chosen_, observation);
    note_what_was_asked(observation);
  } catch (const std::exception& error) {
    retire();
    if (!pending_) {
      pending_ = {RunStatus::errored,
                  fmt::format("the workers could not be used: {}", error.what())};
    }
    tell(observation);
  }
}

void WorkerBackend::note_what_was_asked(Observation& observation) const {
  if (observation.status == RunStatus::completed) return;
  observation.path.resize(chosen_.size());
  for (std::size_t s = 0; s < chosen_.size(); ++s) {
    if (observation.path[s].empty()) observation.path[s] = chosen_[s].algorithm;
  }
}

void WorkerBackend::tell(Observation& observation) {
  observation.clear();
  observation.status = pending_->status;
  observation.reason = std::move(pending_->reason);
  pending_.reset();
}

}  // namespace rankcheck::harness::worker

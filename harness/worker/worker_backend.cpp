#include "harness/worker/worker_backend.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

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
    const bool is_named = c.algorithm.empty() || algorithm.info.name == c.algorithm;
    if (algorithm.info.operation == c.operation && is_named) return &algorithm;
  }
  return nullptr;
}

void WorkerBackend::retire(const std::map<std::string, std::string>& environment) const {
  if (!session_ || (session_->usable() && environment_ == environment)) return;
  pending_ = session_->trouble();
  session_.reset();
}

Session& WorkerBackend::session(const std::map<std::string, std::string>& environment) const {
  if (!session_) {
    session_ = std::make_unique<Session>(options_, environment);
    environment_ = environment;
  }
  return *session_;
}

std::string WorkerBackend::refuses(const Case& c) const {
  if (find(c) == nullptr) {
    return fmt::format(
        "algorithm: {} has no {} of {}", hello_.traits.name, c.algorithm, c.operation);
  }
  retire(environment_);
  // Trouble must not be lost: the run gets it and says so with the verdict that it deserves.
  if (pending_) return {};
  try {
    return session(environment_).refuses(c);
  } catch (const std::exception&) {
    return {};
  }
}

void WorkerBackend::run(std::span<const Case> stages, Observation& observation) {
  // Stages that leave the algorithm open run in any environment.
  std::map<std::string, std::string> environment;
  for (const Case& c : stages) {
    const Algorithm* algorithm = find(c);
    if (algorithm != nullptr && !c.algorithm.empty()) environment = algorithm->environment;
  }
  retire(environment);
  if (pending_) {
    observation.status = pending_->status;
    observation.reason = std::move(pending_->reason);
    observation.path.clear();
    observation.fault_fired = false;
    pending_.reset();
    return;
  }
  try {
    session(environment).run(stages, observation);
  } catch (const std::exception& error) {
    session_.reset();
    observation.status = RunStatus::errored;
    observation.reason = fmt::format("the workers could not be used: {}", error.what());
  }
}

}  // namespace rankcheck::harness::worker

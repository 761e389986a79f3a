#include "cases/hardware/probe.hpp"

#include <exception>
#include <utility>

#include "cases/backends/worker_command.hpp"

namespace rankcheck::cases::hardware {

ProbeOutcome run_probe(const harness::worker::Command& worker,
                       double timeout_s,
                       const harness::StopRequest& stop) {
  WorkerAnswer answer = ask_worker(worker, "rankcheck-worker-cuda", timeout_s, stop);
  if (answer.verdict != harness::Verdict::passed) {
    return {.verdict = answer.verdict, .reason = std::move(answer.reason)};
  }
  try {
    if (const auto why = answer.said.find("skipped"); why != answer.said.end()) {
      return {.verdict = harness::Verdict::skipped, .reason = why->get<std::string>()};
    }
    return {.result = result_from_json(answer.said)};
  } catch (const std::exception& error) {
    return {.verdict = harness::Verdict::errored, .reason = error.what()};
  }
}

}  // namespace rankcheck::cases::hardware

#include "cases/hardware/probe.hpp"

#include <array>
#include <chrono>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/case.hpp"
#include "harness/worker/process.hpp"
#include "harness/worker/session.hpp"

namespace rankcheck::cases::hardware {

namespace {

namespace worker = harness::worker;
using harness::Verdict;

/// All that was written to a file in memory.
std::string content_of(int file) {
  std::string text;
  std::array<char, 4096> part{};
  ::lseek(file, 0, SEEK_SET);
  for (ssize_t got = 0; (got = ::read(file, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

ProbeOutcome failed(Verdict verdict, std::string reason) {
  return {.verdict = verdict, .reason = std::move(reason)};
}

}  // namespace

ProbeOutcome run_probe(const std::string& program, const ProbeRequest& request, double timeout_s) {
  using Clock = std::chrono::steady_clock;
  const worker::Descriptor output(::memfd_create("rankcheck-probe", MFD_CLOEXEC));
  if (output.get() < 0) return failed(Verdict::errored, "no memory for a probe's answer");
  try {
    worker::Process process(
        {.arguments = {program, "--probe", to_json(request).dump()}, .environment = {}},
        {.output = output.get()});
    const auto patience = std::chrono::duration<double>(timeout_s);
    if (!process.wait_until(Clock::now() + std::chrono::duration_cast<Clock::duration>(patience))) {
      return failed(Verdict::hung, fmt::format("no answer within {} s", timeout_s));
    }
    if (!process.succeeded()) {
      return failed(Verdict::crashed,
                    with_last_words("rankcheck-worker-cuda " + process.fate(), process));
    }
    const nlohmann::json answer = nlohmann::json::parse(content_of(output.get()), nullptr, false);
    if (answer.is_discarded()) {
      return failed(Verdict::errored, "rankcheck-worker-cuda: expected an answer in JSON");
    }
    if (const auto why = answer.find("skipped"); why != answer.end()) {
      return failed(Verdict::skipped, why->get<std::string>());
    }
    return {.result = result_from_json(answer)};
  } catch (const std::exception& error) {
    return failed(Verdict::errored, error.what());
  }
}

}  // namespace rankcheck::cases::hardware

#include "cases/backends/worker_program.hpp"

#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "gpu/device/vendor_library.hpp"

#include "harness/base/json_text.hpp"
#include "harness/base/table.hpp"

#include "cases/backends/worker_command.hpp"

namespace rankcheck::cases {

namespace {

/// A worker's answer to the request to describe itself.
struct Answer {
  /// Null if the worker printed no object.
  nlohmann::json description = nullptr;
  /// The last line of the worker's error output.
  std::string complaint = {};
};

/// Asks a worker to describe itself. The time limit is needed because a driver may hang.
Answer ask(const std::string& path, double limit_s) {
  using harness::Verdict;
  ProgramEnd end =
      run_program({.arguments = {path, "--describe"}, .environment = {}}, path, limit_s);
  if (end.verdict == Verdict::errored) return {.complaint = std::move(end.reason)};
  if (end.verdict == Verdict::hung) {
    return {.complaint = fmt::format("it did not describe itself within {} s", limit_s)};
  }
  nlohmann::json parsed = harness::parse_json(end.output);
  if (parsed.is_object()) return {.description = std::move(parsed), .complaint = {}};
  return {.complaint = std::move(end.last_words)};
}

/// Returns the environment variables that a description depends on.
std::string surroundings() {
  std::string all;
  const auto add = [&](const char* name) {
    const char* value = std::getenv(name);
    all += fmt::format("{}={}\n", name, value == nullptr ? "(unset)" : value);
  };
  add("CUDA_VISIBLE_DEVICES");
  for (const gpu::VendorLibrary& each : gpu::vendor_libraries) add(each.variable);
  return all;
}

const Answer& answer_of(const WorkerProgram& program) {
  static std::mutex mutex;
  static std::map<std::string, Answer> known;
  const std::scoped_lock lock(mutex);
  const std::string key = program.path + '\n' + surroundings();
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, ask(program.path, program.limit_s)).first->second;
}

}  // namespace

nlohmann::json WorkerProgram::description() const {
  return answer_of(*this).description;
}

std::string WorkerProgram::why_unavailable() const {
  const std::string name = std::filesystem::path(path).filename();
  if (::access(path.c_str(), X_OK) != 0) return name + " is missing beside rankcheck: " + remedy;
  const Answer& said = answer_of(*this);
  if (!said.description.is_null()) return said.description.at("unavailable");
  const std::string& why = said.complaint;
  return fmt::format(
      "{} does not run{}: install the libraries that it needs, or build it on this machine",
      name,
      why.empty() ? why : " (" + harness::printable(why) + ")");
}

std::vector<std::string> WorkerProgram::notes() const {
  const nlohmann::json said = description();
  const std::vector<std::string> none;
  return said.is_null() ? none : said.value("notes", none);
}

std::vector<harness::AlgorithmInfo> WorkerProgram::compiled() const {
  std::vector<harness::AlgorithmInfo> all;
  const nlohmann::json said = description();
  if (said.is_null()) return all;
  for (const nlohmann::json& each : said.at("algorithms")) {
    all.push_back({each.at("operation"), each.at("name"), each.at("summary")});
  }
  return all;
}

}  // namespace rankcheck::cases

#include "cases/backends/worker_program.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

#include "gpu/device/vendor_library.hpp"

#include "harness/base/json_text.hpp"
#include "harness/base/table.hpp"
#include "harness/worker/process.hpp"

namespace rankcheck::cases {

namespace {

using Clock = std::chrono::steady_clock;
using harness::worker::Descriptor;
using harness::worker::Process;

/// A worker's answer to the request to describe itself.
struct Answer {
  /// Null if the worker printed no object.
  nlohmann::json description = nullptr;
  /// The last line of the worker's error output.
  std::string complaint = {};
};

/// Reads until the other end is closed. Returns false if that has not happened by the deadline.
bool read_until(Clock::time_point deadline, Process& process, int from, std::string& text) {
  for (std::array<char, 4096> part{};;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return false;
    std::array<pollfd, 2> ready{
        pollfd{.fd = from, .events = POLLIN, .revents = 0},
        pollfd{.fd = process.error_descriptor(), .events = POLLIN, .revents = 0}};
    ::poll(ready.data(), ready.size(), static_cast<int>(left.count()));
    if (ready[1].revents != 0) process.drain();
    if (ready[0].revents == 0) continue;
    const ssize_t count = ::read(from, part.data(), part.size());
    if (count == 0 || (count < 0 && errno != EINTR)) return true;
    if (count > 0) text.append(part.data(), spec::to_size(count));
  }
}

/// Asks a worker to describe itself. The time limit is needed because a driver may hang.
Answer ask(const std::string& path, double limit_s) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {.complaint = "no pipe could be made"};
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  try {
    Process process({.arguments = {path, "--describe"}, .environment = {}},
                    {.input = -1, .output = writing.get()});
    writing.reset();
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(limit_s));
    std::string text;
    if (!read_until(deadline, process, reading.get(), text) || !process.wait_until(deadline)) {
      return {.complaint = fmt::format("it did not describe itself within {} s", limit_s)};
    }
    nlohmann::json parsed = harness::parse_json(text);
    if (parsed.is_object()) return {.description = std::move(parsed), .complaint = {}};
    return {.complaint = process.last_words()};
  } catch (const std::runtime_error& error) {
    return {.complaint = error.what()};
  }
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

#include "cases/backends/worker_program.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include <fmt/format.h>
#include <unistd.h>

#include "harness/table.hpp"

namespace rankcheck::cases {

namespace {

/// What the program prints; null where it prints no object.
nlohmann::json describe(const std::string& path) {
  const std::string command = harness::shell_quoted(path) + " --describe 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                             ::pclose);
  if (!pipe) return nullptr;
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t read = std::fread(part.data(), 1, part.size(), pipe.get())) {
    text.append(part.data(), read);
  }
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  return parsed.is_object() ? parsed : nlohmann::json(nullptr);
}

/// What a description depends on, beside the machine.
std::string surroundings() {
  std::string all;
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "RANKCHECK_NCCL_LIBRARY"}) {
    const char* value = std::getenv(name);
    all += fmt::format("{}={}\n", name, value == nullptr ? "(unset)" : value);
  }
  return all;
}

}  // namespace

nlohmann::json WorkerProgram::description() const {
  static std::mutex mutex;
  static std::map<std::string, nlohmann::json> known;
  const std::scoped_lock lock(mutex);
  const auto [found, is_new] = known.try_emplace(path + '\n' + surroundings());
  if (is_new) found->second = describe(path);
  return found->second;
}

std::string WorkerProgram::why_unavailable() const {
  const std::string name = std::filesystem::path(path).filename();
  if (::access(path.c_str(), X_OK) != 0) return name + " is missing beside rankcheck: " + remedy;
  const nlohmann::json said = description();
  return said.is_null() ? name + " does not run: build it again"
                        : said.at("unavailable").get<std::string>();
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

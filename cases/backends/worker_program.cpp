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

#include "gpu/device/vendor_library.hpp"

#include "harness/table.hpp"

namespace rankcheck::cases {

namespace {

/// What the program prints of itself; `redirections` chooses where to.
std::string output_of(const std::string& path, const std::string& redirections) {
  const std::string command = harness::shell_quoted(path) + " --describe " + redirections;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                             ::pclose);
  if (!pipe) return {};
  std::string text;
  std::array<char, 4096> part{};
  while (const std::size_t read = std::fread(part.data(), 1, part.size(), pipe.get())) {
    text.append(part.data(), read);
  }
  return text;
}

/// Null where it prints no object.
nlohmann::json describe(const std::string& path) {
  nlohmann::json parsed = nlohmann::json::parse(output_of(path, "2>/dev/null"), nullptr, false);
  return parsed.is_object() ? parsed : nlohmann::json(nullptr);
}

/// The last line of what it complains of.
std::string complaint(const std::string& path) {
  std::string text = output_of(path, "2>&1 >/dev/null");
  text.erase(text.find_last_not_of("\n ") + 1);
  return text.substr(text.rfind('\n') + 1);
}

/// What a description depends on, beside the machine.
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
  if (!said.is_null()) return said.at("unavailable");
  const std::string why = complaint(path);
  return fmt::format("{} does not run{}: install what it lacks, or build it here",
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

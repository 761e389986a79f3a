#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <regex>
#include <thread>

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "harness/base/table.hpp"

#include "cases/backends/registry.hpp"
#include "cases/commands/options.hpp"
#include "cases/commands/version.hpp"

namespace rankcheck::cases {

namespace {

using nlohmann::ordered_json;

/// Returns the first line that a command prints. Empty if the command fails.
std::string first_line_of(const char* command) {
  std::FILE* pipe = ::popen(command, "r");
  if (pipe == nullptr) return {};
  char line[256] = {};
  const bool got = std::fgets(line, sizeof line, pipe) != nullptr;
  // The rest is read so that a closed pipe does not end the command.
  for (char rest[256]; got && std::fgets(rest, sizeof rest, pipe) != nullptr;) continue;
  if (::pclose(pipe) != 0 || !got) return {};
  std::string text = line;
  text.erase(text.find_last_not_of(" \n") + 1);
  return harness::printable(text);
}

/// Returns what the pattern's group has in the first line of the file that matches it. "unknown" if
/// no line does.
std::string found_in(const char* path, const std::regex& pattern) {
  std::ifstream file(path);
  std::smatch found;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_match(line, found, pattern)) return found[1];
  }
  return "unknown";
}

/// The CUDA driver. It is opened at run time, because this program also runs on machines without
/// it.
class CudaDriver {
 public:
  CudaDriver() : library_(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {}
  CudaDriver(const CudaDriver&) = delete;
  CudaDriver& operator=(const CudaDriver&) = delete;
  // The library is never closed, because the driver stays loaded, because it starts threads of its
  // own.
  ~CudaDriver() = default;

  [[nodiscard]] ordered_json describe() const {
    if (library_ == nullptr) return {{"driver", "none: libcuda.so.1 is not installed"}};
    if (const auto status = call<int>("cuInit", 0U); status != 0) {
      return {{"driver", "present, but cuInit fails"}, {"status", status.value_or(-1)}};
    }
    int version = 0;
    int count = 0;
    call<int>("cuDriverGetVersion", &version);
    call<int>("cuDeviceGetCount", &count);
    ordered_json devices = ordered_json::array();
    for (int i = 0; i < count; ++i) {
      char name[128] = {};
      int device = 0;
      call<int>("cuDeviceGet", &device, i);
      call<int>("cuDeviceGetName", name, static_cast<int>(sizeof name), device);
      devices.push_back(name);
    }
    return {{"driver", fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10)},
            {"devices", std::move(devices)}};
  }

 private:
  /// Calls a function of the driver. Empty if the driver has no such function.
  template <class Result, class... Arguments>
  std::optional<Result> call(const char* name, Arguments... arguments) const {
    void* symbol = ::dlsym(library_, name);
    if (symbol == nullptr) return std::nullopt;
    return reinterpret_cast<Result (*)(Arguments...)>(symbol)(arguments...);
  }

  void* library_;
};

ordered_json examine_machine() {
  ordered_json out = describe_machine();
  const auto found = [](const char* command) {
    const std::string line = first_line_of(command);
    return line.empty() ? std::string("none") : line;
  };
  out["cxx"] = found("c++ --version 2>/dev/null");
  out["nvcc"] = found("(nvcc --version | grep release) 2>/dev/null");
  out["mpirun"] = found("mpirun --version 2>/dev/null");
  out["cuda"] = CudaDriver().describe();
  return out;
}

/// `only`: the name of the backend to examine. Empty for all.
ordered_json examine_backends(const std::string& only, const harness::StopRequest& stop) {
  ordered_json out = ordered_json::array();
  for (const harness::BackendEntry& entry : available_backends().entries()) {
    if (!only.empty() && entry.name != only) continue;
    const std::string why = entry.why_unavailable();
    ordered_json backend{{"name", entry.name}, {"available", why.empty()}};
    if (!why.empty()) {
      backend["why_unavailable"] = why;
    } else {
      try {
        backend["versions"] = entry.describe(stop);
      } catch (const std::exception& error) {
        backend["available"] = false;
        backend["why_unavailable"] = error.what();
      }
    }
    if (entry.notes != nullptr) {
      if (std::vector<std::string> notes = entry.notes(); !notes.empty()) {
        backend["notes"] = std::move(notes);
      }
    }
    out.push_back(std::move(backend));
  }
  return out;
}

/// Returns a value as text. If an object has several members, their names come first.
std::string words_of(const ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return value.dump();
  if (value.empty()) return "-";
  std::string text;
  for (const auto& [key, each] : value.items()) {
    if (!text.empty()) text += value.is_object() ? "; " : ", ";
    if (value.is_object() && value.size() > 1) text += key + ": ";
    text += words_of(each);
  }
  return text;
}

void print(const ordered_json& machine) {
  harness::Table facts({{"machine"}, {""}});
  for (const auto& [key, value] : machine.items()) {
    if (key != "backends") facts.add({key, words_of(value)});
  }
  harness::Table table({{"backend"}, {"here"}, {"versions, or what is missing"}});
  for (const ordered_json& each : machine["backends"]) {
    const bool available = each["available"].get<bool>();
    table.add({each["name"],
               available ? "yes" : "no",
               available ? words_of(each.value("versions", ordered_json::object()))
                         : each["why_unavailable"].get<std::string>()});
    for (const ordered_json& note : each.value("notes", ordered_json::array())) {
      table.add({"", "", note});
    }
  }
  fmt::print("{}\n{}", facts.text(terminal_width()), table.text(terminal_width()));
}

}  // namespace

ordered_json describe_machine() {
  utsname kernel{};
  ::uname(&kernel);
  const double memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return {
      {"host", kernel.nodename},
      {"system", found_in("/etc/os-release", std::regex(R"(PRETTY_NAME="([^"]*).*)"))},
      {"kernel", fmt::format("{} {} {}", kernel.sysname, kernel.release, kernel.machine)},
      {"processor", found_in("/proc/cpuinfo", std::regex("model name\\s*:\\s*(.*)"))},
      {"cores", std::thread::hardware_concurrency()},
      {"memory_gib", std::lround(memory / (1 << 30))},
      {"built_with", compiler()},
  };
}

ordered_json examine(const harness::StopRequest& stop, const std::string& only) {
  ordered_json out = examine_machine();
  out["backends"] = examine_backends(only, stop);
  return out;
}

void add_doctor(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("doctor", "Describes this machine and what can run on it.");
  CLI::Option* json = command->add_flag("--json")->description("Prints JSON.");
  set_work(*command, context, "all backends answered", [json](const auto& interrupt) {
    const ordered_json machine = examine(interrupt.stop());
    if (json->count() > 0) {
      fmt::print("{}\n", machine.dump(1));
    } else {
      print(machine);
    }
    return harness::run::status_held;
  });
}

}  // namespace rankcheck::cases

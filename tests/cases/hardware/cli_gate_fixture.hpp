#pragma once

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"

#include "tests/cases/cli.hpp"

/// `rankcheck run hardware` with a script in place of the workers of cuda and nccl. The script
/// reports two devices, answers probes of links, and runs no case.
namespace rankcheck {

/// A probe is one tick of the program's clock. A probe from 0 to 1 by loads kills the program
/// unless the file `fast` exists. If the file `corrupt` exists, copies from 1 to 0 arrive wrong.
/// The file `stop` holds a number: after this number of soak probes, a probe kills the program. The
/// file `interrupt` holds a number: after this number of soak probes, a worker that is opened
/// interrupts the program. Probes that one process answers are all well unless the file `corrupt`
/// exists.
inline constexpr const char* worker_script = R"sh(
device='{"name":"made up","bus":"0","capability":"9.0","memory_bytes":1}'
has_soaked() { [ -e $1 ] && [ $(grep -c '"first":5,' asked) $2 $(cat $1) ]; }
case "$1" in
--describe)
  echo '{"unavailable":"","devices":['"$device,$device"'],"algorithms":[' \
    '{"operation":"barrier","name":"central","summary":""},' \
    '{"operation":"broadcast","name":"binomial","summary":""}]}' ;;
--probe)
  wrong=0
  printf . >> ticks
  case "$2" in *'"first":5,'*) ! has_soaked stop -ge || { kill -9 $PPID; exit 1; } ;; esac
  case "$2" in
  *'"from":0,"to":1,'*'"load"'*) [ -e fast ] || { kill -9 $PPID; exit 1; } ;;
  *'"from":1,"to":0,'*) [ ! -e corrupt ] || wrong=1 ;;
  esac
  echo "$2" >> asked
  echo '{"way":"peer","bytes_of_copy":1024,' \
    '"copies":8,"wrong_copies":'$wrong',"wrong_bytes":'$wrong',' \
    '"lost_sources":0,"seconds":[1e-6]}' ;;
--probes)
  echo begun >> probers
  while read -r line; do
    wrong=0
    case $line in *'"from":1,"to":0,'*) [ ! -e corrupt ] || wrong=1 ;; esac
    echo "$line" >> asked
    echo '{"way":"peer","bytes_of_copy":1024,"copies":6,"wrong_copies":'$wrong',' \
      '"wrong_bytes":'$wrong',"lost_sources":0,"seconds":[1e-6]}'
  done ;;
*)
  ! has_soaked interrupt -gt || kill -INT $PPID
  exit 1 ;;
esac
)sh";

class CliGateTest : public tests::CliTest {
 protected:
  void SetUp() override {
    install_clocked("0.005", "1");
    for (const char* name : {"cuda", "nccl"}) write_worker(name, worker_script);
  }

  void write_worker(const std::string& name, const std::string& text) {
    write_script("bin/rankcheck-worker-" + name, text);
  }
  /// Makes `from` in a worker's script `to`.
  void change_worker(const std::string& name, const std::string& from, const std::string& to) {
    std::string text = worker_script;
    write_worker(name, text.replace(text.find(from), from.size(), to));
  }
  void leave_one_device() { change_worker("cuda", ",$device", ""); }
  void remove_worker(const std::string& name) {
    std::filesystem::remove(path_to("bin/rankcheck-worker-" + name));
  }

  void make(const std::string& name, const std::string& text = "") {
    harness::write_file(path_to(name), text);
  }

  /// Returns the soak's probes so far.
  [[nodiscard]] std::vector<nlohmann::json> soaked() const {
    std::vector<nlohmann::json> probes;
    std::istringstream lines(text_of("asked"));
    for (std::string line; std::getline(lines, line);) {
      const nlohmann::json probe = nlohmann::json::parse(line);
      if (probe.at("first") > 0) probes.push_back(probe);
    }
    return probes;
  }

  /// A gate with few units. The units do not run, because the script opens no backend.
  const std::string gate_ = "run hardware --operation barrier ";
  tests::Outcome run_whole(const std::string& folder, const std::string& arguments = "") {
    return run_gate("--operation barrier " + arguments, folder);
  }

  /// Returns the names of a gate's parts, each with a comma behind it.
  std::string parts_of(const std::string& folder) {
    std::string names;
    const nlohmann::json parts = report(folder)["environment"]["hardware"]["phases"];
    for (const nlohmann::json& each : parts) names += each.at("name").get<std::string>() + ", ";
    return names;
  }

  /// Returns the number of links over which something was compared.
  static int measured(const nlohmann::json& gate) {
    const nlohmann::json& links = gate.at("environment").at("hardware").at("links");
    return static_cast<int>(
        std::count_if(links.begin(), links.end(), [](const nlohmann::json& link) {
          return link.at("exposure").at("bytes") > 0;
        }));
  }
};

}  // namespace rankcheck

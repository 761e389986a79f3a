#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "gpu/plan/topology.hpp"

#include "harness/base/npy.hpp"
#include "harness/check/finding_json.hpp"
#include "harness/report/journal.hpp"
#include "harness/suite/suite_file.hpp"

#include "tests/fuzz/targets.hpp"
#include "tests/harness/report/journal_text.hpp"
#include "tests/harness/sample.hpp"

/// The readers that every build has, each with a function that looks for faults and one that makes
/// good input.
namespace rankcheck::fuzz {

namespace {

namespace worker = harness::worker;
using nlohmann::json;

/// A file in memory, for readers that need a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view content) : descriptor_(::memfd_create("input", 0)) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written <= 0) std::abort();
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    ::lseek(descriptor_, 0, SEEK_SET);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }

  [[nodiscard]] std::filesystem::path path() const {
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }
  /// Returns the file's own descriptor, positioned at its begin. The file keeps ownership.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

/// Returns the contents of the files in a source folder whose names end with `extension`.
std::vector<std::string> contents_of(const std::string& folder, std::string_view extension) {
  std::set<std::filesystem::path> files;
  for (const auto& each :
       std::filesystem::recursive_directory_iterator(RANKCHECK_SOURCE_DIR "/" + folder)) {
    if (each.path().extension() == extension) files.insert(each.path());
  }
  std::vector<std::string> contents;
  for (const std::filesystem::path& each : files) contents.push_back(harness::read_file(each));
  return contents;
}

/// Every field of a case's text is kept when the text is read.
std::string fault_of_case(std::string_view input) {
  return fault_of_reading([&]() -> std::string {
    const std::string text = harness::to_text(harness::case_from_text(std::string(input)));
    if (harness::to_text(harness::case_from_text(text)) != text) return "reads back as another";
    const json kept = json::parse(text);
    const json given = json::parse(input);
    for (const auto& [name, value] : given.items()) {
      if (kept.contains(name) && kept[name] == value) continue;
      json rest = given;
      rest.erase(name);
      const bool is_default =
          !kept.contains(name) && harness::to_text(harness::case_from_json(rest)) == text;
      if (!is_default) return name + " was not taken as it was given";
    }
    return {};
  });
}

std::vector<std::string> seeds_of_cases() {
  std::vector<std::string> seeds = contents_of("cases/collectives", ".json");
  seeds.emplace_back(
      R"({"operation":"all_to_all_v","algorithm":"direct","backend":"sim","ranks":3,"group":[2,0],)"
      R"("root":1,"counts":[3,0,1,2],"gap":1,"outer":2,"inner":0,"type":"f16","op":"sum",)"
      R"("pattern":"pairs","shift":2,)"
      R"("in_place":true,"offset":1,"chunk":2,"pending":true,"input":"coded",)"
      R"("data_seed":18446744073709551615,)"
      R"("rotate":1,"first_index":4,"index_stride":5,"schedule":"pct:9","fault":"late:0"})");
  seeds.emplace_back(
      R"({"operation":"multislice","property":"is_linear","ranks":1,"counts":[2],"type":"f64",)"
      R"("rows":5,"cols":6,"window":3,"detector":4,"modes":2,"slices":2,"varying_probe":true,)"
      R"("tile_cols":1,"halo":1,"wavelength":1.5,"distance":1e-3,"scan":"whole","scale":-2,)"
      R"("added_seed":3,"varied":"probe","halvings":4,"form":"twin","chained":true,"moved":-4})");
  return seeds;
}

std::string fault_of_suite(std::string_view input) {
  return fault_of_reading([&]() -> std::string {
    const harness::Suite suite = harness::suite_from_text(std::string(input), "suite: input");
    if (!(suite.time_limit_s >= 0)) return "a time limit below 0";
    if (suite.entries.empty()) return "no entry";
    for (const harness::SuiteEntry& entry : suite.entries) {
      const bool has_ranks = 1 <= entry.ranks_min && entry.ranks_min <= entry.ranks_max;
      if (entry.backends.empty() || entry.cases < 0 || !has_ranks) return "an entry of nothing";
      if (entry.ranks_required.value_or(1) < 1) return "no ranks are required";
    }
    return {};
  });
}

/// Findings that are written and read again stay the same.
std::string fault_of_journal(std::string_view input) {
  return fault_of_reading([&]() -> std::string {
    const MemoryFile file(input);
    const harness::Record record = harness::read_journal(file.path()).record;
    for (const harness::Finding& finding : record.report().findings) {
      const std::string text = harness::to_json(finding).dump();
      const auto read = harness::finding_from_json(json::parse(text));
      if (harness::to_json(read).dump() != text) return "reads back as another: " + text;
    }
    return {};
  });
}

std::string fault_of_topology(std::string_view input) {
  return fault_of_reading([&]() -> std::string {
    const gpu::plan::Topology topology = gpu::plan::parse_topology("input", input);
    int inner = 0;
    for (const gpu::plan::LinkLevel& level : topology.levels) {
      const bool is_nested =
          inner == 0 ? level.ranks == 1 : level.ranks > inner && level.ranks % inner == 0;
      if (!is_nested) return "groups that are not nested";
      if (!(level.latency_seconds >= 0) || !(level.bytes_per_second > 0)) return "no link";
      inner = level.ranks;
    }
    const int last = topology.capacity() - 1;
    return topology.level_between(0, last) < topology.levels.size() ? "" : "ranks without a link";
  });
}

constexpr std::uint64_t payload_bytes_max = 1 << 16;

/// Reads the input as the harness reads a worker's messages.
std::string fault_of_frames(std::string_view input) {
  return fault_of_reading([&]() -> std::string {
    const MemoryFile file(input);
    worker::Connection connection(::dup(file.descriptor()), -1);
    harness::Observation observation;
    while (connection.fill()) {
      while (const std::optional<worker::Frame> frame = connection.next(payload_bytes_max)) {
        if (frame->header.contains("hello")) {
          const worker::Hello hello = worker::hello_from_json(frame->header);
          if (hello.world < 1 || hello.traits.ranks_max > hello.world) return "too many ranks";
        } else if (frame->header.contains("progress")) {
          static_cast<void>(worker::progress_from_json(frame->header));
        } else {
          worker::read_result(*frame, observation);
        }
      }
    }
    return {};
  });
}

std::string sent(nlohmann::ordered_json header, const std::string& payload = "") {
  if (!payload.empty()) header["payload"] = payload.size();
  const std::string text = header.dump();
  std::string frame;
  for (int i = 0; i < 4; ++i) frame += static_cast<char>(text.size() >> (8 * i));
  return frame + text + payload;
}

std::vector<std::string> seeds_of_frames() {
  worker::Hello hello;
  hello.world = 2;
  hello.ranks = {0, 1};
  hello.traits.name = "mine";
  hello.traits.ranks_max = 2;
  hello.algorithms = {{{"all_reduce", "ring", "words"}, {{"KEY", "value"}}}};
  hello.versions = {{"library", "1.0"}};
  nlohmann::ordered_json limited = to_json(hello);
  limited["hello"]["protocol"] = 2;
  limited["hello"]["inputs"] = "sent";
  limited["hello"]["algorithms"][0]["takes"] = {{"type", {"f32", "int8"}},
                                                {"op", "any"},
                                                {"root", {0, 1}},
                                                {"group", "sorted"},
                                                {"empty", false},
                                                {"ranks", {{"min", 1}, {"max", 4}}}};
  const std::string result = sent({{"result", 1},
                                   {"status", "completed"},
                                   {"path", {"ring"}},
                                   {"stamps", {{{1, 2}, {1, 3}}}},
                                   {"sizes", {{4, 4}}}},
                                  "12345678");
  const std::string failed = sent({{"result", 2},
                                   {"status", "failed"},
                                   {"reason", "it did not work"},
                                   {"path", json::array()},
                                   {"stamps", json::array()},
                                   {"sizes", json::array()},
                                   {"fault_fired", true}});
  const std::string progress = sent({{"progress", 1}, {"rank", 0}, {"stage", 0}});
  return {sent(to_json(hello)), sent(limited), progress + result, failed};
}

std::string fault_of_npy(std::string_view input) {
  return fault_of_reading([&]() -> std::string {
    const harness::NpyArray array{std::string(input)};
    const auto count = static_cast<std::size_t>(array.count());
    if (array.elements().size() > input.size()) return "more elements than bytes";
    if (count > array.elements().size()) return "elements without bytes";
    std::size_t product = 1;
    for (const std::int64_t length : array.shape()) product *= static_cast<std::size_t>(length);
    return product == count ? "" : "a shape of another size";
  });
}

std::vector<std::string> seeds_of_npy() {
  const std::vector<std::byte> zeros(96);
  return {harness::to_npy(spec::Type::complex64, zeros.data(), {2, 3, 2}),
          harness::to_npy(spec::Type::f64, zeros.data(), {12}),
          harness::to_npy(spec::Type::uint8, zeros.data(), {}),
          harness::to_npy(spec::Type::int32, zeros.data(), {0, 4})};
}

}  // namespace

/// Without checksums, changes reach the readers of fields.
std::vector<std::string> seeds_of_journals() {
  const harness::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "journal.jsonl";
  {
    harness::JournalHeader header;
    header.run = {{"suites", {"smoke"}}, {"seed", 1}};
    header.directory = "/somewhere";
    header.units = {harness::sample_unit("all_reduce"), harness::sample_unit("broadcast")};
    header.pinned[header.units.front().id()] = *harness::sample_failure().minimal;
    header.environment = {{"rankcheck", "0"}, {"time_budget_s", 10}};
    harness::Journal journal(path, header);
    journal.append({.finding = harness::sample_failure(), .at_s = 0.5});
    journal.append({.finding = harness::sample_finding("broadcast", harness::Verdict::passed),
                    .whole = false});
    journal.end({.ending = "time_over", .rounds = 1, .finished = "then", .duration_s = 1});
  }
  {
    harness::Journal journal(path, harness::read_journal(path), {{"rankcheck", "1"}});
    journal.append({.finding = harness::sample_finding("broadcast", harness::Verdict::passed)});
    journal.end({.ending = "completed", .rounds = 1, .finished = "later", .duration_s = 2});
  }
  return {harness::without_checksums(harness::read_file(path)), harness::read_file(path)};
}

std::vector<Target> targets() {
  std::vector<Target> all{
      {"case", fault_of_case, seeds_of_cases},
      {"suite", fault_of_suite, [] { return contents_of("cases/suites", ".json"); }},
      {"journal", fault_of_journal, seeds_of_journals},
      {"topology", fault_of_topology, [] { return contents_of("gpu/plan/topologies", ".txt"); }},
      {"frame", fault_of_frames, seeds_of_frames},
      {"npy", fault_of_npy, seeds_of_npy}};
#if RANKCHECK_RECONSTRUCTS
  all.push_back(cxi_target());
#endif
  return all;
}

}  // namespace rankcheck::fuzz

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/files.hpp"
#include "harness/base/json_text.hpp"
#include "harness/case/fields.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/family.hpp"
#include "cases/traces/trace.hpp"

namespace rankcheck::cases::traces {

namespace {

using harness::BadInput;
using harness::Fields;
using nlohmann::json;
using enum spec::Type;

/// The operations, and what NCCL and PyTorch call them, with blanks around each name. PyTorch's
/// all_to_all is not here, because its record does not have all sizes.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> names_of_operations{
    {{"all_reduce", " AllReduce all_reduce "},
     {"barrier", " barrier all_reduce_barrier "},
     {"broadcast", " Broadcast broadcast "},
     {"reduce", " Reduce reduce "},
     {"all_gather", " AllGather all_gather _all_gather_base "},
     {"reduce_scatter", " ReduceScatter reduce_scatter _reduce_scatter_base "},
     {"all_to_all", " AlltoAll "},
     {"gather", " Gather gather "},
     {"scatter", " Scatter scatter "}}};

constexpr std::array<std::pair<std::string_view, spec::Type>, 12> recorded_types{
    {{"Float", f32},
     {"Half", f16},
     {"BFloat16", bf16},
     {"Double", f64},
     {"Int", int32},
     {"Long", int64},
     {"Char", int8},
     {"Byte", uint8},
     {"ComplexFloat", complex64},
     {"ComplexDouble", complex128},
     {"Float8_e4m3fn", f8e4m3},
     {"Float8_e5m2", f8e5m2}}};

/// The number of elements of all arrays together. Throws BadInput if no machine has so many.
std::int64_t elements(const std::vector<std::vector<std::int64_t>>& sizes,
                      const std::string& place) {
  constexpr std::int64_t elements_max = std::int64_t{1} << 40;
  std::int64_t all = 0;
  for (const auto& each : sizes) {
    std::int64_t product = 1;
    for (const std::int64_t length : each) {
      const bool fits = length >= 0 && (length == 0 || product <= (elements_max - all) / length);
      if (!fits) throw BadInput(fmt::format("{}: got the sizes {}", place, fmt::join(each, " ")));
      product *= length;
    }
    all += product;
  }
  return all;
}

/// The rank of a record: its field `rank`, or the last number in the file's name.
int rank_of(const TraceFile& file) {
  std::optional<int> rank;
  Fields(file.json, file.path).optional("rank", rank);
  if (rank) return *rank;
  constexpr const char* digits = "0123456789";
  const std::string name = std::filesystem::path(file.path).filename().string();
  const std::size_t last = name.find_last_of(digits);
  const std::size_t first = name.find_last_not_of(digits, last) + 1;
  if (last == std::string::npos || last - first >= 6) {
    throw BadInput(file.path + ": expected the rank as the last number of the file's name");
  }
  return std::stoi(name.substr(first, last - first + 1));
}

/// The world ranks of a group, which the record has as a list or as the text of one.
std::vector<int> ranks_of(const json& record, const std::string& group, const std::string& place) {
  const json none;
  json config = record.value("pg_config", none);
  config = config.is_object() ? config.value(group, none) : none;
  if (!config.is_object() || !config.contains("ranks")) {
    throw BadInput(fmt::format("{}: pg_config has no ranks of the group {}", place, group));
  }
  json& listed = config["ranks"];
  if (listed.is_string()) listed = harness::parse_json(listed.get<std::string>());
  Fields fields(config, fmt::format("{}: pg_config: {}", place, group));
  std::vector<int> ranks;
  fields.required("ranks", ranks);
  const auto is_rank = [](int rank) { return rank >= 0 && rank < ranks_max; };
  if (ranks.empty() || !std::ranges::all_of(ranks, is_rank)) {
    fields.fail("ranks", fmt::format("expected numbers in 0..{}", ranks_max - 1));
  }
  return ranks;
}

/// Adds the call of an entry to those of its rank.
void read_entry(
    const json& record, const json& entry, const std::string& place, int rank, Trace& trace) {
  Fields fields(entry, place);
  std::string name;
  std::vector<std::string> group;
  std::vector<std::string> input_types;
  TracedCall traced;
  traced.place = place;
  fields.required("profiling_name", name);
  fields.required("process_group", group);
  fields.optional("input_dtypes", input_types);
  fields.optional("collective_seq_id", traced.number);
  if (group.empty()) fields.fail("process_group", "got [], expected the group's name");
  const std::vector<int> ranks = ranks_of(record, group[0], place);
  if (std::ranges::count(ranks, rank) == 0) {
    throw BadInput(fmt::format("{}: rank {} is not in the group {}", place, rank, group[0]));
  }
  // The name is behind "nccl:" or "gloo:".
  const spec::Contract* const contract = collective_named(name.substr(name.find(':') + 1));
  const auto type = std::ranges::find(recorded_types,
                                      input_types.empty() ? "Float" : input_types[0],
                                      [](const auto& each) { return each.first; });
  if (contract == nullptr || type == recorded_types.end()) {
    ++trace.left_out[name.substr(0, name.find(' '))];
    return;
  }
  traced.communicator = fmt::format("{} of {}", group[0], fmt::join(ranks, ","));
  trace.communicators[traced.communicator] = ranks;
  trace.world = std::max(trace.world, 1 + *std::ranges::max_element(ranks));
  traced.call.operation = contract->name;
  if (contract->has_buffers) {
    traced.call.type = type->second;
    // The input of a scatter is recorded as the share of each rank.
    const bool counts_output = contract->name == "reduce_scatter";
    std::vector<std::vector<std::int64_t>> sizes;
    fields.optional(counts_output ? "output_sizes" : "input_sizes", sizes);
    traced.call.count = elements(sizes, place);
  }
  // The record has neither the op nor the root.
  if (collective(*contract).reduces) collective(traced.call).op = spec::ReduceOp::sum;
  trace.calls[rank].push_back(std::move(traced));
}

/// A record has the last calls of its rank only. Leaves out what a communicator has called before
/// the first call that the records of all its members have.
void drop_older(Trace& trace) {
  std::map<std::string, std::int64_t> begins;
  for (const auto& [rank, calls] : trace.calls) {
    std::set<std::string> seen;
    for (const TracedCall& each : calls) {
      std::int64_t& begin = begins[each.communicator];
      if (seen.insert(each.communicator).second) begin = std::max(begin, each.number);
    }
  }
  const auto is_older = [&](const TracedCall& each) {
    return each.number < begins.at(each.communicator);
  };
  for (auto& [rank, calls] : trace.calls) {
    const auto dropped = static_cast<std::int64_t>(std::erase_if(calls, is_older));
    if (dropped > 0) trace.left_out["calls that other ranks no longer have"] += dropped;
  }
}

Trace read_flight_records(std::span<const TraceFile> files) {
  Trace trace;
  for (const TraceFile& file : files) {
    if (!file.json.contains("entries") || !file.json["entries"].is_array()) {
      throw BadInput(file.path + ": expected an object with the list entries, or with calls");
    }
    const int rank = rank_of(file);
    if (!trace.calls.try_emplace(rank).second) {
      throw BadInput(fmt::format("{}: rank {} again", file.path, rank));
    }
    int number = 0;
    for (const json& each : file.json["entries"]) {
      read_entry(file.json, each, fmt::format("{}: entry {}", file.path, number++), rank, trace);
    }
  }
  drop_older(trace);
  return trace;
}

/// A list of calls, each of which all members of its group make.
Trace read_calls(const TraceFile& file) {
  Trace trace;
  Fields fields(file.json, file.path);
  fields.required("ranks", trace.world);
  if (trace.world < 1 || trace.world > ranks_max) {
    fields.fail("ranks", fmt::format("got {}, expected 1..{}", trace.world, ranks_max));
  }
  const json& calls = fields.at("calls");
  fields.reject_unknown();
  if (!calls.is_array()) fields.fail("calls", "expected a list of calls");
  int number = 0;
  for (json call : calls) {
    TracedCall traced;
    traced.place = fmt::format("{}: call {}", file.path, number++);
    Fields own(call, traced.place);
    for (const char* each : {"ranks", "hosts", "backend", "property", "earlier"}) {
      if (own.find(each) != nullptr) own.fail(each, "expected no value in a call");
    }
    call["ranks"] = trace.world;
    try {
      traced.call = harness::case_from_json(call);
    } catch (const BadInput& bad) {
      throw BadInput(fmt::format("{}: {}", traced.place, bad.what()));
    }
    if (collectives_family().find(traced.call.operation) == nullptr) {
      own.fail("operation", traced.call.operation + " is no collective");
    }
    const std::vector<int> group = harness::members(traced.call);
    traced.communicator = fmt::format("{}", fmt::join(group, ","));
    trace.communicators[traced.communicator] = group;
    for (const int rank : group) trace.calls[rank].push_back(traced);
  }
  return trace;
}

TraceFile read_one(const std::string& path) {
  TraceFile file{.path = path, .text = harness::read_file(path), .json = {}};
  const std::size_t begin = file.text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos || file.text[begin] != '{') return file;
  file.json = harness::parse_json(file.text);
  if (!file.json.is_discarded()) return file;
  throw BadInput(fmt::format("{}: {}", path, harness::why_not_json(file.text)));
}

/// Reads files of whatever kind they are.
Trace read_any(std::span<const TraceFile> files) {
  const auto is_log = [](const TraceFile& each) { return each.json.is_null(); };
  if (std::ranges::all_of(files, is_log)) return read_nccl_logs(files);
  if (std::ranges::any_of(files, is_log)) {
    throw BadInput(files.front().path + ": got JSON and other files, expected files of one kind");
  }
  if (!files.front().json.contains("calls")) return read_flight_records(files);
  if (files.size() > 1) throw BadInput("got several files, expected one file with calls");
  return read_calls(files.front());
}

}  // namespace

const spec::Contract* collective_named(std::string_view name) {
  const auto has_name = [&](const auto& each) {
    return each.second.find(fmt::format(" {} ", name)) != std::string_view::npos;
  };
  const auto found = std::ranges::find_if(names_of_operations, has_name);
  return found == names_of_operations.end() ? nullptr : collectives_family().find(found->first);
}

Trace read_trace(std::span<const std::string> paths) {
  std::vector<TraceFile> files;
  for (const std::string& each : paths) files.push_back(read_one(each));
  Trace trace = read_any(files);
  const auto has_calls = [](const auto& rank) { return !rank.second.empty(); };
  if (std::ranges::any_of(trace.calls, has_calls)) return trace;
  throw BadInput(
      paths.front() +
      ": got no call, expected a log of NCCL with NCCL_DEBUG_SUBSYS=INIT,COLL, a record of "
      "PyTorch in JSON, or an object of ranks and calls");
}

}  // namespace rankcheck::cases::traces

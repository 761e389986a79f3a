#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/bad_input.hpp"
#include "harness/base/json_text.hpp"
#include "harness/case/fields.hpp"

#include "cases/families/collectives/family.hpp"
#include "cases/traces/trace.hpp"

namespace rankcheck::cases::traces {

namespace {

using harness::BadInput;
using harness::Fields;
using nlohmann::json;

/// A list of calls, each of which all members of its group make.
Trace read_calls(const json& object, const std::string& path) {
  Trace trace;
  Fields fields(object, path);
  fields.required("ranks", trace.world);
  if (trace.world < 1 || trace.world > ranks_max) {
    fields.fail("ranks", fmt::format("got {}, expected 1..{}", trace.world, ranks_max));
  }
  const json& calls = fields.at("calls");
  fields.reject_unknown();
  if (!calls.is_array()) fields.fail("calls", "expected a list of calls");
  std::size_t number = 0;
  for (json call : calls) {
    const std::string place = fmt::format("{}: call {}", path, number++);
    TracedCall traced{.communicator = {}, .call = {}, .place = place};
    try {
      for (const char* each : {"ranks", "hosts", "backend", "property", "earlier"}) {
        if (call.is_object() && call.contains(each)) {
          throw BadInput(std::string(each) + ": expected no value in a call");
        }
      }
      if (call.is_object()) call["ranks"] = trace.world;
      traced.call = harness::case_from_json(call);
      if (collectives_family().find(traced.call.operation) == nullptr) {
        throw BadInput("operation: " + traced.call.operation + " is no collective");
      }
    } catch (const BadInput& bad) {
      throw BadInput(fmt::format("{}: {}", place, bad.what()));
    }
    const std::vector<int> group = harness::members(traced.call);
    traced.communicator = fmt::format("{}", fmt::join(group, ","));
    trace.communicators[traced.communicator] = group;
    for (const int rank : group) trace.calls[rank].push_back(traced);
  }
  return trace;
}

/// Reads files of whatever kind they are.
Trace read_any(std::span<const TraceFile> files) {
  std::vector<json> objects;
  for (const TraceFile& file : files) {
    const std::size_t begin = file.text.find_first_not_of(" \t\r\n");
    const bool is_json = begin != std::string::npos && file.text[begin] == '{';
    if (!is_json) continue;
    objects.push_back(harness::parse_json(file.text));
    if (objects.back().is_discarded()) {
      throw BadInput(fmt::format("{}: {}", file.path.string(), harness::why_not_json(file.text)));
    }
  }
  if (objects.empty()) return read_nccl_logs(files);
  if (objects.size() < files.size()) {
    throw BadInput(fmt::format("{}: got JSON and other files, expected files of one kind",
                               files.front().path.string()));
  }
  if (objects.front().contains("calls")) {
    if (files.size() == 1) return read_calls(objects.front(), files.front().path.string());
    throw BadInput("got several files, expected one file with calls");
  }
  for (std::size_t k = 0; k < objects.size(); ++k) {
    if (objects[k].contains("entries") && objects[k]["entries"].is_array()) continue;
    throw BadInput(fmt::format("{}: expected an object with the list entries, or with calls",
                               files[k].path.string()));
  }
  return read_flight_records(files, objects);
}

}  // namespace

Trace read_trace(std::span<const TraceFile> files) {
  Trace trace = read_any(files);
  const auto has_calls = [](const auto& rank) { return !rank.second.empty(); };
  if (std::ranges::any_of(trace.calls, has_calls)) return trace;
  throw BadInput(fmt::format(
      "{}: got no call, expected a log of NCCL with NCCL_DEBUG_SUBSYS=INIT,COLL, a record of "
      "PyTorch in JSON, or an object of ranks and calls",
      files.front().path.string()));
}

}  // namespace rankcheck::cases::traces

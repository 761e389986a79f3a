#include "cases/devices/link_probe.hpp"

#include <nlohmann/json.hpp>

#include "harness/case/fields.hpp"

// The harness looks for these functions in the types' own namespace.
namespace rankcheck::gpu::cuda {

static void read_value(const nlohmann::json& value, Method& out) {
  out = static_cast<Method>(harness::read_name(value, method_names));
}
static void read_value(const nlohmann::json& value, Way& out) {
  out = static_cast<Way>(harness::read_name(value, way_names));
}

}  // namespace rankcheck::gpu::cuda

namespace rankcheck::cases::hardware {

using gpu::cuda::LinkResult;
using nlohmann::ordered_json;

ordered_json to_json(const Device& device) {
  ordered_json out{{"name", device.name},
                   {"bus", device.bus},
                   {"capability", device.capability},
                   {"memory_bytes", device.memory_bytes}};
  if (!device.memory.empty()) out["memory"] = device.memory;
  return out;
}

Device device_from_json(const nlohmann::json& json) {
  harness::Fields fields(json, "device");
  Device device;
  fields.required("name", device.name);
  fields.required("bus", device.bus);
  fields.required("capability", device.capability);
  fields.required("memory_bytes", device.memory_bytes);
  fields.optional("memory", device.memory);
  fields.reject_unknown();
  return device;
}

ordered_json to_json(const ProbeRequest& request) {
  return {{"from", request.from},
          {"to", request.to},
          {"bytes", request.bytes},
          {"method", gpu::cuda::name(request.probe.method)},
          {"seed", request.probe.seed},
          {"first", request.probe.first},
          {"patterns", request.probe.patterns},
          {"repeats", request.probe.repeats}};
}

ProbeRequest request_from_json(const nlohmann::json& json) {
  harness::Fields fields(json, "probe");
  ProbeRequest request;
  fields.required("from", request.from);
  fields.required("to", request.to);
  fields.required("bytes", request.bytes);
  fields.required("method", request.probe.method);
  fields.required("seed", request.probe.seed);
  fields.required("first", request.probe.first);
  fields.required("patterns", request.probe.patterns);
  fields.required("repeats", request.probe.repeats);
  fields.reject_unknown();
  if (request.from < 0 || request.to < 0) {
    throw harness::BadInput("probe: expected devices from 0 on");
  }
  return request;
}

ordered_json to_json(const LinkResult& result) {
  ordered_json out{{"way", gpu::cuda::name(result.way)},
                   {"bytes_of_copy", result.bytes_of_copy},
                   {"copies", result.copies},
                   {"wrong_copies", result.wrong_copies},
                   {"wrong_bytes", result.wrong_bytes},
                   {"lost_sources", result.lost_sources},
                   {"seconds", result.seconds}};
  if (!result.impossible_time.empty()) out["impossible_time"] = result.impossible_time;
  if (result.first_wrong) {
    out["first_wrong"] = {{"pattern", result.first_wrong_pattern},
                          {"index", result.first_wrong->index},
                          {"expected", result.first_wrong->expected},
                          {"got", result.first_wrong->got}};
  }
  return out;
}

LinkResult result_from_json(const nlohmann::json& json) {
  harness::Fields fields(json, "probe's result");
  LinkResult result;
  fields.required("way", result.way);
  fields.required("bytes_of_copy", result.bytes_of_copy);
  fields.required("copies", result.copies);
  fields.required("wrong_copies", result.wrong_copies);
  fields.required("wrong_bytes", result.wrong_bytes);
  fields.required("lost_sources", result.lost_sources);
  fields.required("seconds", result.seconds);
  fields.optional("impossible_time", result.impossible_time);
  if (const nlohmann::json* wrong = fields.find("first_wrong")) {
    harness::Fields of_word(*wrong, "probe's result: first_wrong");
    gpu::cuda::WrongWord& word = result.first_wrong.emplace();
    of_word.required("pattern", result.first_wrong_pattern);
    of_word.required("index", word.index);
    of_word.required("expected", word.expected);
    of_word.required("got", word.got);
    of_word.reject_unknown();
  }
  fields.reject_unknown();
  return result;
}

}  // namespace rankcheck::cases::hardware

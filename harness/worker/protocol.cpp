#include "harness/worker/protocol.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

#include "harness/backend/capabilities.hpp"
#include "harness/base/json_text.hpp"
#include "harness/case/family.hpp"
#include "harness/case/fields.hpp"

namespace rankcheck::harness::worker {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t prefix_bytes = 4;
/// Parts of a header go into journals, which add further levels of nesting.
constexpr int header_depth_max = 32;
constexpr std::size_t read_bytes_min = std::size_t{64} << 10;

constexpr std::array<std::string_view, 6> status_names{
    "completed", "failed", "hung", "crashed", "refused", "errored"};
constexpr std::array<std::string_view, 4> nan_rule_names{
    "drops", "propagates", "either", "unspecified"};
constexpr std::array<std::string_view, 2> zero_rule_names{"ieee", "unspecified"};
constexpr std::array<std::string_view, 2> result_place_names{"own_block", "start"};

bool is_text(std::string_view bytes) {
  return std::ranges::all_of(
      bytes, [](unsigned char each) { return std::isprint(each) != 0 || std::isspace(each) != 0; });
}

/// Runs `read` and turns BadInput into a ProtocolError.
template <class Read>
auto reading(Read read) {
  try {
    return read();
  } catch (const BadInput& bad) {
    throw ProtocolError(bad.what());
  }
}

template <class Enum, std::size_t n>
void read_named(Fields& fields,
                std::string_view name,
                const std::array<std::string_view, n>& names,
                Enum& out) {
  const json& value = fields.at(name);
  try {
    out = static_cast<Enum>(read_name(value, names));
  } catch (const BadInput& bad) {
    fields.fail(name, bad.what());
  }
}

}  // namespace

bool Connection::send(ordered_json header, std::span<const std::span<const std::byte>> parts) {
  std::size_t payload = 0;
  for (const auto& part : parts) payload += part.size();
  if (payload > 0) header["payload"] = payload;
  const std::string text = header.dump(-1, ' ', false, json::error_handler_t::replace);
  std::vector<std::byte> start(prefix_bytes + text.size());
  for (std::size_t i = 0; i < prefix_bytes; ++i) {
    start[i] = static_cast<std::byte>(text.size() >> (8 * i) & 0xffU);
  }
  std::memcpy(start.data() + prefix_bytes, text.data(), text.size());
  bool sent = write(start);
  for (const auto& part : parts) sent = sent && write(part);
  return sent;
}

bool Connection::write(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    ssize_t written = ::send(out_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (written < 0 && errno == ENOTSOCK) written = ::write(out_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN && is_patient_ && is_patient_()) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(spec::to_size(written));
  }
  return true;
}

bool Connection::fill() {
  if (begin_ > 0) {
    std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
              buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
              buffer_.begin());
    end_ -= std::exchange(begin_, 0);
  }
  if (buffer_.size() < end_ + read_bytes_min) {
    buffer_.resize(std::max(2 * buffer_.size(), end_ + read_bytes_min));
  }
  while (true) {
    const ssize_t got = ::read(in_.get(), buffer_.data() + end_, buffer_.size() - end_);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    end_ += spec::to_size(got);
    return true;
  }
}

std::optional<Frame> Connection::next(std::uint64_t payload_bytes_max) {
  const std::size_t available = end_ - begin_;
  if (available < prefix_bytes) return std::nullopt;
  const std::byte* start = buffer_.data() + begin_;
  std::size_t length = 0;
  for (std::size_t i = 0; i < prefix_bytes; ++i) {
    length |= std::to_integer<std::size_t>(start[i]) << (8 * i);
  }
  if (length > header_bytes_max) {
    const std::string_view got(reinterpret_cast<const char*>(start), available);
    if (is_text(got.substr(0, prefix_bytes))) {
      throw ProtocolError(fmt::format(
          "got the text \"{:.60}\", expected a message: a worker whose messages are its standard "
          "output must print nothing else there",
          got.substr(0, got.find('\n'))));
    }
    throw ProtocolError(
        fmt::format("a header of {} bytes; at most {} are allowed", length, header_bytes_max));
  }
  if (available < prefix_bytes + length) return std::nullopt;
  const char* text = reinterpret_cast<const char*>(start + prefix_bytes);
  Frame frame{.header = parse_json({text, length}, header_depth_max), .payload = {}};
  if (!frame.header.is_object()) throw ProtocolError("a header that is not a JSON object");
  const auto announced = frame.header.find("payload");
  std::uint64_t payload = 0;
  if (announced != frame.header.end()) {
    if (!announced->is_number_unsigned()) throw ProtocolError("payload: expected a size in bytes");
    payload = announced->get<std::uint64_t>();
  }
  if (payload > payload_bytes_max) {
    throw ProtocolError(
        fmt::format("a payload of {} bytes; expected at most {}", payload, payload_bytes_max));
  }
  if (available - prefix_bytes - length < payload) return std::nullopt;
  frame.payload = {start + prefix_bytes + length, spec::to_size(payload)};
  frame.bytes = {start, prefix_bytes + length + spec::to_size(payload)};
  begin_ += frame.bytes.size();
  return frame;
}

ordered_json to_json(const Hello& hello) {
  const BackendTraits& traits = hello.traits;
  ordered_json algorithms = ordered_json::array();
  for (const Algorithm& algorithm : hello.algorithms) {
    ordered_json entry{{"operation", algorithm.info.operation},
                       {"name", algorithm.info.name},
                       {"summary", algorithm.info.summary}};
    if (algorithm.info.needs_hosts) entry["needs_hosts"] = true;
    if (!algorithm.environment.empty()) entry["environment"] = algorithm.environment;
    if (!algorithm.info.variables.empty()) entry["variables"] = algorithm.info.variables;
    algorithms.push_back(std::move(entry));
  }
  ordered_json body{{"protocol", hello.takes_inputs ? 2 : protocol_version},
                    {"world", hello.world},
                    {"ranks", hello.ranks},
                    {"traits",
                     {{"name", traits.name},
                      {"nan_rule", nan_rule_names[spec::to_size(traits.nan_rule)]},
                      {"zero_rule", zero_rule_names[spec::to_size(traits.zero_rule)]},
                      {"result_place", result_place_names[spec::to_size(traits.result_place)]},
                      {"ranks_max", traits.ranks_max},
                      {"deterministic", traits.deterministic}}},
                    {"algorithms", std::move(algorithms)},
                    {"versions", hello.versions}};
  if (traits.rounds) body["traits"]["rounds"] = true;
  if (traits.has_streams) body["traits"]["streams"] = true;
  if (traits.has_delays) body["traits"]["delays"] = true;
  if (traits.has_overlaps) body["traits"]["overlaps"] = true;
  if (traits.frees_groups) body["traits"]["frees"] = true;
  if (traits.has_strides) body["traits"]["strides"] = true;
  if (hello.everyone) body["everyone"] = true;
  if (hello.takes_inputs) body["inputs"] = "sent";
  if (hello.takes_file) body["shared_file"] = true;
  if (hello.takes_together) body["together"] = true;
  if (hello.takes_given) body["given"] = true;
  return {{"hello", std::move(body)}};
}

namespace {

void check_ranks(const Hello& hello) {
  std::set<int> seen;
  for (const int rank : hello.ranks) {
    if (rank < 0 || rank >= hello.world) {
      throw BadInput(fmt::format("ranks: got {1}, expected 0..{0}", hello.world - 1, rank));
    }
    if (!seen.insert(rank).second) throw BadInput(fmt::format("ranks: {} occurs twice", rank));
  }
}

/// Notes the first field that nobody asked for. Older workers may have fields of their own, so it
/// is no error.
void note_unknown(const Fields& fields, Hello& hello) {
  try {
    fields.reject_unknown();
  } catch (const BadInput& bad) {
    hello.hints.emplace_back(bad.what());
  }
}

void read_traits(const json& object, Hello& hello) {
  Fields fields(object, "traits");
  BackendTraits& traits = hello.traits;
  fields.required("name", traits.name);
  read_named(fields, "nan_rule", nan_rule_names, traits.nan_rule);
  if (fields.find("zero_rule") != nullptr) {
    read_named(fields, "zero_rule", zero_rule_names, traits.zero_rule);
  }
  read_named(fields, "result_place", result_place_names, traits.result_place);
  fields.required("ranks_max", traits.ranks_max);
  if (traits.ranks_max < 1) {
    fields.fail("ranks_max", fmt::format("got {}, expected at least 1", traits.ranks_max));
  }
  traits.ranks_max = std::min(traits.ranks_max, hello.world);
  fields.required("deterministic", traits.deterministic);
  fields.optional("rounds", traits.rounds);
  fields.optional("streams", traits.has_streams);
  fields.optional("delays", traits.has_delays);
  fields.optional("overlaps", traits.has_overlaps);
  fields.optional("frees", traits.frees_groups);
  fields.optional("strides", traits.has_strides);
  note_unknown(fields, hello);
}

void read_algorithm(const json& entry, Hello& hello) {
  Fields fields(entry, "algorithms");
  Algorithm algorithm;
  AlgorithmInfo& info = algorithm.info;
  fields.required("operation", info.operation);
  fields.required("name", info.name);
  fields.required("summary", info.summary);
  fields.optional("needs_hosts", info.needs_hosts);
  // Nothing would ask for an operation whose name is wrong, and nobody would notice.
  if (find_family(info.operation) == nullptr) {
    throw BadInput(fmt::format(
        "algorithms: {:.60}: expected an operation that 'rankcheck list' shows", info.operation));
  }
  fields.optional("environment", algorithm.environment);
  fields.optional("variables", algorithm.info.variables);
  if (const json* takes = fields.find("takes")) {
    try {
      algorithm.takes = std::make_shared<Capabilities>(info.operation, hello.takes_inputs, *takes);
    } catch (const BadInput& bad) {
      throw BadInput(fmt::format("takes of {} of {}: {}", info.name, info.operation, bad.what()));
    }
  }
  note_unknown(fields, hello);
  for (const Algorithm& each : hello.algorithms) {
    if (each.info.operation != info.operation || each.info.name != info.name) continue;
    throw BadInput(fmt::format("algorithms: {} of {} occurs twice", info.name, info.operation));
  }
  hello.algorithms.push_back(std::move(algorithm));
}

Hello read_hello(const json& header) {
  const auto body = header.find("hello");
  if (body == header.end()) {
    throw BadInput(fmt::format("got {:.80}, expected the field hello", header.dump()));
  }
  Fields fields(*body);
  Hello hello;
  int version = 0;
  fields.required("protocol", version);
  if (version < protocol_version || version > protocol_version_max) {
    throw BadInput(fmt::format("speaks version {} of the protocol, not {} or {}",
                               version,
                               protocol_version,
                               protocol_version_max));
  }
  std::string inputs = "derived";
  fields.optional("inputs", inputs);
  if (inputs != "sent" && inputs != "derived") {
    throw BadInput(fmt::format("inputs: got {:.60}, expected sent or derived", inputs));
  }
  hello.takes_inputs = version >= 2 && inputs == "sent";
  if (inputs == "sent" && version < 2) hello.hints.emplace_back("inputs: sent needs protocol 2");
  bool takes_file = false;
  fields.optional("shared_file", takes_file);
  hello.takes_file = takes_file && hello.takes_inputs;
  if (takes_file && !hello.takes_file) hello.hints.emplace_back("shared_file: needs inputs sent");
  fields.optional("together", hello.takes_together);
  hello.takes_together = hello.takes_together && hello.takes_inputs;
  fields.optional("given", hello.takes_given);
  fields.required("world", hello.world);
  if (hello.world < 1 || hello.world > world_ranks_max) {
    throw BadInput(fmt::format("world: got {1}, expected 1..{0}", world_ranks_max, hello.world));
  }
  fields.required("ranks", hello.ranks);
  check_ranks(hello);
  read_traits(fields.at("traits"), hello);
  if (hello.traits.has_overlaps && hello.takes_inputs && !hello.takes_together) {
    fields.fail("together", "expected true with the trait overlaps");
  }
  const json& algorithms = fields.at("algorithms");
  if (!algorithms.is_array()) fields.fail("algorithms", "expected a list");
  for (const json& entry : algorithms) read_algorithm(entry, hello);
  fields.optional("everyone", hello.everyone);
  if (const json* versions = fields.find("versions")) hello.versions = *versions;
  note_unknown(fields, hello);
  return hello;
}

}  // namespace

Hello hello_from_json(const json& header) {
  return reading([&] { return read_hello(header); });
}

Progress progress_from_json(const json& header) {
  return reading([&] {
    Fields fields(header);
    Progress progress;
    fields.required("progress", progress.run);
    fields.required("rank", progress.rank);
    fields.required("stage", progress.stage);
    return progress;
  });
}

std::string_view name(RunStatus status) {
  return status_names[spec::to_size(status)];
}

/// The symptom of a result. Only one cannot be seen from outside.
static Symptom symptom_of(const json& header) {
  const auto found = header.find("symptom");
  if (found == header.end()) return Symptom::none;
  if (*found != name(Symptom::path)) {
    throw ProtocolError(fmt::format("symptom: got {:.60}, expected \"path\"", found->dump()));
  }
  return Symptom::path;
}

bool send_result(Connection& connection, std::uint64_t run, const Observation& result) {
  ordered_json stamps = ordered_json::array();
  ordered_json sizes = ordered_json::array();
  std::vector<std::span<const std::byte>> parts;
  for (const StageOutcome& stage : result.stages) {
    ordered_json& stage_sizes = sizes.emplace_back(ordered_json::array());
    ordered_json& stage_stamps = stamps.emplace_back(ordered_json::array());
    for (const Image& image : stage.images) {
      stage_sizes.push_back(image.size());
      parts.emplace_back(image);
    }
    for (const Stamp& stamp : stage.stamps) stage_stamps.push_back({stamp.entered, stamp.left});
  }
  ordered_json header{{"result", run}, {"status", name(result.status)}};
  if (!result.reason.empty()) header["reason"] = result.reason;
  if (result.symptom == Symptom::path) header["symptom"] = name(result.symptom);
  header["path"] = result.path;
  header["stamps"] = std::move(stamps);
  header["sizes"] = std::move(sizes);
  if (result.fault_fired) header["fault_fired"] = true;
  if (result.fault_changed) header["fault_changed"] = true;
  return connection.send(std::move(header), parts);
}

void read_result(const Frame& frame,
                 Observation& result,
                 std::span<const std::span<const std::byte>> placed) {
  reading([&] {
    Fields fields(frame.header);
    result.clear();
    read_named(fields, "status", status_names, result.status);
    fields.optional("reason", result.reason);
    result.symptom = symptom_of(frame.header);
    fields.optional("fault_fired", result.fault_fired);
    fields.optional("fault_changed", result.fault_changed);
    fields.required("path", result.path);
    std::vector<std::vector<std::size_t>> sizes;
    fields.required("sizes", sizes);
    std::vector<std::vector<std::vector<std::int64_t>>> stamps;
    fields.required("stamps", stamps);
    result.stages.resize(sizes.size());
    std::size_t position = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      StageOutcome& stage = result.stages[k];
      stage.images.resize(sizes[k].size());
      stage.stamps.assign(sizes[k].size(), Stamp{});
      for (std::size_t i = 0; i < sizes[k].size(); ++i) {
        const std::size_t size = sizes[k][i];
        const bool is_placed = i < placed.size() && !placed[i].empty();
        if (is_placed && size != placed[i].size()) {
          throw ProtocolError(
              fmt::format("sizes: got {1}, expected {0} bytes of the image in the shared file",
                          placed[i].size(),
                          size));
        }
        if (!is_placed && size > frame.payload.size() - position) {
          throw ProtocolError(fmt::format(
              "sizes: {} bytes up to an image of stage {}, which exceeds the payload of {} bytes",
              position + size,
              k,
              frame.payload.size()));
        }
        const auto image = is_placed ? placed[i] : frame.payload.subspan(position, size);
        stage.images[i].assign(image.begin(), image.end());
        position += is_placed ? 0 : size;
        if (k >= stamps.size() || i >= stamps[k].size() || stamps[k][i].size() < 2) {
          throw ProtocolError("stamps: expected [entered, left] for each image");
        }
        stage.stamps[i] = {stamps[k][i][0], stamps[k][i][1]};
        if (stage.stamps[i].left < stage.stamps[i].entered) {
          throw ProtocolError(
              fmt::format("stamps: left at {}, before it entered at {}, in stage {}",
                          stage.stamps[i].left,
                          stage.stamps[i].entered,
                          k));
        }
      }
    }
    if (position != frame.payload.size()) {
      throw ProtocolError(
          fmt::format("sizes: {} bytes in all, which fall short of the payload of {} bytes",
                      position,
                      frame.payload.size()));
    }
  });
}

}  // namespace rankcheck::harness::worker

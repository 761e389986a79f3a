#include "harness/worker/protocol.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"
#include "reference/spec/value_rules.hpp"

#include "harness/capabilities.hpp"
#include "harness/family.hpp"
#include "harness/json_text.hpp"

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
constexpr std::array<std::string_view, 3> nan_rule_names{"drops", "propagates", "unspecified"};
constexpr std::array<std::string_view, 2> zero_rule_names{"ieee", "unspecified"};
constexpr std::array<std::string_view, 2> result_place_names{"own_block", "start"};

template <class Enum, std::size_t n>
Enum named(const std::array<std::string_view, n>& names, const json& value, const char* field) {
  const auto& text = value.get_ref<const std::string&>();
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) throw ProtocolError(fmt::format("{}: unknown value '{}'", field, text));
  return static_cast<Enum>(found - names.begin());
}

/// Reads a field, or an element of a list, that must be a whole number in the type's range. The
/// JSON library would accept and convert other values.
template <class Number>
Number whole_number(const json& values, const auto& place) {
  const json& value = values.at(place);
  const bool fits =
      value.is_number_unsigned()
          ? std::in_range<Number>(value.get<std::uint64_t>())
          : value.is_number_integer() && std::in_range<Number>(value.get<std::int64_t>());
  if (fits) return value.get<Number>();
  throw ProtocolError(
      fmt::format("{}: expected a whole number in its range, got {:.40}", place, value.dump()));
}

/// Runs `read` and turns exceptions of the JSON library into a ProtocolError.
template <class Read>
auto reading(const char* message, Read read) {
  try {
    return read();
  } catch (const json::exception& error) {
    throw ProtocolError(fmt::format("malformed {}: {}", message, error.what()));
  }
}

}  // namespace

Connection::Connection(Connection&& other) noexcept
    : in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      is_patient_(std::move(other.is_patient_)),
      buffer_(std::move(other.buffer_)),
      begin_(other.begin_),
      end_(other.end_) {}

Connection& Connection::operator=(Connection&& other) noexcept {
  std::swap(in_, other.in_);
  std::swap(out_, other.out_);
  std::swap(is_patient_, other.is_patient_);
  std::swap(buffer_, other.buffer_);
  std::swap(begin_, other.begin_);
  std::swap(end_, other.end_);
  return *this;
}

Connection::~Connection() {
  if (in_ >= 0) ::close(in_);
  if (out_ >= 0 && out_ != in_) ::close(out_);
}

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
  bool sent = write_all(start);
  for (const auto& part : parts) sent = sent && write_all(part);
  return sent;
}

bool Connection::write_all(std::span<const std::byte> bytes) const {
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
    const ssize_t got = ::read(in_, buffer_.data() + end_, buffer_.size() - end_);
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
  begin_ += prefix_bytes + length + spec::to_size(payload);
  return frame;
}

ordered_json to_json(const Hello& hello) {
  const BackendTraits& traits = hello.traits;
  ordered_json algorithms = ordered_json::array();
  for (const Algorithm& algorithm : hello.algorithms) {
    ordered_json entry{{"operation", algorithm.info.operation},
                       {"name", algorithm.info.name},
                       {"summary", algorithm.info.summary}};
    if (!algorithm.environment.empty()) entry["environment"] = algorithm.environment;
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
  if (hello.everyone) body["everyone"] = true;
  if (hello.takes_inputs) body["inputs"] = "sent";
  if (hello.takes_given) body["given"] = true;
  return {{"hello", std::move(body)}};
}

namespace {

void read_ranks(const json& list, Hello& hello) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    const int rank = whole_number<int>(list, i);
    if (rank < 0 || rank >= hello.world) {
      throw ProtocolError(fmt::format("ranks: expected 0..{}, got {}", hello.world - 1, rank));
    }
    if (std::count(hello.ranks.begin(), hello.ranks.end(), rank) > 0) {
      throw ProtocolError(fmt::format("ranks: {} occurs twice", rank));
    }
    hello.ranks.push_back(rank);
  }
}

void read_takes(const json& entry, bool takes_inputs, Algorithm& algorithm) {
  const auto takes = entry.find("takes");
  if (takes == entry.end()) return;
  const AlgorithmInfo& info = algorithm.info;
  try {
    algorithm.takes = std::make_shared<Capabilities>(info.operation, takes_inputs, *takes);
  } catch (const BadInput& error) {
    throw ProtocolError(
        fmt::format("takes of {} of {}: {}", info.name, info.operation, error.what()));
  }
}

}  // namespace

Hello hello_from_json(const json& header) {
  return reading("hello", [&] {
    const json& body = header.at("hello");
    const int version = whole_number<int>(body, "protocol");
    if (version < protocol_version || version > protocol_version_max) {
      throw ProtocolError(fmt::format("speaks version {} of the protocol, not {} or {}",
                                      version,
                                      protocol_version,
                                      protocol_version_max));
    }
    Hello hello;
    if (version >= 2 && body.contains("inputs")) {
      const std::string inputs = body["inputs"].get<std::string>();
      if (inputs != "sent" && inputs != "derived") {
        throw ProtocolError(fmt::format("inputs: expected sent or derived, got {:.60}", inputs));
      }
      hello.takes_inputs = inputs == "sent";
    }
    if (body.contains("given")) hello.takes_given = body["given"].get<bool>();
    hello.world = whole_number<int>(body, "world");
    if (hello.world < 1 || hello.world > world_ranks_max) {
      throw ProtocolError(
          fmt::format("world: expected 1..{}, got {}", world_ranks_max, hello.world));
    }
    read_ranks(body.at("ranks"), hello);
    const json& traits = body.at("traits");
    hello.traits.name = traits.at("name").get<std::string>();
    hello.traits.nan_rule = named<spec::NanRule>(nan_rule_names, traits.at("nan_rule"), "nan_rule");
    if (traits.contains("zero_rule")) {
      hello.traits.zero_rule =
          named<spec::ZeroRule>(zero_rule_names, traits.at("zero_rule"), "zero_rule");
    }
    hello.traits.result_place =
        named<ResultPlace>(result_place_names, traits.at("result_place"), "result_place");
    const int ranks_max = whole_number<int>(traits, "ranks_max");
    if (ranks_max < 1) {
      throw ProtocolError(fmt::format("ranks_max: expected at least 1, got {}", ranks_max));
    }
    hello.traits.ranks_max = std::min(ranks_max, hello.world);
    hello.traits.deterministic = traits.at("deterministic").get<bool>();
    if (traits.contains("rounds")) hello.traits.rounds = traits["rounds"].get<bool>();
    if (traits.contains("streams")) hello.traits.has_streams = traits["streams"].get<bool>();
    std::set<std::pair<std::string, std::string>> names;
    for (const json& entry : body.at("algorithms")) {
      Algorithm algorithm;
      algorithm.info = {.operation = entry.at("operation").get<std::string>(),
                        .name = entry.at("name").get<std::string>(),
                        .summary = entry.at("summary").get<std::string>()};
      // Nothing would ask for an operation whose name is wrong, and nobody would notice.
      if (find_family(algorithm.info.operation) == nullptr) {
        throw ProtocolError(
            fmt::format("algorithms: {:.60}: expected an operation that 'rankcheck list' shows",
                        algorithm.info.operation));
      }
      if (entry.contains("environment")) entry["environment"].get_to(algorithm.environment);
      read_takes(entry, hello.takes_inputs, algorithm);
      const AlgorithmInfo& info = algorithm.info;
      if (!names.emplace(info.operation, info.name).second) {
        throw ProtocolError(
            fmt::format("algorithms: {} of {} occurs twice", info.name, info.operation));
      }
      hello.algorithms.push_back(std::move(algorithm));
    }
    if (body.contains("everyone")) hello.everyone = body["everyone"].get<bool>();
    if (body.contains("versions")) hello.versions = body["versions"];
    return hello;
  });
}

Progress progress_from_json(const json& header) {
  return reading("progress", [&] {
    return Progress{.run = whole_number<std::uint64_t>(header, "progress"),
                    .rank = whole_number<std::int64_t>(header, "rank"),
                    .stage = whole_number<std::uint64_t>(header, "stage")};
  });
}

std::string_view name(RunStatus status) {
  return status_names[spec::to_size(status)];
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
  header["path"] = result.path;
  header["stamps"] = std::move(stamps);
  header["sizes"] = std::move(sizes);
  if (result.fault_fired) header["fault_fired"] = true;
  if (result.fault_changed) header["fault_changed"] = true;
  return connection.send(std::move(header), parts);
}

void read_result(const Frame& frame, Observation& result) {
  reading("result", [&] {
    const json& header = frame.header;
    result.status = named<RunStatus>(status_names, header.at("status"), "status");
    result.reason = header.value("reason", std::string());
    result.fault_fired = header.value("fault_fired", false);
    result.fault_changed = header.value("fault_changed", false);
    header.at("path").get_to(result.path);
    const json& sizes = header.at("sizes");
    const json& stamps = header.at("stamps");
    result.stages.resize(sizes.size());
    std::size_t position = 0;
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      StageOutcome& stage = result.stages[k];
      stage.images.resize(sizes[k].size());
      stage.stamps.assign(sizes[k].size(), Stamp{});
      for (std::size_t i = 0; i < sizes[k].size(); ++i) {
        const auto size = whole_number<std::size_t>(sizes[k], i);
        if (size > frame.payload.size() - position) throw ProtocolError("sizes exceed the payload");
        const auto image = frame.payload.subspan(position, size);
        stage.images[i].assign(image.begin(), image.end());
        position += size;
        const json& stamp = stamps.at(k).at(i);
        stage.stamps[i] = {whole_number<std::int64_t>(stamp, 0),
                           whole_number<std::int64_t>(stamp, 1)};
        if (stage.stamps[i].left < stage.stamps[i].entered) {
          throw ProtocolError(
              fmt::format("stamps: left at {}, before it entered at {}, in stage {}",
                          stage.stamps[i].left,
                          stage.stamps[i].entered,
                          k));
        }
      }
    }
    if (position != frame.payload.size()) throw ProtocolError("sizes fall short of the payload");
  });
}

}  // namespace rankcheck::harness::worker

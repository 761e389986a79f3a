#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include <fmt/format.h>

#include "cases/families/collectives/case.hpp"
#include "cases/traces/trace.hpp"

namespace rankcheck::cases::traces {

namespace {

using spec::ReduceOp;
using enum spec::Type;

/// The numbers of ncclDataType_t and ncclRedOp_t are positions here.
constexpr std::array logged_types{
    int8, uint8, int32, uint32, int64, uint64, f16, f32, f64, bf16, f8e4m3, f8e5m2};
constexpr std::array logged_ops{
    ReduceOp::sum, ReduceOp::prod, ReduceOp::max, ReduceOp::min, ReduceOp::avg};

/// The text of a line. The value of a name is the word behind it. The first word has no name.
struct Line {
  std::string place;
  std::map<std::string, std::string> values;

  /// Empty if the name is not there.
  [[nodiscard]] std::string find(const std::string& name) const {
    const auto found = values.find(name);
    return found == values.end() ? std::string() : found->second;
  }
  [[nodiscard]] std::string text(const std::string& name) const {
    std::string word = find(name);
    if (word.empty()) fail("got no " + name);
    return word;
  }
  template <class Number>
  [[nodiscard]] Number number(const std::string& name) const {
    const std::string digits = text(name);
    Number value{};
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error == std::errc() && stop == end && value >= 0) return value;
    fail(fmt::format("{}: got {}, expected a number", name, digits));
  }
  [[noreturn]] void fail(std::string_view what) const {
    throw harness::BadInput(fmt::format("{}: {}", place, what));
  }
};

/// A device of a process, which is one rank of the run.
struct Device {
  /// The world rank. While the logs are read, devices are numbered as they appear.
  int rank = 0;
  /// The names of its communicators, by their addresses.
  std::map<std::string, std::string> communicators;
  /// How many communicators of a size it has made that have no id.
  std::map<std::size_t, int> made;
  std::vector<TracedCall> calls;
};

class Reader {
 public:
  void read(const TraceFile& file) {
    constexpr std::string_view mark = " NCCL INFO ";
    std::istringstream lines(file.text);
    int number = 0;
    for (std::string text; std::getline(lines, text);) {
      ++number;
      const std::size_t end = text.find(mark);
      if (end == std::string::npos) continue;
      Line line{fmt::format("{}:{}", file.path, number), {}};
      std::istringstream words(text.substr(end + mark.size()));
      for (std::string name, word; words >> word; name = word) line.values.emplace(name, word);
      const std::string init = line.find("Init");
      const bool is_made = (init == "START" || init == "COMPLETE") && !line.find("nranks").empty();
      const bool is_call = line.find(line.find("")) == "opCount";
      if (!is_made && !is_call) continue;
      Device& device = device_of(text.substr(0, end), line);
      if (is_made) note_communicator(line, device);
      if (is_call) note_call(line, device);
    }
  }

  [[nodiscard]] Trace trace() {
    choose_world_ranks();
    Trace trace;
    trace.world = static_cast<int>(devices_.size());
    // A rank that has made communicators and no call is known to make none.
    for (auto& [name, device] : devices_) trace.calls[device.rank] = std::move(device.calls);
    for (const auto& [name, members] : communicators_) {
      std::vector<int>& ranks = trace.communicators[name];
      // Members whose logs are not there get world ranks that no log has, in ascending order.
      int next = 0;
      for (const Device* const member : members) {
        while (member == nullptr && trace.calls.contains(next)) ++next;
        ranks.push_back(member == nullptr ? next++ : member->rank);
      }
      trace.world = std::max(trace.world, 1 + *std::ranges::max_element(ranks));
    }
    trace.left_out = std::move(left_out_);
    return trace;
  }

 private:
  /// The device of a line, before whose text stands "host:process:thread [device]".
  Device& device_of(const std::string& before, const Line& line) {
    const std::size_t blank = before.rfind(' ');
    const std::size_t thread = before.rfind(':', blank);
    if (blank == std::string::npos || thread == std::string::npos) {
      line.fail("got no host, process and device before NCCL INFO");
    }
    const std::size_t host = before.rfind(' ', thread) + 1;
    const std::string name = before.substr(host, thread - host) + before.substr(blank);
    const auto [device, is_new] = devices_.try_emplace(name);
    if (is_new) device->second.rank = static_cast<int>(devices_.size()) - 1;
    return device->second;
  }

  void note_communicator(const Line& line, Device& device) {
    const auto rank = line.number<std::size_t>("rank");
    const auto size = line.number<std::size_t>("nranks");
    std::string name = line.find("commId");
    const std::string parent = line.find("parent");
    if (name.empty() && !parent.empty()) {
      const auto whole = device.communicators.find(parent);
      name = fmt::format("{}, split {}, color {}",
                         whole == device.communicators.end() ? "unknown" : whole->second,
                         line.text("splitCount"),
                         line.text("color"));
    } else if (name.empty()) {
      // Libraries from before 2.17 write no id.
      if (line.find("Init") == "START") return;
      name = fmt::format("{} of {} ranks", ++device.made[size], size);
    }
    device.communicators[line.text("comm")] = name;
    std::vector<Device*>& members = communicators_[name];
    if (members.empty() && size <= ranks_max) members.resize(size);
    if (members.empty() || members.size() != size) {
      line.fail(fmt::format(
          "communicator {}: got {} ranks, expected the same number in each line, at most {}",
          name,
          size,
          ranks_max));
    }
    if (rank < size && members[rank] == nullptr) members[rank] = &device;
    if (rank >= size || members[rank] != &device) {
      line.fail(
          fmt::format("communicator {}: got rank {} of {} for one more device", name, rank, size));
    }
  }

  void note_call(const Line& line, Device& device) {
    // A colon follows the name of the function.
    std::string function = line.find("");
    function.pop_back();
    const spec::Contract* const contract = collective_named(function);
    const auto type = line.number<std::size_t>("datatype");
    const auto op = line.number<std::size_t>("op");
    const bool reduces = contract != nullptr && collective(*contract).reduces;
    if (contract == nullptr || type >= logged_types.size() ||
        (reduces && op >= logged_ops.size())) {
      ++left_out_[contract == nullptr ? function : function + " of another type or op"];
      return;
    }
    const auto known = device.communicators.find(line.text("comm"));
    if (known == device.communicators.end()) {
      line.fail(
          fmt::format("communicator {}: the log does not say which ranks it has, expected a log "
                      "with NCCL_DEBUG_SUBSYS=INIT,COLL",
                      line.text("comm")));
    }
    TracedCall& traced = device.calls.emplace_back();
    traced.communicator = known->second;
    traced.place = line.place;
    traced.call.operation = contract->name;
    traced.call.count = line.number<std::int64_t>("count");
    traced.call.type = logged_types[type];
    if (reduces) collective(traced.call).op = logged_ops[op];
    if (collective(*contract).rooted) collective(traced.call).root = line.number<int>("root");
  }

  /// World ranks are those of the largest communicator, if it has all devices. Otherwise devices
  /// keep their numbers.
  void choose_world_ranks() {
    const auto size = [](const auto& each) { return each.second.size(); };
    const auto largest = std::ranges::max_element(communicators_, {}, size);
    if (largest == communicators_.end()) return;
    std::map<Device*, int> ranks;
    for (int rank = 0; Device* const member : largest->second) {
      if (member != nullptr) ranks[member] = rank;
      ++rank;
    }
    if (ranks.size() < devices_.size()) return;
    for (const auto& [device, rank] : ranks) device->rank = rank;
  }

  std::map<std::string, Device> devices_;
  /// The members of each communicator. Null if the log of a member is not there.
  std::map<std::string, std::vector<Device*>> communicators_;
  std::map<std::string, std::int64_t> left_out_;
};

}  // namespace

Trace read_nccl_logs(std::span<const TraceFile> files) {
  Reader reader;
  for (const TraceFile& each : files) reader.read(each);
  return reader.trace();
}

}  // namespace rankcheck::cases::traces

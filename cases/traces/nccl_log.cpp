#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/bad_input.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/traces/trace.hpp"

namespace rankcheck::cases::traces {

namespace {

using harness::BadInput;

/// The numbers of ncclDataType_t and ncclRedOp_t are positions here.
constexpr std::array logged_types{spec::Type::int8,
                                  spec::Type::uint8,
                                  spec::Type::int32,
                                  spec::Type::uint32,
                                  spec::Type::int64,
                                  spec::Type::uint64,
                                  spec::Type::f16,
                                  spec::Type::f32,
                                  spec::Type::f64,
                                  spec::Type::bf16,
                                  spec::Type::f8e4m3,
                                  spec::Type::f8e5m2};
constexpr std::array logged_ops{spec::ReduceOp::sum,
                                spec::ReduceOp::prod,
                                spec::ReduceOp::max,
                                spec::ReduceOp::min,
                                spec::ReduceOp::avg};

struct NamedFunction {
  std::string_view name;
  std::string_view operation;
  bool reduces = false;
  bool is_rooted = false;
};
constexpr std::array functions{
    NamedFunction{"AllReduce", "all_reduce", true, false},
    NamedFunction{"Broadcast", "broadcast", false, true},
    NamedFunction{"Reduce", "reduce", true, true},
    NamedFunction{"AllGather", "all_gather", false, false},
    NamedFunction{"ReduceScatter", "reduce_scatter", true, false},
    NamedFunction{"AlltoAll", "all_to_all", false, false},
    NamedFunction{"Gather", "gather", false, true},
    NamedFunction{"Scatter", "scatter", false, true},
};

/// The words of a line's text, in which most values stand behind their names.
class Words {
 public:
  Words(std::string_view text, std::string place) : place_(std::move(place)) {
    std::istringstream in{std::string(text)};
    for (std::string word; in >> word;) words_.push_back(word);
  }

  [[nodiscard]] bool has(std::size_t at, std::string_view word) const {
    return at < words_.size() && words_[at] == word;
  }
  [[nodiscard]] bool has(std::string_view word) const { return behind(word) > 0; }
  [[nodiscard]] const std::string& front() const { return words_.front(); }
  [[nodiscard]] const std::string& place() const { return place_; }

  /// The word behind a name. Empty if there is none.
  [[nodiscard]] std::string find(std::string_view name) const {
    const std::size_t at = behind(name);
    return at > 0 && at < words_.size() ? words_[at] : std::string();
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    std::string word = find(name);
    if (word.empty()) throw BadInput(fmt::format("{}: got no {}", place_, name));
    return word;
  }
  template <class Number>
  [[nodiscard]] Number number(std::string_view name) const {
    const std::string digits = text(name);
    Number value{};
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc() || stop != end || value < 0) {
      throw BadInput(fmt::format("{}: {}: got {}, expected a number", place_, name, digits));
    }
    return value;
  }

 private:
  /// The place behind a word. 0 if it is not there.
  [[nodiscard]] std::size_t behind(std::string_view word) const {
    const auto found = std::ranges::find(words_, word);
    return found == words_.end() ? 0 : static_cast<std::size_t>(found - words_.begin()) + 1;
  }

  std::string place_;
  std::vector<std::string> words_;
};

/// A process and its device: one rank of the run.
using Place = std::string;

class Reader {
 public:
  void read(const TraceFile& file) {
    std::size_t number = 0;
    std::size_t begin = 0;
    while (begin < file.text.size()) {
      const std::size_t end = std::min(file.text.find('\n', begin), file.text.size());
      const std::string line = file.text.substr(begin, end - begin);
      begin = end + 1;
      ++number;
      read_line(line, fmt::format("{}:{}", file.path.string(), number));
    }
  }

  [[nodiscard]] Trace trace() {
    Trace out;
    number_ranks(out);
    for (const auto& [name, members] : members_) {
      out.communicators[name] = world_ranks_of(name, members, out.world);
    }
    // A rank that has made communicators and no call is known to make none.
    for (const Place& place : places_) out.calls[ranks_.at(place)] = std::move(calls_[place]);
    out.left_out = std::move(left_out_);
    return out;
  }

 private:
  void read_line(const std::string& line, const std::string& where) {
    constexpr std::string_view begin = " NCCL INFO ";
    const std::size_t at = line.find(begin);
    if (at == std::string::npos) return;
    const Words words(line.substr(at + begin.size()), where);
    const bool is_ready = words.find("Init") == "COMPLETE";
    const bool is_made = is_ready || words.find("Init") == "START";
    const bool is_call = words.has(1, "opCount");
    if (!is_call && !(is_made && words.has("nranks"))) return;
    // host:process:thread [device]
    const std::size_t device = line.rfind(' ', at - 1);
    const std::size_t host = device == std::string::npos ? device : line.rfind(' ', device - 1);
    const std::size_t thread = device == std::string::npos ? device : line.rfind(':', device);
    if (thread == std::string::npos) {
      throw BadInput(where + ": got no host, process and device before NCCL INFO");
    }
    const Place place = line.substr(host + 1, thread - host - 1) + line.substr(device, at - device);
    if (std::ranges::count(places_, place) == 0) places_.push_back(place);
    if (is_call) {
      note_call(place, words);
    } else {
      note_communicator(place, words, is_ready);
    }
  }

  void note_communicator(const Place& place, const Words& words, bool is_ready) {
    const int rank = words.number<int>("rank");
    const int size = words.number<int>("nranks");
    std::string name = words.find("commId");
    if (name.empty() && words.has("parent")) {
      // A part of another communicator.
      const auto parent = known_.find({place, words.text("parent")});
      name = fmt::format("{}, split {}, color {}",
                         parent == known_.end() ? "unknown" : parent->second,
                         words.text("splitCount"),
                         words.text("color"));
    } else if (name.empty()) {
      // Libraries from before 2.17 write no id.
      if (!is_ready) return;
      name = fmt::format("{} of {} ranks", ++made_[{place, size}], size);
    }
    known_[{place, words.text("comm")}] = name;
    if (size < 1 || size > ranks_max || sizes_.emplace(name, size).first->second != size) {
      throw BadInput(fmt::format(
          "{}: communicator {}: got {} ranks, expected the same number in each line, at most {}",
          words.place(),
          name,
          size,
          ranks_max));
    }
    const auto [member, is_new] = members_[name].emplace(rank, place);
    if (rank >= size || (!is_new && member->second != place)) {
      throw BadInput(fmt::format("{}: communicator {}: got rank {} of {} for {} and {}",
                                 words.place(),
                                 name,
                                 rank,
                                 size,
                                 place,
                                 member->second));
    }
  }

  void note_call(const Place& place, const Words& words) {
    const std::string function = words.front().substr(0, words.front().size() - 1);
    const auto named = std::ranges::find(functions, function, &NamedFunction::name);
    const auto type = words.number<std::size_t>("datatype");
    const auto op = words.number<std::size_t>("op");
    if (named == functions.end() || type >= logged_types.size() ||
        (named->reduces && op >= logged_ops.size())) {
      ++left_out_[named == functions.end() ? function : function + " of another type or op"];
      return;
    }
    const auto communicator = known_.find({place, words.text("comm")});
    if (communicator == known_.end()) {
      throw BadInput(
          fmt::format("{}: communicator {}: the log does not say which ranks it has, expected a "
                      "log with NCCL_DEBUG_SUBSYS=INIT,COLL",
                      words.place(),
                      words.text("comm")));
    }
    TracedCall traced{.communicator = communicator->second, .call = {}, .place = words.place()};
    traced.call.operation = named->operation;
    traced.call.count = words.number<std::int64_t>("count");
    traced.call.type = logged_types[type];
    if (named->reduces) collective(traced.call).op = logged_ops[op];
    if (named->is_rooted) collective(traced.call).root = words.number<int>("root");
    calls_[place].push_back(std::move(traced));
  }

  /// World ranks are those of the largest communicator, if it has all places. Otherwise places are
  /// numbered in the order in which they appear.
  void number_ranks(Trace& out) {
    const auto largest =
        std::ranges::max_element(sizes_, {}, [](const auto& each) { return each.second; });
    out.world = static_cast<int>(places_.size());
    for (const Place& each : places_) {
      const int rank = static_cast<int>(ranks_.size());
      ranks_[each] = rank;
    }
    if (largest == sizes_.end()) return;
    const std::map<int, Place>& whole = members_.at(largest->first);
    std::map<Place, int> ranks;
    for (const auto& [rank, place] : whole) ranks[place] = rank;
    if (ranks.size() == places_.size()) {
      ranks_ = std::move(ranks);
      out.world = largest->second;
    }
  }

  /// The world ranks of a communicator. Members whose logs are not there get world ranks that no
  /// log has, in ascending order.
  [[nodiscard]] std::vector<int> world_ranks_of(const std::string& name,
                                                const std::map<int, Place>& members,
                                                int& world) const {
    const int size = sizes_.at(name);
    world = std::max(world, size);
    std::vector<int> all(spec::to_size(size), -1);
    for (const auto& [rank, place] : members) {
      all[spec::to_size(rank)] = ranks_.at(place);
    }
    int next = 0;
    for (int& each : all) {
      if (each >= 0) continue;
      const auto is_next = [&](const auto& logged) { return logged.second == next; };
      while (std::ranges::any_of(ranks_, is_next)) ++next;
      each = next++;
      world = std::max(world, next);
    }
    return all;
  }

  std::vector<Place> places_;
  std::map<Place, int> ranks_;
  /// The communicators' names, by place and address.
  std::map<std::pair<Place, std::string>, std::string> known_;
  /// How many communicators of a size a place has made.
  std::map<std::pair<Place, int>, int> made_;
  std::map<std::string, int> sizes_;
  std::map<std::string, std::map<int, Place>> members_;
  std::map<Place, std::vector<TracedCall>> calls_;
  std::map<std::string, std::int64_t> left_out_;
};

}  // namespace

Trace read_nccl_logs(std::span<const TraceFile> files) {
  Reader reader;
  for (const TraceFile& each : files) reader.read(each);
  return reader.trace();
}

}  // namespace rankcheck::cases::traces

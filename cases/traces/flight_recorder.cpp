#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/bad_input.hpp"
#include "harness/base/json_text.hpp"
#include "harness/case/fields.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/traces/trace.hpp"

namespace rankcheck::cases::traces {

namespace {

using harness::BadInput;
using harness::Fields;
using nlohmann::json;

/// What the count of an operation counts.
enum class Counted : std::uint8_t { input, output, nothing };

struct NamedCall {
  std::string_view name;
  std::string_view operation;
  Counted counted = Counted::input;
};
/// Names behind "nccl:" or "gloo:".
constexpr std::array recorded_calls{
    NamedCall{"all_reduce", "all_reduce"},
    NamedCall{"all_reduce_barrier", "barrier", Counted::nothing},
    NamedCall{"barrier", "barrier", Counted::nothing},
    NamedCall{"broadcast", "broadcast"},
    NamedCall{"reduce", "reduce"},
    NamedCall{"all_gather", "all_gather"},
    NamedCall{"_all_gather_base", "all_gather"},
    NamedCall{"gather", "gather"},
    NamedCall{"reduce_scatter", "reduce_scatter", Counted::output},
    NamedCall{"_reduce_scatter_base", "reduce_scatter", Counted::output},
    // Its input is recorded as the share of each rank. That of all_to_all may be one of several.
    NamedCall{"scatter", "scatter"},
};

constexpr std::array<std::pair<std::string_view, spec::Type>, 12> recorded_types{
    {{"Float", spec::Type::f32},
     {"Half", spec::Type::f16},
     {"BFloat16", spec::Type::bf16},
     {"Double", spec::Type::f64},
     {"Int", spec::Type::int32},
     {"Long", spec::Type::int64},
     {"Char", spec::Type::int8},
     {"Byte", spec::Type::uint8},
     {"ComplexFloat", spec::Type::complex64},
     {"ComplexDouble", spec::Type::complex128},
     {"Float8_e4m3fn", spec::Type::f8e4m3},
     {"Float8_e5m2", spec::Type::f8e5m2}}};

using Sizes = std::vector<std::vector<std::int64_t>>;

/// The number of elements of all arrays together. Throws BadInput if no machine has so many.
std::int64_t elements(const Sizes& sizes, const std::string& place) {
  constexpr std::int64_t elements_max = std::int64_t{1} << 40;
  std::int64_t all = 0;
  for (const auto& each : sizes) {
    std::int64_t product = 1;
    for (const std::int64_t length : each) {
      const bool fits = length >= 0 && (length == 0 || product <= elements_max / length);
      if (!fits) throw BadInput(fmt::format("{}: got the sizes {}", place, fmt::join(each, " ")));
      product *= length;
    }
    all += product;
    if (all > elements_max) throw BadInput(fmt::format("{}: got {} elements", place, all));
  }
  return all;
}

/// An entry of a record, as far as it says which call was made.
struct Entry {
  std::string name;
  std::vector<std::string> group;
  Sizes input_sizes;
  Sizes output_sizes;
  std::vector<std::string> input_types;
  std::int64_t number = -1;
};

Entry entry_of(const json& object, const std::string& place) {
  Fields fields(object, place);
  Entry entry;
  fields.required("profiling_name", entry.name);
  fields.required("process_group", entry.group);
  fields.optional("input_sizes", entry.input_sizes);
  fields.optional("output_sizes", entry.output_sizes);
  fields.optional("input_dtypes", entry.input_types);
  fields.optional("collective_seq_id", entry.number);
  if (entry.group.empty()) fields.fail("process_group", "got [], expected the group's name");
  return entry;
}

/// The rank of a record: its field `rank`, or the last number in the file's name.
int rank_of(const json& record, const std::filesystem::path& path) {
  if (record.contains("rank")) {
    int rank = 0;
    Fields(record, path.string()).required("rank", rank);
    return rank;
  }
  const std::string name = path.filename().string();
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto end = std::find_if(name.rbegin(), name.rend(), is_digit).base();
  const auto begin =
      std::find_if_not(std::make_reverse_iterator(end), name.rend(), is_digit).base();
  if (begin == end || end - begin > 6) {
    throw BadInput(path.string() + ": expected the rank as the last number of the file's name");
  }
  return std::stoi(std::string(begin, end));
}

/// The world ranks of a group, which the record has as a list or as the text of one.
std::vector<int> ranks_of(const json& record, const std::string& group, const std::string& place) {
  const json* const all = record.contains("pg_config") ? &record["pg_config"] : nullptr;
  if (all == nullptr || !all->is_object() || !all->contains(group) || !(*all)[group].is_object() ||
      !(*all)[group].contains("ranks")) {
    throw BadInput(fmt::format("{}: pg_config has no ranks of the group {}", place, group));
  }
  json ranks = (*all)[group]["ranks"];
  if (ranks.is_string()) ranks = harness::parse_json(ranks.get<std::string>());
  std::vector<int> out;
  try {
    harness::read_value(ranks, out);
  } catch (const BadInput& bad) {
    throw BadInput(fmt::format("{}: pg_config: {}: ranks: {}", place, group, bad.what()));
  }
  const bool are_ranks =
      std::ranges::all_of(out, [](int rank) { return rank >= 0 && rank < ranks_max; });
  if (out.empty() || !are_ranks) {
    throw BadInput(fmt::format(
        "{}: pg_config: {}: ranks: expected numbers in 0..{}", place, group, ranks_max - 1));
  }
  return out;
}

/// A record has the last calls of its rank only. Leaves out what a communicator has called before
/// the first call that the records of all its members have.
void drop_older(Trace& trace) {
  std::map<std::string, std::int64_t> begins;
  for (const auto& [rank, calls] : trace.calls) {
    std::map<std::string, std::int64_t> own;
    for (const TracedCall& each : calls) own.emplace(each.communicator, each.number);
    for (const auto& [name, number] : own) {
      const auto begin = begins.emplace(name, number).first;
      begin->second = std::max(begin->second, number);
    }
  }
  for (auto& [rank, calls] : trace.calls) {
    const auto dropped = std::erase_if(
        calls, [&](const TracedCall& each) { return each.number < begins.at(each.communicator); });
    if (dropped > 0) {
      trace.left_out["calls that other ranks no longer have"] += static_cast<std::int64_t>(dropped);
    }
  }
}

}  // namespace

Trace read_flight_records(std::span<const TraceFile> files, std::span<const json> records) {
  Trace trace;
  for (std::size_t k = 0; k < files.size(); ++k) {
    const std::string path = files[k].path.string();
    const int rank = rank_of(records[k], files[k].path);
    if (trace.calls.contains(rank)) throw BadInput(fmt::format("{}: rank {} again", path, rank));
    std::vector<TracedCall>& own = trace.calls[rank];
    std::size_t number = 0;
    for (const json& each : records[k]["entries"]) {
      const std::string place = fmt::format("{}: entry {}", path, number++);
      const Entry entry = entry_of(each, place);
      const std::string name = entry.name.substr(entry.name.find(':') + 1);
      const auto named = std::ranges::find(recorded_calls, name, &NamedCall::name);
      const auto type =
          std::ranges::find(recorded_types,
                            entry.input_types.empty() ? "Float" : entry.input_types[0],
                            [](const auto& pair) { return pair.first; });
      const std::vector<int> ranks = ranks_of(records[k], entry.group[0], place);
      if (std::ranges::count(ranks, rank) == 0) {
        throw BadInput(
            fmt::format("{}: rank {} is not in the group {}", place, rank, entry.group[0]));
      }
      if (named == recorded_calls.end() || type == recorded_types.end()) {
        ++trace.left_out[entry.name.substr(0, entry.name.find(' '))];
        continue;
      }
      TracedCall& traced = own.emplace_back();
      traced.communicator = fmt::format("{} of {}", entry.group[0], fmt::join(ranks, ","));
      traced.place = place;
      traced.number = entry.number;
      trace.communicators[traced.communicator] = ranks;
      trace.world = std::max(trace.world, 1 + *std::ranges::max_element(ranks));
      traced.call.operation = named->operation;
      traced.call.type = named->counted == Counted::nothing ? spec::Type::f32 : type->second;
      if (named->counted != Counted::nothing) {
        const bool is_input = named->counted == Counted::input;
        traced.call.count = elements(is_input ? entry.input_sizes : entry.output_sizes, place);
      }
      // The record has neither the op nor the root.
      if (name.find("reduce") != std::string::npos && named->counted != Counted::nothing) {
        collective(traced.call).op = spec::ReduceOp::sum;
      }
    }
  }
  drop_older(trace);
  return trace;
}

}  // namespace rankcheck::cases::traces

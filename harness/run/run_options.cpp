#include "harness/run/run_options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/spec/to_size.hpp"

#include "harness/backend/backend.hpp"
#include "harness/base/nearest.hpp"
#include "harness/case/hosts.hpp"
#include "harness/run/option_values.hpp"

namespace rankcheck::harness::run {

namespace {

/// Returns a seed that changes with every commit: 48 bits of the commit's hash, which a JSON number
/// holds exactly. Throws BadInput if there is no commit.
std::uint64_t seed_of_commit() {
  std::FILE* git = ::popen("git rev-parse HEAD 2>/dev/null", "r");
  char hash[13] = {};
  const std::size_t got = git == nullptr ? 0 : std::fread(hash, 1, 12, git);
  if (git == nullptr || ::pclose(git) != 0 || got != 12) {
    throw BadInput("--seed commit: " + std::filesystem::current_path().string() +
                   ": expected a working directory of git with a commit");
  }
  return std::stoull(hash, nullptr, 16);
}

/// Each job needs a thread and, with some backends, processes.
constexpr int jobs_max = 256;

/// No world has more ranks.
constexpr int ranks_max = 4096;

/// More replays than this are an oversight: each one starts the processes of a backend anew.
constexpr int replays_max = 1000;

/// Whether the whole text is a whole number in the range of its type.
template <class Number>
bool parse(std::string_view text, Number& out) {
  if (!is_whole_number(text)) return false;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out);
  return error == std::errc{} && stop == end;
}

std::uint64_t parse_seed(const std::string& text) {
  if (text == "commit") return seed_of_commit();
  std::uint64_t seed = 0;
  if (parse(text, seed)) return seed;
  throw BadInput(
      fmt::format("--seed: {:.60}: expected a whole number below 2^64, or commit", text));
}

/// Parses "A..B" or "N" into two numbers. Throws BadInput.
std::vector<int> parse_ranks(const std::string& text) {
  const std::size_t dots = text.find("..");
  const std::string_view whole = text;
  int least = 0;
  int most = 0;
  const bool is_read = dots == std::string::npos ? parse(whole, least) && parse(whole, most)
                                                 : parse(whole.substr(0, dots), least) &&
                                                       parse(whole.substr(dots + 2), most);
  if (!is_read || least < 1 || most < least || most > ranks_max) {
    throw BadInput(
        fmt::format("--ranks: {:.60}: expected A..B or N with 1 <= A <= B <= {}", text, ranks_max));
  }
  return {least, most};
}

/// Parses the numbers of hosts, one for each rank, with commas between them. Throws BadInput.
std::vector<int> parse_hosts(const std::string& text) {
  std::vector<int> hosts;
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t last = std::min(text.find(',', first), text.size());
    const std::string_view each = std::string_view(text).substr(first, last - first);
    first = last + 1;
    if (!parse(each, hosts.emplace_back())) {
      throw BadInput("--hosts: " + text + ": expected the host of each rank, as in 0,0,1");
    }
  }
  const std::string why = why_hosts_invalid(hosts, static_cast<int>(hosts.size()));
  if (!why.empty()) throw BadInput("--" + why);
  return hosts;
}

template <class Number>
void require_positive(const char* option, Number value) {
  if (!(value > 0)) throw BadInput(fmt::format("{}: {}: expected a number above 0", option, value));
}

/// Throws BadInput unless the number, if there is one, is above 0 and at most `most`.
void require_number(const char* option, const std::optional<int>& value, int most) {
  if (!value) return;
  require_positive(option, *value);
  if (*value > most) {
    throw BadInput(fmt::format("{}: {}: expected at most {}", option, *value, most));
  }
}

/// Throws BadInput unless the value is above 0 and at most a year. So it can be added to a time
/// without overflow.
void require_seconds(const char* option, double value) {
  constexpr double year_s = 365.0 * 24 * 60 * 60;
  if (value > 0 && value <= year_s) return;
  throw BadInput(fmt::format(
      "{}: {}: expected a number of seconds above 0, at most {:.0f}", option, value, year_s));
}

}  // namespace

std::vector<spec::Type> parse_types(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const spec::TypeInfo& each : spec::type_table) names.emplace_back(each.name);
  std::vector<spec::Type> types;
  for (const std::string& each : split_lists("--type", lists)) {
    const auto found = std::ranges::find(names, each);
    if (found == names.end()) {
      throw BadInput(fmt::format("--type: {:.60}: is no element type, expected some of {}{}",
                                 each,
                                 fmt::join(names, ", "),
                                 did_you_mean(each, names)));
    }
    types.push_back(spec::type_table[spec::to_size(found - names.begin())].type);
  }
  return types;
}

double timeout_s(const RunOptions& options) {
  return options.timeout_s.value_or(BackendOptions().timeout_s);
}

Selection parse_selection(const RunOptions& options) {
  require_number("--jobs", options.jobs, jobs_max);
  require_number("--replays", options.replays, replays_max);
  if (options.timeout_s) require_seconds("--timeout", *options.timeout_s);
  if (options.time_budget_s) require_seconds("--time-budget", *options.time_budget_s);
  if (options.overwrite && options.report.empty()) {
    throw BadInput("--overwrite: there is no --report DIR, whose report it would replace");
  }
  if (!options.report.empty() && !options.resume.empty()) {
    throw BadInput("--report: " + options.report +
                   ": stands beside --resume, expected only one of them");
  }
  if (options.strict_known && options.known.empty() && options.resume.empty()) {
    throw BadInput("--strict-known: expected --known FILE, whose entries it holds to account");
  }
  Selection selection = options.selection;
  if (options.strict_known) selection.strict_known = true;
  if (selection.cases) require_positive("--cases", *selection.cases);
  if (!options.ranks.empty()) selection.ranks = parse_ranks(options.ranks);
  if (!options.hosts.empty()) {
    if (!selection.ranks.empty()) {
      throw BadInput("--ranks: stands beside --hosts, which has one host for each rank");
    }
    selection.hosts = parse_hosts(options.hosts);
  }
  const auto narrow = [](std::string_view option,
                         const std::vector<std::string>& lists,
                         std::vector<std::string>& patterns) {
    if (!lists.empty()) patterns = split_lists(option, lists);
  };
  narrow("--operation", options.operations, selection.operations);
  narrow("--algorithm", options.algorithms, selection.algorithms);
  narrow("--property", options.properties, selection.properties);
  if (!options.types.empty()) selection.types = parse_types(options.types);
  if (!options.backends.empty()) {
    selection.backends = split_all_backends("--backend", options.backends);
  }
  if (!options.seed.empty()) selection.seed = parse_seed(options.seed);
  return selection;
}

}  // namespace rankcheck::harness::run

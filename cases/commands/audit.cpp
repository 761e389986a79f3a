#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "reference/registry.hpp"

#include "harness/base/table.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/run/option_values.hpp"
#include "harness/run/selection.hpp"
#include "harness/suite/suite_file.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/commands/audit_published.hpp"
#include "cases/commands/options.hpp"
#include "cases/suites/catalogue.hpp"

namespace rankcheck::cases {

namespace {

using audit::Bug;
using audit::Hunt;
using harness::Table;
using nlohmann::ordered_json;

/// The outcome of looking for a bug with one property.
struct Attempt {
  std::string_view property;
  Hunt hunt;

  [[nodiscard]] bool failed() const {
    return hunt.finding.minimal.has_value() && hunt.finding.replays_failed > 0;
  }
};

/// A planted bug, and the outcome with each property of its operation. The bug's own property comes
/// first.
struct Row {
  Bug bug;
  std::vector<Attempt> attempts = {};
  /// The outcome with the bug's own property if the fields that the bug needs are switched off.
  std::optional<Hunt> without = {};
  /// Why the bug was not caught as required. Empty if it was caught.
  std::string survived = {};
};

Row audit(const harness::Catalogue& catalogue, const Bug& bug, const audit::HuntOptions& options) {
  Row row{.bug = bug};
  row.attempts.push_back(
      {bug.found_by.property, hunt(catalogue, bug, bug.found_by.property, options)});
  for (const harness::Property& each : catalogue.find(bug.target.operation)->properties) {
    if (each.name == bug.found_by.property) continue;
    row.attempts.push_back({each.name, hunt(catalogue, bug, each.name, options)});
  }
  row.survived = why_not_caught(bug, row.attempts.front().hunt);
  if (bug.without.empty()) return row;
  audit::HuntOptions off = options;
  off.without = true;
  row.without = hunt(catalogue, bug, bug.found_by.property, off);
  if (row.survived.empty()) row.survived = why_not_needed(bug, *row.without);
  return row;
}

/// A property's letter in the table, and how many of the bugs it was tried on it caught.
struct Column {
  char letter = 'a';
  int caught = 0;
  int planted = 0;
};

std::map<std::string_view, Column> columns_of(const std::vector<Row>& rows) {
  std::map<std::string_view, Column> columns;
  for (const Row& row : rows) {
    for (const Attempt& each : row.attempts) {
      Column& column = columns[each.property];
      column.caught += each.failed() ? 1 : 0;
      ++column.planted;
    }
  }
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::size_t next = 0;
  for (auto& [property, column] : columns) column.letter = letters[next++ % letters.size()];
  return columns;
}

std::string place_of(const Bug& bug) {
  if (!bug.planted_in.empty()) return std::string(bug.planted_in);
  return fmt::format("{}/{}", bug.target.operation, bug.target.algorithm);
}

/// Prints the tables of the bugs and of the properties of one family.
void print(const std::vector<Row>& rows) {
  const std::map<std::string_view, Column> columns = columns_of(rows);
  Table bugs({{"bug"},
              {"planted in"},
              {"caught by"},
              {"verdict"},
              {"ranks", harness::Align::right},
              {"elements", harness::Align::right},
              {"and by"}});
  for (const Row& row : rows) {
    const harness::Finding& finding = row.attempts.front().hunt.finding;
    std::string others;
    for (const auto& [property, column] : columns) {
      const auto found = std::find_if(
          row.attempts.begin() + 1, row.attempts.end(), [&wanted = property](const Attempt& each) {
            return each.property == wanted;
          });
      if (found != row.attempts.end()) others += found->failed() ? column.letter : '-';
    }
    bugs.add({std::string(row.bug.name),
              place_of(row.bug),
              std::string(row.survived.empty() ? row.bug.found_by.property : "SURVIVED"),
              std::string(name(finding.verdict)),
              finding.minimal ? std::to_string(group_size(*finding.minimal)) : "-",
              finding.minimal ? std::to_string(audit::elements_of(*finding.minimal)) : "-",
              others});
  }
  Table properties(
      {{""}, {"property"}, {"caught", harness::Align::right}, {"of", harness::Align::right}});
  for (const auto& [property, column] : columns) {
    properties.add({std::string(1, column.letter),
                    std::string(property),
                    std::to_string(column.caught),
                    std::to_string(column.planted)});
  }
  fmt::print("{}\n{}\n", bugs.text(terminal_width()), properties.text());
}

/// Prints the bugs that need a field, and what the same search finds if the field is switched off.
void print_needs(const std::vector<Row>& rows) {
  Table table({{"bug"},
               {"needs more than"},
               {"with it"},
               {"without it"},
               {"cases", harness::Align::right}});
  bool is_empty = true;
  for (const Row& row : rows) {
    if (!row.without) continue;
    is_empty = false;
    table.add({std::string(row.bug.name),
               std::string(row.bug.without),
               std::string(name(row.attempts.front().hunt.finding.verdict)),
               std::string(name(row.without->finding.verdict)),
               std::to_string(row.without->finding.cases)});
  }
  if (!is_empty) fmt::print("{}\n", table.text(terminal_width()));
}

/// Groups the rows by the family of the bug's operation.
std::map<std::string_view, std::vector<Row>> by_family(const std::vector<Row>& rows) {
  std::map<std::string_view, std::vector<Row>> families;
  for (const Row& row : rows) {
    families[spec::family(reference::contract_named(row.bug.target.operation))].push_back(row);
  }
  return families;
}

ordered_json to_json(const Row& row) {
  ordered_json out{{"name", row.bug.name}, {"summary", row.bug.summary}};
  if (!row.bug.source.empty()) out["source"] = row.bug.source;
  out["operation"] = row.bug.target.operation;
  out["algorithm"] = row.bug.target.algorithm;
  if (!row.bug.planted_in.empty()) out["planted_in"] = row.bug.planted_in;
  out["property"] = row.bug.found_by.property;
  out["caught"] = row.survived.empty();
  if (!row.survived.empty()) out["survived"] = row.survived;
  if (row.without) {
    out["without"] = {{"fields", ordered_json::parse(row.bug.without)},
                      {"verdict", name(row.without->finding.verdict)},
                      {"cases", row.without->finding.cases}};
  }
  out["attempts"] = ordered_json::array();
  for (const Attempt& each : row.attempts) {
    ordered_json attempt{{"property", each.property},
                         {"verdict", name(each.hunt.finding.verdict)},
                         {"reason", harness::printable(each.hunt.finding.reason)},
                         {"cases", each.hunt.finding.cases}};
    if (each.failed()) attempt["minimal"] = harness::to_json(*each.hunt.finding.minimal);
    out["attempts"].push_back(std::move(attempt));
  }
  return out;
}

int report(const std::vector<Row>& rows, const audit::HuntOptions& options, bool as_json) {
  const auto survived =
      std::count_if(rows.begin(), rows.end(), [](const Row& row) { return !row.survived.empty(); });
  const auto planted = static_cast<std::ptrdiff_t>(rows.size());
  if (as_json) {
    ordered_json out{{"seed", options.seed},
                     {"cases", options.cases},
                     {"planted", planted},
                     {"caught", planted - survived},
                     {"bugs", ordered_json::array()}};
    for (const Row& row : rows) out["bugs"].push_back(to_json(row));
    fmt::print("{}\n", out.dump(1));
  } else {
    fmt::print("seed {}\n\n", options.seed);
    for (const auto& [family, some] : by_family(rows)) print(some);
    print_needs(rows);
    for (const Row& row : rows) {
      if (row.survived.empty()) continue;
      fmt::print("survived: {}, {}: {}\n",
                 row.bug.name,
                 row.bug.found_by.property,
                 harness::printable(row.survived));
    }
    fmt::print("{} of {} planted bugs caught\n", planted - survived, planted);
  }
  return survived == 0 ? harness::run::status_held : harness::run::status_failed;
}

struct Options {
  std::vector<std::string> operations;
  audit::HuntOptions hunt = {.seed = harness::run::default_seed};
  int jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  bool json = false;
  /// Looks for the published defects instead of all bugs.
  bool published = false;
  /// Whether these include defects of huge buffers.
  bool huge = false;
};

void require_positive(const char* option, int value) {
  if (value > 0) return;
  throw harness::BadInput(fmt::format("{}: {}: expected a number above 0", option, value));
}

int run_audit(const Options& options) {
  require_positive("--jobs", options.jobs);
  require_positive("--cases", options.hunt.cases);
  const harness::Catalogue catalogue = make_catalogue();
  if (options.published) {
    return audit_published(catalogue, options.hunt, options.huge, options.jobs, options.json);
  }
  std::vector<Bug> bugs = audit::catalogue();
  if (!options.operations.empty()) {
    const auto patterns = harness::run::split_lists("--operation", options.operations);
    std::set<std::string> names;
    for (const Bug& bug : bugs) names.emplace(bug.target.operation);
    harness::run::require_matches("operation", patterns, names);
    std::erase_if(bugs, [&](const Bug& bug) {
      return !harness::matches_any(patterns, bug.target.operation);
    });
  }
  // The bugs are independent, so the rows do not depend on the number of threads.
  std::vector<Row> rows(bugs.size());
  for_each_index(bugs.size(), options.jobs, [&](std::size_t i) {
    rows[i] = audit(catalogue, bugs[i], options.hunt);
  });
  return report(rows, options.hunt, options.json);
}

}  // namespace

void add_audit(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "audit", "Plants every catalogued bug and reports which properties catch it.");
  const auto options = std::make_shared<Options>();
  const AddOption add{*command};
  CLI::Option* const operations =
      add("--operation LIST",
          options->operations,
          "Selects the operations that match one of these patterns. May be repeated.");
  command
      ->add_flag("--published",
                 options->published,
                 "Looks for published defects of shipped libraries, and prints the score.")
      ->excludes(operations);
  command
      ->add_flag("--huge",
                 options->huge,
                 "Also looks for defects of more than 2^31 bytes: one at a time, 17 GB each.")
      ->needs("--published");
  add("--seed", options->hunt.seed, "The seed of the generated cases.");
  add("--cases N", options->hunt.cases, "The number of cases in which each bug must show.");
  add("--jobs N", options->jobs, "The number of bugs to plant at the same time.");
  command->add_flag("--json", options->json, "Prints JSON.");
  command->callback([options, &context] { context.exit_status = run_audit(*options); });
}

}  // namespace rankcheck::cases

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"

#include "tests/cases/cli.hpp"
#include "tests/cases/families/inputs_page.hpp"

/// reference/NAMES.md says what covers the public names of other systems. Its tables must name only
/// what this program has.
namespace rankcheck::cases {
namespace {

using nlohmann::json;
using tests::Strings;

/// The systems and their public names, with a bar between two names.
const std::map<std::string, std::string> all_names{
    {"CuPy",
     "NCCLBackend | all_gather | all_reduce | all_to_all | barrier | broadcast | "
     "comparisons of backends | count | gather | host and port | op | recv | reduce | "
     "reduce_scatter | root | scatter | send | send_recv | shape (total_ranks, …) | stream | "
     "use_mpi"},
    {"FluxMPI",
     "DistributedDataContainer | DistributedOptimizer | Iallreduce! | Ibcast! | Init | "
     "Initialized | allreduce! | allreduce_gradients | bcast! | disable_cudampi_support | "
     "fluxmpi_print | fluxmpi_println | local_rank | op | reduce! | synchronize! | "
     "total_workers"},
    {"nnabla",
     "Communicator | MultiProcessDataParalellCommunicator | abort | "
     "add_context_and_parameters | all_gather | all_reduce | all_reduce_callback | "
     "allreduce | barrier | bcast | clear_context_parameters | communicator_callbacks | "
     "division | find_group | group | init | inplace | local_rank | name | new_group | "
     "pack_size | rank | reduce | reduce_scatter | size | src and dst"},
    {"tike PR 72",
     "RawKernel per device | XXX_multi and XXX_device | a list of arrays per GPU | "
     "all-reduce in the line search | as_array_multi_split | conjugate gradient | "
     "exchange of borders | gather of chunks to one GPU | gather-scatter of dir | "
     "one source for numpy and cupy | one sub-image per GPU | probe update on all GPUs | "
     "psi on all GPUs | quadrants | random or interlaced division | uneven partitioning"},
    {"tike",
     "Comm | Comm.gpu_count | Comm.mpi | Comm.pool | MPIComm | MPIComm.rank | MPIComm.size | "
     "ThreadPool invalid ids | ThreadPool other current device | ThreadPool(int) | "
     "ThreadPool(tuple) | ThreadPool.gather | ThreadPool.gather(axis) | ThreadPool.map | "
     "ThreadPool.reduce_gpu | ThreadPool.reduce_mean | ThreadPool.shutdown | p2p"},
};

/// This row stands for six names.
constexpr std::string_view comparisons = "CuPy: comparisons of backends";
constexpr int comparison_names = 6;

/// A row of the page.
struct Row {
  std::string name;
  std::string covered;
  Strings operations;
  Strings algorithms;
  Strings backends;
  Strings properties;
  std::string remark;
};

std::vector<Row> rows_of(std::string_view page, Strings& complaints) {
  std::vector<Row> rows;
  for (const Strings& cells : tests::table_below(page, "## Names")) {
    const Strings names = cells.size() == 8 ? tests::names_in(cells[1]) : Strings();
    if (names.size() != 1) {
      complaints.push_back("not a row of eight cells with one name: " + tests::joined(cells));
      continue;
    }
    rows.push_back({.name = cells[0] + ": " + names.front(),
                    .covered = cells[2],
                    .operations = tests::names_in(cells[3]),
                    .algorithms = tests::names_in(cells[4]),
                    .backends = tests::names_in(cells[5]),
                    .properties = tests::names_in(cells[6]),
                    .remark = cells[7]});
  }
  return rows;
}

/// What `rankcheck list --json` says.
struct Listing {
  explicit Listing(const json& listing) {
    for (const json& each : listing.at("backends")) backends.insert(each.at("name"));
    for (const json& each : listing.at("operations")) {
      const std::string operation = each.at("name");
      properties[operation] = each.at("properties").get<std::set<std::string>>();
      for (const auto& [backend, all] : each.at("algorithms").items()) {
        described.insert(backend);
        for (const json& one : all) algorithms[{operation, backend}].insert(one.at("name"));
      }
    }
  }

  /// Whether there is the algorithm for an operation on a backend. Without a name: any algorithm.
  [[nodiscard]] bool has(const std::string& operation,
                         const std::string& backend,
                         const std::string& algorithm = "") const {
    const auto found = algorithms.find({operation, backend});
    return found != algorithms.end() && (algorithm.empty() || found->second.contains(algorithm));
  }

  std::set<std::string> backends;
  /// The backends whose algorithms are known. They are not if the worker was not built.
  std::set<std::string> described;
  std::map<std::string, std::set<std::string>> properties;
  /// The algorithms of an operation on a backend.
  std::map<std::pair<std::string, std::string>, std::set<std::string>> algorithms;
};

/// Whether an operation of the row has the algorithm on a backend of the row. It is taken for true
/// if the algorithms of one of these backends are not known.
bool may_have(const Row& row, const std::string& algorithm, const Listing& listing) {
  for (const std::string& backend : row.backends) {
    if (listing.backends.contains(backend) && !listing.described.contains(backend)) return true;
    for (const std::string& operation : row.operations) {
      if (listing.has(operation, backend, algorithm)) return true;
    }
  }
  return false;
}

/// Appends a sentence for each name in the row that the program does not have.
void check_names(const Row& row, const Listing& listing, Strings& complaints) {
  const auto complain = [&](const std::string& what) {
    complaints.push_back(row.name + ": " + what);
  };
  for (const std::string& backend : row.backends) {
    if (!listing.backends.contains(backend)) complain("there is no backend " + backend);
  }
  for (const std::string& operation : row.operations) {
    if (!listing.properties.contains(operation)) {
      complain("there is no operation " + operation);
      continue;
    }
    for (const std::string& backend : row.backends) {
      if (listing.described.contains(backend) && !listing.has(operation, backend)) {
        complain(backend + " does not have " + operation);
      }
    }
  }
  for (const std::string& algorithm : row.algorithms) {
    if (!may_have(row, algorithm, listing)) complain("nothing has the algorithm " + algorithm);
  }
  for (const std::string& property : row.properties) {
    const bool is_claimed =
        std::any_of(row.operations.begin(), row.operations.end(), [&](const std::string& each) {
          const auto found = listing.properties.find(each);
          return found != listing.properties.end() && found->second.contains(property);
        });
    if (!is_claimed) complain("no operation claims " + property);
  }
}

/// Appends a sentence if the row does not say what covers the name, or why nothing does.
void check_verdict(const Row& row, Strings& complaints) {
  const bool names_something = !row.operations.empty() || !row.backends.empty();
  const bool gives_reason = row.remark.find("left out: ") != std::string::npos;
  const bool is_left_out = row.covered == "left out";
  std::string why;
  if (!is_left_out && row.covered != "yes" && row.covered != "partly") {
    why = "it is neither covered nor left out";
  } else if (names_something == is_left_out) {
    why = is_left_out ? "it is left out, but covered by something" : "it is covered by nothing";
  } else if (gives_reason == (row.covered == "yes")) {
    why = gives_reason ? "it is covered, but something is left out" : "the row gives no reason";
  }
  if (!why.empty()) complaints.push_back(row.name + ": " + why);
}

Strings complaints_about(std::string_view page, const Listing& listing) {
  Strings complaints;
  for (const Row& row : rows_of(page, complaints)) {
    check_names(row, listing, complaints);
    check_verdict(row, complaints);
  }
  return complaints;
}

std::string page() {
  return harness::read_file(std::filesystem::path(RANKCHECK_SOURCE_DIR) / "reference/NAMES.md");
}

TEST(NamesPageTest, HasARowForEveryName) {
  Strings differences;
  tests::Facts on_page;
  for (const Row& row : rows_of(page(), differences)) {
    tests::add_fact(row.name, "a row", on_page, differences);
  }
  tests::Facts expected;
  for (const auto& [system, names] : all_names) {
    for (const std::string& name : tests::split(names, " | ")) {
      expected.emplace(system + ": " + name, "a row");
    }
  }
  tests::compare(on_page, expected, differences);
  EXPECT_EQ(differences, Strings{});
}

TEST(NamesPageTest, CountsItsRowsAndNames) {
  Strings complaints;
  std::map<std::string, int> rows;
  std::map<std::string, int> names;
  for (const Row& row : rows_of(page(), complaints)) {
    rows[row.covered] += 1;
    names[row.covered] += row.name == comparisons ? comparison_names : 1;
  }
  std::map<std::string, int> counted_rows;
  std::map<std::string, int> counted_names;
  const std::string_view heading = "# Names of other systems, and what covers them";
  for (const Strings& cells : tests::table_below(page(), heading)) {
    ASSERT_EQ(cells.size(), 4U) << cells.front();
    counted_rows[cells[0]] = std::stoi(cells[1]);
    counted_names[cells[0]] = std::stoi(cells[2]);
  }
  EXPECT_EQ(counted_rows, rows);
  EXPECT_EQ(counted_names, names);
}

class NamesCliTest : public tests::CliTest {};

TEST_F(NamesCliTest, PageNamesOnlyWhatIsListed) {
  EXPECT_EQ(complaints_about(page(), Listing(json_of("list --json"))), Strings{});
}

/// A small program. Its backend mpi was not built.
const Listing& made_up_listing() {
  static const Listing listing(json::parse(R"json({
    "backends": [{"name": "sim"}, {"name": "nccl"}, {"name": "mpi"}],
    "operations": [
      {"name": "gather", "properties": ["splits"],
       "algorithms": {"sim": [{"name": "direct"}], "nccl": [{"name": "native"}]}},
      {"name": "gather_axis", "properties": ["is_linear"],
       "algorithms": {"sim": [{"name": "ring"}]}}
    ]})json"));
  return listing;
}

TEST(NamesPageTest, EveryMistakeOfARowIsNamed) {
  // The end of a row, and what is wrong with it. Empty if nothing is wrong.
  const std::map<std::string, std::string> planted{
      {"yes | `gather` | `direct` | `sim` | `splits` | –", ""},
      {"partly | – | – | `sim` | – | left out: c", ""},
      {"left out | – | – | – | – | left out: c", ""},
      {"yes | `gather` | `blocking` | `mpi` | – | –", ""},
      {"yes | `gathr` | – | `sim` | – | –", "there is no operation gathr"},
      {"yes | `gather` | – | `smi` | – | –", "there is no backend smi"},
      {"yes | `gather` | – | `sim` | `is_linear` | –", "no operation claims is_linear"},
      {"yes | `gather` | `native` | `sim` | – | –", "nothing has the algorithm native"},
      {"yes | `gather` | `ring` | `sim` | – | –", "nothing has the algorithm ring"},
      {"yes | `gather_axis` | – | `nccl` | – | –", "nccl does not have gather_axis"},
      {"yes | – | – | – | – | –", "it is covered by nothing"},
      {"yes | – | – | `sim` | – | left out: c", "it is covered, but something is left out"},
      {"partly | – | – | `sim` | – | c", "the row gives no reason"},
      {"left out | – | – | – | – | c", "the row gives no reason"},
      {"left out | – | – | `sim` | – | left out: c", "it is left out, but covered by something"},
      {"perhaps | – | – | `sim` | – | –", "it is neither covered nor left out"},
  };
  for (const auto& [cells, complaint] : planted) {
    const std::string text = "## Names\n\n| a | b |\n| --- | --- |\n| A | `b` | " + cells + " |\n";
    Strings expected;
    if (!complaint.empty()) expected.push_back("A: b: " + complaint);
    EXPECT_EQ(complaints_about(text, made_up_listing()), expected) << cells;
  }
}

}  // namespace
}  // namespace rankcheck::cases

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"

#include "tests/cases/cli.hpp"
#include "tests/cases/families/inputs_page.hpp"
#include "tests/print.hpp"

/// reference/NAMES.md says what covers the public names of other systems. Its tables must name only
/// what this program has.
namespace rankcheck::cases {
namespace {

using nlohmann::json;
using tests::Strings;

/// The systems and their public names, sorted.
constexpr std::array<std::string_view, 98> all_names{
    "CuPy: NCCLBackend",
    "CuPy: all_gather",
    "CuPy: all_reduce",
    "CuPy: all_to_all",
    "CuPy: barrier",
    "CuPy: broadcast",
    "CuPy: comparisons of backends",
    "CuPy: count",
    "CuPy: gather",
    "CuPy: host and port",
    "CuPy: op",
    "CuPy: recv",
    "CuPy: reduce",
    "CuPy: reduce_scatter",
    "CuPy: root",
    "CuPy: scatter",
    "CuPy: send",
    "CuPy: send_recv",
    "CuPy: shape (total_ranks, …)",
    "CuPy: stream",
    "CuPy: use_mpi",
    "FluxMPI: DistributedDataContainer",
    "FluxMPI: DistributedOptimizer",
    "FluxMPI: Iallreduce!",
    "FluxMPI: Ibcast!",
    "FluxMPI: Init",
    "FluxMPI: Initialized",
    "FluxMPI: allreduce!",
    "FluxMPI: allreduce_gradients",
    "FluxMPI: bcast!",
    "FluxMPI: disable_cudampi_support",
    "FluxMPI: fluxmpi_print",
    "FluxMPI: fluxmpi_println",
    "FluxMPI: local_rank",
    "FluxMPI: op",
    "FluxMPI: reduce!",
    "FluxMPI: synchronize!",
    "FluxMPI: total_workers",
    "nnabla: Communicator",
    "nnabla: MultiProcessDataParalellCommunicator",
    "nnabla: abort",
    "nnabla: add_context_and_parameters",
    "nnabla: all_gather",
    "nnabla: all_reduce",
    "nnabla: all_reduce_callback",
    "nnabla: allreduce",
    "nnabla: barrier",
    "nnabla: bcast",
    "nnabla: clear_context_parameters",
    "nnabla: communicator_callbacks",
    "nnabla: division",
    "nnabla: find_group",
    "nnabla: group",
    "nnabla: init",
    "nnabla: inplace",
    "nnabla: local_rank",
    "nnabla: name",
    "nnabla: new_group",
    "nnabla: pack_size",
    "nnabla: rank",
    "nnabla: reduce",
    "nnabla: reduce_scatter",
    "nnabla: size",
    "nnabla: src and dst",
    "tike PR 72: RawKernel per device",
    "tike PR 72: XXX_multi and XXX_device",
    "tike PR 72: a list of arrays per GPU",
    "tike PR 72: all-reduce in the line search",
    "tike PR 72: as_array_multi_split",
    "tike PR 72: conjugate gradient",
    "tike PR 72: exchange of borders",
    "tike PR 72: gather of chunks to one GPU",
    "tike PR 72: gather-scatter of dir",
    "tike PR 72: one source for numpy and cupy",
    "tike PR 72: one sub-image per GPU",
    "tike PR 72: probe update on all GPUs",
    "tike PR 72: psi on all GPUs",
    "tike PR 72: quadrants",
    "tike PR 72: random or interlaced division",
    "tike PR 72: uneven partitioning",
    "tike: Comm",
    "tike: Comm.gpu_count",
    "tike: Comm.mpi",
    "tike: Comm.pool",
    "tike: MPIComm",
    "tike: MPIComm.rank",
    "tike: MPIComm.size",
    "tike: ThreadPool invalid ids",
    "tike: ThreadPool other current device",
    "tike: ThreadPool(int)",
    "tike: ThreadPool(tuple)",
    "tike: ThreadPool.gather",
    "tike: ThreadPool.gather(axis)",
    "tike: ThreadPool.map",
    "tike: ThreadPool.reduce_gpu",
    "tike: ThreadPool.reduce_mean",
    "tike: ThreadPool.shutdown",
    "tike: p2p",
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
class Listing {
 public:
  explicit Listing(const json& listing) {
    for (const json& each : listing.at("backends")) backends_.insert(each.at("name"));
    for (const json& each : listing.at("operations")) {
      const std::string operation = each.at("name");
      properties_[operation] = each.at("properties").get<std::set<std::string>>();
      for (const auto& [backend, algorithms] : each.at("algorithms").items()) {
        described_.insert(backend);
        for (const json& algorithm : algorithms) {
          algorithms_[operation][backend].insert(algorithm.at("name").get<std::string>());
        }
      }
    }
  }

  [[nodiscard]] bool has_operation(const std::string& operation) const {
    return properties_.contains(operation);
  }
  [[nodiscard]] bool has_backend(const std::string& backend) const {
    return backends_.contains(backend);
  }
  /// Whether the algorithms of a backend are known. They are not if its worker was not built.
  [[nodiscard]] bool describes(const std::string& backend) const {
    return described_.contains(backend);
  }
  [[nodiscard]] bool claims(const std::string& operation, const std::string& property) const {
    const auto found = properties_.find(operation);
    return found != properties_.end() && found->second.contains(property);
  }
  /// Returns the algorithms of an operation on a backend.
  [[nodiscard]] std::set<std::string> algorithms(const std::string& operation,
                                                 const std::string& backend) const {
    const auto of_operation = algorithms_.find(operation);
    if (of_operation == algorithms_.end()) return {};
    const auto found = of_operation->second.find(backend);
    return found == of_operation->second.end() ? std::set<std::string>() : found->second;
  }

 private:
  std::set<std::string> backends_;
  std::set<std::string> described_;
  std::map<std::string, std::set<std::string>> properties_;
  std::map<std::string, std::map<std::string, std::set<std::string>>> algorithms_;
};

/// Whether an operation of the row has the algorithm on a backend of the row. It is taken for true
/// if the algorithms of one of these backends are not known.
bool may_have(const Row& row, const std::string& algorithm, const Listing& listing) {
  for (const std::string& backend : row.backends) {
    if (listing.has_backend(backend) && !listing.describes(backend)) return true;
    for (const std::string& operation : row.operations) {
      if (listing.algorithms(operation, backend).contains(algorithm)) return true;
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
    if (!listing.has_backend(backend)) complain("there is no backend " + backend);
  }
  for (const std::string& operation : row.operations) {
    if (!listing.has_operation(operation)) {
      complain("there is no operation " + operation);
      continue;
    }
    for (const std::string& backend : row.backends) {
      if (listing.describes(backend) && listing.algorithms(operation, backend).empty()) {
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
          return listing.claims(each, property);
        });
    if (!is_claimed) complain("no operation claims " + property);
  }
}

/// Appends a sentence if the row does not say what covers the name, or why nothing does.
void check_verdict(const Row& row, Strings& complaints) {
  const bool names_something = !row.operations.empty() || !row.backends.empty();
  const bool gives_reason = row.remark.find("left out: ") != std::string::npos;
  std::string why;
  if (row.covered == "yes") {
    if (!names_something) why = "it is covered by nothing";
    if (gives_reason) why = "it is covered, but something is left out";
  } else if (row.covered == "partly") {
    if (!names_something) why = "it is covered by nothing";
    if (!gives_reason) why = "the row gives no reason";
  } else if (row.covered == "left out") {
    if (names_something) why = "it is left out, but covered by something";
    if (!gives_reason) why = "the row gives no reason";
  } else {
    why = "it is neither covered nor left out";
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
  for (const std::string_view name : all_names) expected.emplace(name, "a row");
  tests::compare(on_page, expected, differences);
  EXPECT_EQ(differences, Strings{});
  EXPECT_TRUE(std::is_sorted(all_names.begin(), all_names.end()));
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
  const tests::Outcome outcome = rankcheck("list --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(complaints_about(page(), Listing(json::parse(outcome.out))), Strings{});
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

/// The end of a row, and what is wrong with it. Empty if nothing is wrong.
struct PlantedRow {
  std::string name;
  std::string cells;
  std::string complaint;

  friend void PrintTo(const PlantedRow& planted, std::ostream* out) { *out << planted.name; }
};

class NamesRowTest : public testing::TestWithParam<PlantedRow> {};

TEST_P(NamesRowTest, IsRedForOneReason) {
  const PlantedRow& planted = GetParam();
  const std::string text =
      "## Names\n\n| a | b |\n| --- | --- |\n| A | `b` | " + planted.cells + " |\n";
  Strings expected;
  if (!planted.complaint.empty()) expected.push_back("A: b: " + planted.complaint);
  EXPECT_EQ(complaints_about(text, made_up_listing()), expected);
}

INSTANTIATE_TEST_SUITE_P(
    Planted,
    NamesRowTest,
    testing::Values(
        PlantedRow{"sound", "yes | `gather` | `direct` | `sim` | `splits` | –", ""},
        PlantedRow{"sound_and_partly", "partly | – | – | `sim` | – | left out: c", ""},
        PlantedRow{"sound_and_left_out", "left out | – | – | – | – | left out: c", ""},
        PlantedRow{"backend_not_built", "yes | `gather` | `blocking` | `mpi` | – | –", ""},
        PlantedRow{"operation", "yes | `gathr` | – | `sim` | – | –", "there is no operation gathr"},
        PlantedRow{"backend", "yes | `gather` | – | `smi` | – | –", "there is no backend smi"},
        PlantedRow{"property",
                   "yes | `gather` | – | `sim` | `is_linear` | –",
                   "no operation claims is_linear"},
        PlantedRow{"algorithm_of_another_backend",
                   "yes | `gather` | `native` | `sim` | – | –",
                   "nothing has the algorithm native"},
        PlantedRow{"algorithm_of_another_operation",
                   "yes | `gather` | `ring` | `sim` | – | –",
                   "nothing has the algorithm ring"},
        PlantedRow{"operation_on_another_backend",
                   "yes | `gather_axis` | – | `nccl` | – | –",
                   "nccl does not have gather_axis"},
        PlantedRow{"covered_by_nothing", "yes | – | – | – | – | –", "it is covered by nothing"},
        PlantedRow{"covered_with_a_reason",
                   "yes | – | – | `sim` | – | left out: c",
                   "it is covered, but something is left out"},
        PlantedRow{
            "partly_without_reason", "partly | – | – | `sim` | – | c", "the row gives no reason"},
        PlantedRow{
            "left_out_without_reason", "left out | – | – | – | – | c", "the row gives no reason"},
        PlantedRow{"left_out_but_covered",
                   "left out | – | – | `sim` | – | left out: c",
                   "it is left out, but covered by something"},
        PlantedRow{
            "no_verdict", "perhaps | – | – | `sim` | – | –", "it is neither covered nor left out"}),
    tests::printed_name);

}  // namespace
}  // namespace rankcheck::cases

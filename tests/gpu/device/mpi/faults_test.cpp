#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "harness/files.hpp"

#include "cases/backends/mpi.hpp"

/// What `rankcheck run --backend mpi` says of an MPI library with a fault; see faults.cpp.
namespace rankcheck::cases {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Fault {
  std::string_view name;
  std::string_view operation;
  std::string_view verdict;
  /// A part of the finding's reason.
  std::string_view says;
  std::string_view property = "agrees_with_reference";
};

/// What GoogleTest prints of a parameter.
[[maybe_unused]] void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

/// A folder with the program, and beside it a worker that preloads the fault.
class FaultyMpi : public testing::TestWithParam<Fault> {
 protected:
  void SetUp() override {
    if (const std::string why = mpi_backend().why_unavailable(); !why.empty()) GTEST_SKIP() << why;
    std::string path = RANKCHECK_BINARY_DIR "/faulty-XXXXXX";
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    folder_ = path;
    fs::create_hard_link(RANKCHECK_BINARY_DIR "/rankcheck", folder_ / "rankcheck");
    const fs::path worker = folder_ / "rankcheck-worker-mpi";
    std::ofstream(worker) << "#!/bin/sh\n"
                          << "LD_PRELOAD='" RANKCHECK_MPI_FAULTS "' RANKCHECK_PLANTED="
                          << GetParam().name << " exec '" RANKCHECK_BINARY_DIR
                          << "/rankcheck-worker-mpi'\n";
    fs::permissions(worker, fs::perms::owner_all);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// The exit status.
  int run() const {
    const std::string command = "cd '" + folder_.string() +
                                "' && ./rankcheck run --backend mpi --algorithm blocking" +
                                " --operation " + std::string(GetParam().operation) +
                                " --property " + std::string(GetParam().property) +
                                " --cases 10 --ranks 2..3 --timeout 0.5 --report out > log 2>&1";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  fs::path folder_;
};

TEST_P(FaultyMpi, IsFoundAndShrinks) {
  const int status = run();
  const std::string log = harness::read_file(folder_ / "log");
  ASSERT_EQ(status, 1) << log;
  const json report = json::parse(harness::read_file(folder_ / "out" / "report.json"));
  const json& finding = report.at("findings").at(0);
  EXPECT_EQ(finding.at("verdict"), std::string(GetParam().verdict)) << log;
  EXPECT_NE(finding.at("reason").get<std::string>().find(GetParam().says), std::string::npos)
      << finding.at("reason");
  if (GetParam().name == "bad_end") return;
  const json& minimal = finding.at("minimal");
  EXPECT_LE(minimal.at("ranks"), 2) << minimal;
  EXPECT_LE(minimal.value("count", 0), 1) << minimal;
}

INSTANTIATE_TEST_SUITE_P(
    Planted,
    FaultyMpi,
    testing::Values(
        Fault{"flipped_bit", "all_reduce", "falsified", "differs from the reference"},
        Fault{"error_code", "all_reduce", "falsified", "MPI_Allreduce: MPI_ERR_OTHER"},
        Fault{"other_call", "all_reduce", "falsified", "nonblocking form were both called"},
        Fault{"abort", "all_reduce", "crashed", "rank 1 died; rank 1 entered stage 0 (all_reduce)"},
        Fault{"exit", "all_reduce", "crashed", "rank 1 died; rank 1 entered stage 0 (all_reduce)"},
        Fault{"kill", "all_reduce", "crashed", "rank 1 died; rank 1 entered stage 0 (all_reduce)"},
        Fault{"hang", "all_reduce", "hung", "rank 1 entered stage 0 (all_reduce)"},
        Fault{"wrong_root", "broadcast", "falsified", "differs from the reference"},
        Fault{"past_end", "all_gather", "falsified", "1 bytes past the end of recv"},
        Fault{"no_barrier", "barrier", "falsified", "left before rank", "separates_ranks"},
        Fault{"bad_end", "gather", "crashed", "after the last run: "}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace rankcheck::cases

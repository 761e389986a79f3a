#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

using nlohmann::json;

/// A worker and a launcher in a folder of their own, as `./verify worker` leaves them.
class MpiFolderTest : public tests::CliTest {
 protected:
  void make_folder() {
    std::filesystem::create_directory(folder_.path() / "theirs");
    std::filesystem::create_symlink(RANKCHECK_BINARY_DIR "/rankcheck-worker-mpi",
                                    folder_.path() / "theirs" / "rankcheck-worker-mpi");
    write_script("theirs/mpiexec", "exec mpiexec \"$@\"\n");
  }
};

TEST_F(MpiFolderTest, HasTheEntriesAndTheNameOfTheBuiltInBackend) {
  make_folder();
  const tests::Outcome outcome = rankcheck(
      "run ci --backend mpi:theirs --operation barrier --cases 2 --ranks 1..2 "
      "--algorithm blocking --report r");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const json written = report("r");
  for (const json& finding : written["findings"]) {
    EXPECT_EQ(finding["unit"]["backend"], "mpi:theirs");
    EXPECT_EQ(finding["unit"]["subject"], "mpi");
  }
  EXPECT_TRUE(written["environment"]["backends"]["mpi"]["versions"].contains("mpi"));
}

TEST_F(MpiFolderTest, HasANameOfItsOwnBesideTheBuiltInBackend) {
  make_folder();
  const tests::Outcome outcome = rankcheck(
      "run ci --backend mpi --backend mpi:theirs --operation barrier --cases 1 "
      "--ranks 1..2 --algorithm blocking --report r");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  std::map<std::string, int> units;
  const json findings = report("r")["findings"];
  for (const json& each : findings) {
    ++units[each["unit"].value("subject", each["unit"]["backend"].get<std::string>())];
  }
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units["mpi"], units["mpi-2"]);
}

TEST_F(MpiFolderTest, WithoutAWorkerSaysHowToMakeOne) {
  const tests::Outcome outcome = rankcheck("run smoke --backend mpi:absent --report r");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.err.starts_with("rankcheck: backend: mpi:absent: cannot run here: "));
  EXPECT_TRUE(outcome.err.ends_with(
      "absent/rankcheck-worker-mpi is missing: make it with ./verify worker --mpicc MPICC "
      "--output absent\n"))
      << outcome.err;
}

}  // namespace
}  // namespace rankcheck

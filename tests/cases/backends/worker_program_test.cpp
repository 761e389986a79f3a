#include "cases/backends/worker_program.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/harness/sample.hpp"

namespace rankcheck::cases {
namespace {

/// Makes a worker that is a shell script.
class WorkerProgramTest : public testing::Test {
 protected:
  WorkerProgram program(const std::string& script, double limit_s = 3600) const {
    const std::filesystem::path path = folder_.path() / "worker";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return {.path = path, .remedy = "build it", .limit_s = limit_s};
  }

  harness::TemporaryFolder folder_;
};

TEST_F(WorkerProgramTest, SaysWhyItCannotRun) {
  const WorkerProgram worker = program(R"(echo "{\"unavailable\":\"no $1\",\"notes\":[\"one\"]}")");
  EXPECT_EQ(worker.why_unavailable(), "no --describe");
  EXPECT_EQ(worker.notes(), std::vector<std::string>{"one"});
}

TEST_F(WorkerProgramTest, IsBrokenWhereItDescribesNothing) {
  EXPECT_EQ(program("echo first >&2; echo 'no libcuda' >&2; exit 127").why_unavailable(),
            "worker does not run (no libcuda): install the libraries that it needs, or build it on "
            "this machine");
  EXPECT_TRUE(program("exit 127").description().is_null());
}

TEST_F(WorkerProgramTest, IsMissingWhereThereIsNoFile) {
  EXPECT_EQ(
      (WorkerProgram{.path = folder_.path() / "worker", .remedy = "build it"}).why_unavailable(),
      "worker is missing beside rankcheck: build it");
}

TEST_F(WorkerProgramTest, ThatHangsIsNotWaitedFor) {
  EXPECT_EQ(program("echo '{'; exec tail -f /dev/null", 0.1).why_unavailable(),
            "worker does not run (it did not describe itself within 0.1 s): install the libraries "
            "that it needs, or build it on this machine");
}

TEST_F(WorkerProgramTest, MaySayMoreThanAPipeHolds) {
  const WorkerProgram worker =
      program(R"(printf '{"unavailable":"'; head -c 200000 /dev/zero | tr '\0' x; printf '"}')");
  EXPECT_EQ(worker.why_unavailable(), std::string(200'000, 'x'));
}

}  // namespace
}  // namespace rankcheck::cases

#include "harness/compare/run_report.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "harness/base/files.hpp"
#include "harness/case/case.hpp"
#include "harness/report/report.hpp"

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness::compare {
namespace {

class RunReportTest : public testing::Test {
 protected:
  RunReportTest() {
    report_.run = {{"seed", 1}};
    report_.findings = {sample_failure(), passed("broadcast")};
    report_.findings[0].ranks_max = 4;
    report_.environment = {{"rankcheck", "0"},
                           {"durations_s", {{sample_failure().unit.id(), 0.25}, {"no unit", 1}}}};
    write_report(folder_.path(), report_);
  }

  /// Returns the complaint about the report with one text in place of another.
  std::string complaint_with(const std::string& from, const std::string& to) {
    std::string text = read_file(file_);
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << text;
    write_file(file_, text.replace(at, from.size(), to));
    return complaint(file_);
  }

  static std::string complaint(const std::filesystem::path& path) {
    return complaint_of<std::exception>([&] { return read_run_report(path); });
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "report.json";
  Report report_;
};

TEST_F(RunReportTest, ReadsAFolderAndAFile) {
  for (const auto& path : {folder_.path(), file_}) {
    const RunReport read = read_run_report(path);
    EXPECT_EQ(read.name, path.string());
    ASSERT_EQ(read.findings.size(), 2U);
    const RunFinding& failure = read.findings.at(sample_failure().unit.id());
    EXPECT_EQ(failure.tested, "sim");
    EXPECT_EQ(failure.verdict, Verdict::falsified);
    EXPECT_EQ(failure.cells, std::vector<std::string>{"f32/sum"});
    EXPECT_EQ(failure.minimal["ranks"], 3);
    EXPECT_TRUE(failure.requires_all_cells);
    EXPECT_EQ(failure.asked["cases"], 100);
    EXPECT_FALSE(failure.asked.contains("operation"));
    EXPECT_EQ(failure.duration_s, 0.25);
    EXPECT_EQ(failure.ranks_max, 4);
    EXPECT_FALSE(read.environment.contains("durations_s"));
    EXPECT_EQ(failure.powerless_cases, 1);
    EXPECT_EQ(failure.smallest_change, std::numeric_limits<double>::infinity());
  }
}

TEST_F(RunReportTest, ReadsDevicesAndLinksOfTheGateAsUnits) {
  report_.environment["hardware"] = nlohmann::ordered_json::parse(R"({
    "status": 1,
    "devices": [{"device": 0, "verdict": "passed", "reason": ""}],
    "links": [{"from": 0, "to": 1, "method": "copy", "way": "peer",
               "verdict": "falsified", "reason": "2 wrong bytes"}],
    "phases": [{"name": "soak", "verdict": "skipped", "reason": "no_device"}]})");
  write_report(folder_.path(), report_);
  const RunReport read = read_run_report(file_);
  EXPECT_EQ(read.findings.at("hardware/devices/0").verdict, Verdict::passed);
  const RunFinding& link = read.findings.at("hardware/links/0-1 copy peer");
  EXPECT_EQ(link.verdict, Verdict::falsified);
  EXPECT_EQ(link.reason, "2 wrong bytes");
  EXPECT_EQ(read.findings.at("hardware/phases/soak").verdict, Verdict::skipped);
}

TEST_F(RunReportTest, ReadsManyInTheirOrder) {
  const std::string good = file_.string();
  const std::vector<std::string> paths{good, folder_.path().string(), good};
  const std::vector<RunReport> reports = read_run_reports(paths);
  ASSERT_EQ(reports.size(), 3U);
  EXPECT_EQ(reports[1].name, folder_.path().string());
  EXPECT_EQ(reports[2].findings.size(), 2U);
  EXPECT_ANY_THROW(static_cast<void>(read_run_reports({good, "/nowhere"})));
}

TEST_F(RunReportTest, ReadsTheMeasurementsBesideTheReport) {
  EXPECT_FALSE(read_run_report(file_).bench);
  write_file(folder_.path() / "bench.json",
             R"({"context": {}, "benchmarks": [{"name": "a", "real_time": 1, "time_unit": "s"}]})");
  EXPECT_EQ(read_run_report(file_).bench->measurements.at("a").times.size(), 1U);
  make_folder(folder_.path() / "speed");
  std::filesystem::rename(folder_.path() / "bench.json", folder_.path() / "speed/bench.json");
  EXPECT_TRUE(read_run_report(file_).bench) << "the gate's part";
  write_file(folder_.path() / "bench.json", "{}");
  EXPECT_TRUE(has(complaint(file_), "bench.json: expected measurements of"));
}

TEST_F(RunReportTest, ReadsKnownDefects) {
  Finding& failure = report_.findings.front();
  failure.is_known = true;
  failure.known_cells = {"uint8/max"};
  failure.known = {{.id = "max",
                    .covered = 5,
                    .failed = 2,
                    .verdict = Verdict::falsified,
                    .minimal = failure.minimal}};
  KnownStatus status;
  status.defect.id = "max";
  status.state = KnownState::failing;
  status.is_expired = true;
  report_.known = {status};
  write_report(folder_.path(), report_);
  const RunReport read = read_run_report(file_);
  const RunFinding& finding = read.findings.at(sample_failure().unit.id());
  EXPECT_TRUE(finding.is_known);
  EXPECT_TRUE(is_whole(finding));
  EXPECT_EQ(finding.cells, (std::vector<std::string>{"f32/sum", "uint8/max"}));
  ASSERT_EQ(finding.known.size(), 1U);
  EXPECT_EQ(finding.known.front().failed, 2);
  EXPECT_EQ(read.known.at("max"), "failing, expired");
}

/// Another version may have other fields and other cases.
TEST_F(RunReportTest, TakesFieldsThatItDoesNotKnow) {
  EXPECT_EQ(complaint_with("\"ranks\": 3", "\"ranks\": 3, \"hosts\": [2, 1]"), "");
}

TEST_F(RunReportTest, NamesTheFieldThatIsBad) {
  EXPECT_EQ(complaint_with("\"verdict\": \"falsified\"", "\"verdict\": \"broken\"")
                .substr(0, file_.string().size()),
            file_.string());
  EXPECT_TRUE(has(complaint(file_), "verdict"));
}

TEST_F(RunReportTest, RefusesAnotherVersion) {
  EXPECT_EQ(complaint_with("\"report_version\": 1", "\"report_version\": 9"),
            file_.string() + ": report_version: 9: expected 1");
}

TEST_F(RunReportTest, RefusesAUnitThatIsThereTwice) {
  report_.findings.push_back(sample_failure());
  write_report(folder_.path(), report_);
  EXPECT_TRUE(has(complaint(file_), "expected each unit once"));
}

TEST_F(RunReportTest, RefusesWhatIsNoReport) {
  write_file(file_, "[");
  EXPECT_EQ(complaint(file_), file_.string() + ": is not JSON at byte 2");
  write_file(file_, "[]");
  EXPECT_EQ(complaint(file_), file_.string() + ": expected a report, an object");
  for (const char* finding : {"7", "[7]"}) {
    write_file(file_,
               R"({"report_version": 1, "ending": "completed", "run": {}, "environment": {},
                   "findings": [)" +
                   std::string(finding) + "]}");
    EXPECT_EQ(complaint(file_), file_.string() + ": findings[0]: expected an object");
  }
  std::filesystem::remove(file_);
  EXPECT_TRUE(has(complaint(folder_.path()), "expected a folder with report.json"));
}

}  // namespace
}  // namespace rankcheck::harness::compare

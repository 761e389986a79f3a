#include "harness/known/known_defects.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"
#include "harness/case/family.hpp"

#include "tests/harness/fake.hpp"
#include "tests/harness/sample.hpp"
#include "tests/harness/schema.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Returns a file of one entry with these fields besides id and reason.
std::string file_of(const std::string& fields) {
  return R"({"known_version":1,"defects":[{"id":"one","reason":"why")" +
         (fields.empty() ? "" : "," + fields) + "}]}";
}

KnownDefect defect(const std::string& fields) {
  return known_from_json(json::parse(file_of(fields)), "here").at(0);
}

/// Returns what reading the text complains about, without the path of its file.
std::string complaint_of_entry(const std::string& text) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "known.json").string();
  write_file(path, text);
  const std::string what =
      complaint_of<BadInput>([&] { return read_known_files({path}, fake::catalogue()); });
  const std::string place = "--known: " + path + ": ";
  EXPECT_TRUE(what.empty() || begins(what, place)) << what;
  return what.substr(std::min(place.size(), what.size()));
}

TEST(KnownDefectsTest, MatchesTheNamesOfAUnit) {
  const KnownDefect one = defect(R"("operation":["reduce","all_*"],"backend":"mpi")");
  EXPECT_TRUE(one.is_about(sample_unit("all_reduce", "mpi")));
  EXPECT_TRUE(one.is_about(sample_unit("reduce", "mpi")));
  EXPECT_FALSE(one.is_about(sample_unit("reduce_scatter", "mpi")));
  EXPECT_FALSE(one.is_about(sample_unit("reduce", "sim")));
  EXPECT_FALSE(defect(R"("algorithm":"tree")").is_about(sample_unit("reduce")));
  EXPECT_FALSE(defect(R"("property":"repeats")").is_about(sample_unit("reduce")));
}

TEST(KnownDefectsTest, MatchesTheNameThatASubjectGaveItself) {
  Unit unit = sample_unit("reduce", "command:./worker");
  unit.subject = "mine";
  EXPECT_TRUE(defect(R"("backend":"mine")").is_about(unit));
  EXPECT_TRUE(defect(R"("backend":"command:*")").is_about(unit));
}

TEST(KnownDefectsTest, CoversFalsifiedCasesUnlessItSaysOtherwise) {
  EXPECT_TRUE(defect("").covers(Verdict::falsified, Symptom::value));
  EXPECT_FALSE(defect("").covers(Verdict::crashed, Symptom::none));
  const KnownDefect stops = defect(R"("verdicts":["hung","crashed"])");
  EXPECT_TRUE(stops.covers(Verdict::hung, Symptom::none));
  EXPECT_FALSE(stops.covers(Verdict::falsified, Symptom::value));
}

TEST(KnownDefectsTest, CoversWrongValuesUnlessItNamesSymptoms) {
  EXPECT_FALSE(defect("").covers(Verdict::falsified, Symptom::outside));
  const KnownDefect writes =
      defect(R"("verdicts":["falsified","crashed"],"symptoms":["outside","error"])");
  EXPECT_TRUE(writes.covers(Verdict::falsified, Symptom::outside));
  EXPECT_TRUE(writes.covers(Verdict::falsified, Symptom::error));
  EXPECT_TRUE(writes.covers(Verdict::crashed, Symptom::none));
  EXPECT_FALSE(writes.covers(Verdict::falsified, Symptom::value));
}

TEST(KnownDefectsTest, CoversNothingIfAnotherThingRan) {
  const std::string all = R"("verdicts":["falsified","crashed"],"symptoms":["value","error",)"
                          R"("memory","race","malformed","stamps")";
  EXPECT_FALSE(defect(all + "]").covers(Verdict::falsified, Symptom::path));
  // The memory in which a worker keeps the algorithm's name may be damaged.
  EXPECT_TRUE(defect(all + R"(,"outside"])").covers(Verdict::falsified, Symptom::path));
  EXPECT_FALSE(defect(all + R"(,"outside"])").covers(Verdict::crashed, Symptom::from_before));
}

TEST(KnownDefectsTest, CoversCasesForWhichAllConditionsHold) {
  const KnownDefect one = defect(R"("cases":{"op":["max","min"],"type":["uint8"]})");
  const Family* const family = find_family("all_reduce");
  const auto covers = [&](const char* fields) {
    return one.covers(
        case_from_text(R"({"operation":"all_reduce","ranks":2,)" + std::string(fields) + "}"),
        family);
  };
  EXPECT_TRUE(covers(R"("op":"max","type":"uint8")"));
  EXPECT_FALSE(covers(R"("op":"sum","type":"uint8")"));
  EXPECT_FALSE(covers(R"("op":"max","type":"int8")"));
}

TEST(KnownDefectsTest, AppliesToTheVersionsOfItsLibraryOnly) {
  const KnownDefect one = defect(R"("library":{"name":"MPICH","versions":">=4.0 <4.1"})");
  const auto why = [&](const char* versions) {
    return why_not_applied(
        one, {{"backends", {{"mpi", {{"versions", ordered_json::parse(versions)}}}}}}, "mpi");
  };
  EXPECT_EQ(why(R"({"mpi":"MPICH Version: 4.0.2"})"), "");
  EXPECT_EQ(why(R"({"mpich":"4.0.2"})"), "") << "the name of the field is the library's";
  EXPECT_EQ(why(R"({"parts":[{"of":"MPICH 4.0.2"}]})"), "");
  EXPECT_EQ(why(R"({"mpi":"MPICH Version: 4.1"})"), "has MPICH 4.1, which is not in >=4.0 <4.1");
  EXPECT_EQ(why(R"({"mpi":"Open MPI v4.0.2"})"), "names no version of MPICH");
  EXPECT_EQ(why_not_applied(one, ordered_json::object(), "mpi"), "names no version of MPICH");
}

TEST(KnownDefectsTest, SeveralFilesAreJoined) {
  const TemporaryFolder folder;
  const std::string a = (folder.path() / "a.json").string();
  const std::string b = (folder.path() / "b.json").string();
  write_file(a, file_of(R"("operation":"reduce")"));
  write_file(b, R"({"known_version":1,"defects":[{"id":"two","backend":"mpi","reason":"why"}]})");
  const ordered_json both = read_known_files({a, b}, fake::catalogue());
  EXPECT_EQ(known_from_json(json(both), "").size(), 2U);
  EXPECT_THROW((void)read_known_files({a, a}, fake::catalogue()), BadInput);
  EXPECT_TRUE(read_known_files({}, fake::catalogue()).is_null());
  EXPECT_THROW((void)read_known_files({"/absent.json"}, fake::catalogue()), FileError);
}

TEST(KnownDefectsTest, SaysInOneLineWhatIsWrong) {
  EXPECT_EQ(complaint_of_entry("{"), "is not JSON at byte 2");
  EXPECT_EQ(complaint_of_entry("[]"), "got [], expected a JSON object");
  EXPECT_EQ(complaint_of_entry(R"({"known_version":2,"defects":[]})"),
            "known_version: got 2, expected 1");
  EXPECT_EQ(complaint_of_entry(R"({"known_version":1,"defects":{}})"), "defects: expected a list");
  EXPECT_EQ(complaint_of_entry(R"({"known_version":1,"known_version":1,"defects":[]})"),
            "known_version: got it twice, expected it once");
  EXPECT_EQ(complaint_of_entry(R"({"known_version":1,"defects":[{"id":"a b","reason":"r"}]})"),
            "defects[0] (a b): id: expected letters, digits, '.', '_' and '-'");
  EXPECT_EQ(complaint_of_entry(R"({"known_version":1,"defects":[{"id":"a","reason":""}]})"),
            "defects[0] (a): reason: expected a sentence that says what is wrong");
  EXPECT_EQ(complaint_of_entry(R"({"known_version":1,"defects":[{"id":"a","reason":"r"},)"
                               R"({"id":"a","reason":"r"}]})"),
            "defects[1] (a): id: expected an id of its own, another entry has it");
}

TEST(KnownDefectsTest, NamesTheEntryAndTheFieldThatIsWrong) {
  const auto complaint_about = [](const std::string& fields) {
    const std::string entry = "defects[0] (one): ";
    const std::string all = complaint_of_entry(file_of(fields));
    EXPECT_TRUE(begins(all, entry));
    return all.substr(std::min(entry.size(), all.size()));
  };
  EXPECT_EQ(complaint_about(R"("why":"x")"), "why: unknown field");
  EXPECT_EQ(complaint_about(R"("operation":[])"),
            "operation: expected at least one pattern, and none empty");
  EXPECT_EQ(complaint_about(R"("library":{"name":"x","versions":"new"})"),
            "library: versions: got \"new\", expected conditions such as \">=4.0 <4.1\" or "
            "\"4.0.*\" with blanks between them");
  EXPECT_EQ(complaint_about(R"("verdicts":["vacuous"])"),
            "verdicts: expected some of falsified, flaky, hung, crashed");
  const std::string symptoms =
      ", expected some of value, error, outside, memory, race, malformed, stamps";
  EXPECT_EQ(complaint_about(R"("symptoms":["value","outsid"])"),
            "symptoms: got \"outsid\"" + symptoms + "; did you mean outside?");
  EXPECT_EQ(complaint_about(R"("symptoms":["path"])"), "symptoms: got \"path\"" + symptoms);
  EXPECT_EQ(complaint_about(R"("symptoms":[])"), "symptoms: expected at least one");
  EXPECT_EQ(complaint_about(R"("symptoms":["value"],"verdicts":["hung"])"),
            "symptoms: expected falsified or flaky among the verdicts");
  EXPECT_EQ(complaint_about(R"("expires":"2026-02-30")"),
            "expires: got 2026-02-30, expected a day such as 2026-12-31");
  EXPECT_EQ(complaint_about(R"("cases":{"type":[]})"),
            "cases: type: got [], expected at least one value");
}

TEST(KnownDefectsTest, RefusesEntriesThatCanMatchNothing) {
  EXPECT_EQ(complaint_of_entry(file_of(R"("operation":"al_reduce")")),
            "one: operation: al_reduce: matches no operation that 'rankcheck list' shows");
  EXPECT_EQ(complaint_of_entry(file_of(R"("property":"completes")")), "");
  EXPECT_EQ(complaint_of_entry(file_of(R"("property":"agrees")")),
            "one: property: agrees: matches no property of these operations");
  const std::string unknown = complaint_of_entry(file_of(R"("cases":{"opp":"max"})"));
  EXPECT_TRUE(begins(unknown, "one: cases: opp: unknown field of a case; did you mean op"));
}

TEST(KnownDefectsTest, RefusesAnEntryThatCoversEverything) {
  const std::string text =
      "one: covers every failure; expected at least one of operation, algorithm, backend, "
      "property, library and cases";
  EXPECT_EQ(complaint_of_entry(file_of("")), text);
  EXPECT_EQ(complaint_of_entry(file_of(R"("operation":["*","reduce"],"verdicts":["hung"])")), text);
  EXPECT_EQ(complaint_of_entry(file_of(R"("backend":"mpi")")), "");
}

TEST(KnownDefectsTest, TheSchemaTakesWhatIsRead) {
  const std::string whole =
      R"("operation":["a*"],"algorithm":"*","backend":"mpi","property":"completes",)"
      R"("library":{"name":"MPICH","versions":">=4.0 4.0.*"},"verdicts":["hung","flaky"],)"
      R"("symptoms":["race"],"link":"l",)"
      R"("expires":"2026-12-31","cases":{"ranks":{"min":2},"type":["f32"],"count":3,)"
      R"("counts":{"any":{"not":1}}})";
  EXPECT_EQ(complaint_of_entry(file_of(whole)), "");
  EXPECT_EQ(complaints(json::parse(file_of(whole)), "known.schema.json"), "");
  EXPECT_NE(complaints(json::parse(file_of(R"("verdicts":["passed"])")), "known.schema.json"), "");
  EXPECT_NE(complaints(json::parse(file_of(R"("symptoms":["path"])")), "known.schema.json"), "");
}

}  // namespace
}  // namespace rankcheck::harness

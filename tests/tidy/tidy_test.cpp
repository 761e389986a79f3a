#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/print.hpp"
#include "tests/tidy/rules.hpp"

namespace rankcheck::tidy {
namespace {

std::vector<Violation> violations_of(const Rule& rule, const std::vector<Source>& sources) {
  std::vector<Violation> violations;
  for (const Source& source : sources) rule.check(source, violations);
  return violations;
}

std::string to_text(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& each : violations) {
    text += each.path + ":" + std::to_string(each.line) + ": " + each.what + "\n";
  }
  return text;
}

/// All texts of the project, which are read once.
const std::vector<Source>& project() {
  static const std::vector<Source> all = read_project(RANKCHECK_SOURCE_DIR);
  return all;
}

class RuleTest : public testing::TestWithParam<Rule> {};

TEST_P(RuleTest, HoldsInTheProject) {
  ASSERT_GT(project().size(), 100U) << "the project was not found";
  EXPECT_EQ(to_text(violations_of(GetParam(), project())), "");
}

INSTANTIATE_TEST_SUITE_P(Tidy,
                         RuleTest,
                         testing::ValuesIn(rules().begin(), rules().end()),
                         tests::printed_name);

/// A file that breaks exactly one rule, in one line.
struct Planted {
  std::string_view name;
  std::string_view rule;
  Source source;
  int line = 1;
};

std::string included(std::string_view header) {
  return "#include " + std::string(header) + "\n";
}

/// This word is composed, because this file is checked as well.
const std::string sleep_word = std::string("s") + "leep";

Planted including(std::string_view rule,
                  const char* name,
                  const char* from,
                  const std::string& to) {
  return {name, rule, {from, included(to)}};
}
std::string quoted(const std::string& path) {
  return '"' + path + '"';
}
Planted upward(const char* name, const char* from, const char* to) {
  return including("includes_point_down", name, from, quoted(to));
}
Planted out_of_order(const char* name, const char* from, const char* to) {
  return including("folders_keep_their_order", name, from, quoted(to));
}
Planted far_from_home(const char* name, const char* from, const char* header) {
  return including("confined_headers_stay_home", name, from, header);
}

Planted test_named(const char* name, const char* test) {
  return {name,
          "tests_bear_names_of_one_style",
          {"tests/a_test.cpp", std::string("\n") + test + "\n"},
          2};
}

Planted sleeping(const char* name, const char* path, const std::string& line) {
  return {name, "tests_do_not_sleep", {path, "\n" + line + "\n"}, 2};
}

/// A function of 71 lines.
std::string long_function() {
  std::string text = "int f() {\n";
  for (int i = 0; i < 69; ++i) text += "  ++i;\n";
  return text + "}\n";
}

const std::vector<Planted> all_planted{
    upward("gpu_sees_arithmetic", "gpu/plan/a.cpp", "reference/numerics/fold.hpp"),
    upward("gpu_sees_reference", "gpu/plan/a.cpp", "reference/collectives/x/reference.hpp"),
    upward("gpu_sees_harness", "gpu/plan/a.cpp", "harness/case/case.hpp"),
    upward("reference_sees_gpu", "reference/numerics/a.cpp", "gpu/device/element.hpp"),
    upward("reference_sees_harness", "reference/numerics/a.cpp", "harness/case/case.hpp"),
    upward("harness_sees_gpu", "harness/case/a.cpp", "gpu/plan/plan.hpp"),
    upward("harness_sees_reference", "harness/case/a.cpp", "reference/numerics/fold.hpp"),
    upward("harness_sees_cases", "harness/case/a.cpp", "cases/suites/catalogue.hpp"),
    upward("spec_sees_collectives", "reference/spec/a.cpp", "reference/collectives/piece.hpp"),
    upward("cases_see_tests", "cases/a.cpp", "tests/tidy/rules.hpp"),
    upward("path_not_from_the_root", "gpu/plan/a.cpp", "plan.hpp"),
    out_of_order("harness_sees_run", "harness/case/a.cpp", "harness/run/session.hpp"),
    out_of_order("worker_sees_run", "harness/worker/a.cpp", "harness/run/session.hpp"),
    out_of_order("properties_see_worker", "harness/properties/a.cpp", "harness/worker/process.hpp"),
    out_of_order("suites_see_family", "cases/suites/a.cpp", "cases/collectives/oracle.hpp"),
    out_of_order(
        "family_sees_family", "cases/ptycho/x_properties.cpp", "cases/collectives/oracle.hpp"),
    out_of_order("backends_see_bench", "cases/backends/a.cpp", "cases/bench/bench.hpp"),
    out_of_order("bench_sees_commands", "cases/bench/a.cpp", "cases/commands/cli.hpp"),
    out_of_order("reconstruct_sees_commands", "cases/reconstruct/a.cpp", "cases/commands/cli.hpp"),
    out_of_order("workers_see_commands", "cases/workers/cuda.cu", "cases/commands/cli.hpp"),
    out_of_order("commands_see_workers", "cases/commands/a.cpp", "cases/workers/launch.hpp"),
    {"folder_without_a_place", "folders_keep_their_order", {"cases/elsewhere/a.cpp", "int a;\n"}},
    {"backend_in_a_run",
     "runs_name_no_backend",
     {"harness/run/a.cpp", "if (backend == \"nccl\") {\n"}},
    {"family_in_the_harness",
     "harness_names_no_family",
     {"harness/case/a.hpp", "#pragma once\n\nstruct ScanShare;\n"},
     3},
    {"family_in_a_comment_of_a_run",
     "harness_names_no_family",
     {"harness/run/a.cpp", "// Every detector counts.\n"}},
    far_from_home("rapidcheck_in_generator", "harness/search/generator.cpp", "<rapidcheck.h>"),
    far_from_home(
        "rapidcheck_in_tests", "tests/harness/search/engine_test.cpp", "<rapidcheck/Gen.h>"),
    far_from_home("gtest_in_harness", "harness/case/a.cpp", "<gtest/gtest.h>"),
    far_from_home("mpi_in_harness", "harness/worker/a.cpp", "<mpi.h>"),
    far_from_home("cuda_in_plans", "gpu/plan/a.cpp", "<cuda_runtime_api.h>"),
    far_from_home("nccl_in_cuda", "gpu/device/cuda/a.cpp", "<nccl.h>"),
    far_from_home("threads_in_reference", "reference/numerics/a.cpp", "<thread>"),
    far_from_home("distributions_in_generator", "harness/search/generator.cpp", "<random>"),
    far_from_home("assert", "gpu/plan/a.cpp", "<cassert>"),
    test_named("test_with_underscores", "TEST(ThingTest, does_this) {"),
    test_named("test_in_lower_case", "TEST_P(ThingTest, works) {"),
    test_named("suite_without_test", "TEST_F(Thing, DoesThis) {"),
    test_named("suite_in_lower_case", "TYPED_TEST(thingTest, DoesThis) {"),
    test_named("test_in_two_lines", "TEST(ThingTest,\n     does_this) {"),
    test_named("instance_in_lower_case", "INSTANTIATE_TEST_SUITE_P(all, ThingTest, values());"),
    sleeping(
        "thread_sleeps", "tests/a_test.cpp", "std::this_thread::" + sleep_word + "_for(time);"),
    sleeping("thread_sleeps_until", "tests/a_test.cpp", "  " + sleep_word + "_until(end);"),
    sleeping("process_sleeps", "tests/gpu/a.cu", "::nano" + sleep_word + "(&time, nullptr);"),
    sleeping(
        "shell_in_cpp_sleeps", "tests/a_test.cpp", "run(\"kill $p; " + sleep_word + " 0.1; x\");"),
    sleeping("perl_in_cpp_sleeps",
             "tests/a_test.cpp",
             std::string("  select(") + "undef, undef, undef, 0.1);"),
    sleeping("condition_waits",
             "tests/a_test.cpp",
             std::string("  ready.wait") + "_for(lock, time, is_ready);"),
    sleeping("c_header_sleeps", "tests/stand_in/a.h", "u" + sleep_word + "(1);"),
    sleeping("shell_sleeps", "tests/a.sh", "until [ -e here ]; do " + sleep_word + " 1; done"),
    sleeping("python_sleeps", "tests/a.py", "    time." + sleep_word + "(1)"),
    sleeping("test_of_package_sleeps",
             "harness/client/python/tests/test_a.py",
             "time." + sleep_word + "(0)"),
    {"no_pragma_once", "headers_start_with_pragma_once", {"gpu/a.hpp", "int f();\n"}},
    {"own_header_last",
     "sources_include_their_header_first",
     {"gpu/plan/a.cpp", included("<vector>") + included(quoted("gpu/plan/a.hpp"))},
     2},
    {"using_namespace", "namespaces_are_not_opened_to_all", {"gpu/a.cpp", "using namespace a;\n"}},
    {"foreign_macro", "macros_bear_our_name", {"gpu/a.cpp", "#define CHECK(x) x\n"}},
    {"long_line", "lines_are_clean", {"gpu/a.cpp", std::string(101, 'x') + "\n"}},
    {"tab", "lines_are_clean", {"CMakeLists.txt", "\n\tadd\n"}, 2},
    {"trailing_space", "lines_are_clean", {"README.md", "a \n"}},
    {"carriage_return", "lines_are_clean", {"README.md", "a\r\n"}},
    {"no_end_of_line", "lines_are_clean", {"gpu/a.cpp", "int a;"}},
    {"empty_last_line", "lines_are_clean", {"gpu/a.cpp", "int a;\n\n"}, 2},
    {"machine", "paths_belong_to_no_machine", {"verify", std::string("cd /ho") + "me/me\n"}},
    {"long_function", "functions_fit_on_a_screen", {"gpu/a.cpp", long_function()}},
    {"fragment", "comments_are_no_fragments", {"gpu/a.cpp", "  /// Of the soak.\nint a;\n"}},
    {"fragment_in_a_second_line",
     "comments_are_no_fragments",
     {"gpu/a.cpp", "// The value is a part\n// Of the sum.\nint a;\n"},
     2},
    {"fragment_in_cmake",
     "comments_are_no_fragments",
     {"tests/CMakeLists.txt", "set(a 1)\n  # Likewise, for b.\nset(b 1)\n"},
     2},
    {"fragment_in_a_script",
     "comments_are_no_fragments",
     {"verify", "#!/bin/sh\n# Whose root that is.\n"},
     2},
};

TEST(PlantedTest, IsFoundByItsRuleAlone) {
  for (const Planted& planted : all_planted) {
    SCOPED_TRACE(planted.name);
    for (const Rule& rule : rules()) {
      const std::vector<Violation> found = violations_of(rule, {planted.source});
      EXPECT_EQ(found.size(), rule.name == planted.rule ? 1U : 0U) << rule.name << to_text(found);
      for (const Violation& each : found) EXPECT_EQ(each.line, planted.line);
    }
  }
}

/// Files that break no rule.
const std::map<std::string_view, Source> legal{
    {"gpu_takes_words", {"gpu/plan/a.cpp", included(quoted("reference/spec/type.hpp"))}},
    {"gpu_takes_contracts",
     {"gpu/plan/a.cpp", included(quoted("reference/collectives/x/contract.hpp"))}},
    {"engine_takes_rapidcheck", {"harness/search/engine.cpp", included("<rapidcheck.h>")}},
    {"mpi_device_takes_mpi", {"gpu/device/mpi/a.cpp", included("<mpi.h>")}},
    {"mpi_algorithm_takes_mpi", {"gpu/collectives/x/mpi.cpp", included("<mpi.h>")}},
    {"cases_take_arithmetic", {"cases/a.cpp", included(quoted("reference/numerics/fold.hpp"))}},
    {"commands_take_bench", {"cases/commands/a.cpp", included(quoted("cases/bench/x.hpp"))}},
    {"runs_take_the_harness", {"harness/run/a.cpp", included(quoted("harness/case/case.hpp"))}},
    {"harness_has_objects", {"harness/case/a.cpp", "/// The object of a call.\nint object;\n"}},
    {"cases_name_families", {"cases/ptycho/a.cpp", "// The probe of a scan.\n"}},
    {"generated_file", {"gpu/device/mpi/a.cpp", included(quoted("generated.inc"))}},
    {"tests_take_tests", {"tests/a_test.cpp", included(quoted("tests/tidy/rules.hpp"))}},
    {"long_line_of_prose", {"README.md", std::string(200, 'x') + "\n"}},
    {"comment_of_two_lines", {"gpu/a.cpp", "/// The value is a part\n/// of the sum.\nint a;\n"}},
    {"heading_of_a_page", {"README.md", "# Of sums\n"}},
    {"names_of_one_style",
     {"tests/a_test.cpp",
      "TEST(ThingTest, DoesThis2) {\nINSTANTIATE_TEST_SUITE_P(\n    All, ThingTest);\n"}},
    {"code_may_sleep", {"gpu/a.cpp", "std::this_thread::" + sleep_word + "_for(time);\n"}},
    {"comments_may_sleep", {"tests/a_test.cpp", "// It does not " + sleep_word + ".\n"}},
    {"other_words_in_tests", {"tests/a_test.cpp", "EXPECT_FALSE(is_a" + sleep_word + ");\n"}},
    {"line_of_100", {"gpu/a.cpp", "// " + std::string(97, 'x') + "\n"}},
    {"line_of_100_characters", {"gpu/a.cpp", "// a…" + std::string(95, 'x') + "\n"}}};

TEST(LegalTest, BreaksNoRule) {
  for (const auto& [name, source] : legal) {
    for (const Rule& rule : rules()) {
      EXPECT_EQ(to_text(violations_of(rule, {source})), "") << name << ": " << rule.name;
    }
  }
}

/// In such a list, no folder can include itself through others.
TEST(LayoutTest, EveryFolderStandsAfterTheFoldersThatItMayInclude) {
  std::set<std::string_view> before;
  for (const Room& room : rooms()) {
    for (const std::string& each : room.below) {
      EXPECT_TRUE(before.contains(each)) << room.folder << " includes " << each;
    }
    EXPECT_TRUE(before.insert(room.folder).second) << room.folder;
  }
}

/// An arrow that no file needs is removed from the table.
TEST(LayoutTest, EveryArrowBetweenFoldersIsUsed) {
  std::set<std::pair<std::string, std::string>> used;
  for (const Source& source : project()) {
    for (const Include& include : includes(source)) {
      used.emplace(room_of(source.path), room_of(include.name));
    }
  }
  for (const Room& room : rooms()) {
    for (const std::string& each : room.below) {
      EXPECT_TRUE(used.contains({std::string(room.folder), each}))
          << room.folder << " never includes " << each;
    }
  }
}

TEST(FoldersTest, IncludeOneAnotherInNoCircle) {
  for (const char* tree : {"cases", "gpu", "harness"}) {
    EXPECT_EQ(to_text(circles_of_folders(project(), tree)), "") << tree;
  }
}

TEST(PlantedFoldersTest, TwoFoldersAreACircle) {
  const std::vector<Source> sources{
      {"gpu/a/x.hpp", included("<vector>") + included(quoted("gpu/a/b/y.hpp"))},
      {"gpu/a/b/y.cpp", included(quoted("gpu/a/z.hpp"))}};
  EXPECT_EQ(to_text(circles_of_folders(sources, "gpu")),
            "gpu/a/x.hpp:2: gpu/a includes gpu/a/b, from where includes lead back to it\n"
            "gpu/a/b/y.cpp:1: gpu/a/b includes gpu/a, from where includes lead back to it\n");
  EXPECT_EQ(to_text(circles_of_folders(sources, "harness")), "");
}

TEST(PlantedFoldersTest, EveryArrowOfACircleIsNamed) {
  const std::vector<Source> sources{{"gpu/a/x.hpp", included(quoted("gpu/b/x.hpp"))},
                                    {"gpu/b/x.hpp", included(quoted("gpu/c/x.hpp"))},
                                    {"gpu/c/x.hpp", included(quoted("gpu/a/x.hpp"))},
                                    {"gpu/c/y.hpp", included(quoted("gpu/d/x.hpp"))},
                                    {"gpu/d/x.hpp", included(quoted("gpu/e/x.hpp"))},
                                    {"gpu/e/x.hpp", included(quoted("gpu/d/x.hpp"))}};
  std::string paths;
  for (const Violation& each : circles_of_folders(sources, "gpu")) paths += each.path + ' ';
  EXPECT_EQ(paths, "gpu/a/x.hpp gpu/b/x.hpp gpu/c/x.hpp gpu/d/x.hpp gpu/e/x.hpp ");
}

TEST(PlantedFoldersTest, LayersAndNeighboursInOneFolderAreNoCircle) {
  const std::vector<Source> sources{
      {"gpu/a/x.hpp", included(quoted("gpu/a/y.hpp")) + included(quoted("gpu/b/x.hpp"))},
      {"gpu/a/y.hpp", included(quoted("gpu/c/x.hpp"))},
      {"gpu/b/x.hpp", included(quoted("gpu/c/x.hpp"))},
      {"cases/a/x.hpp", included(quoted("gpu/a/x.hpp"))}};
  EXPECT_EQ(to_text(circles_of_folders(sources, "gpu")), "");
}

/// The same relative path exists in every tree, so readers navigate by replacing the first folder.
TEST(LayoutTest, EveryOperationHasAContractAndAReference) {
  std::set<std::string> paths;
  std::set<std::string> operations;
  for (const Source& source : project()) {
    paths.insert(source.path);
    for (const std::string_view tree : {"reference/", "gpu/", "cases/"}) {
      const std::string family = std::string(tree) + "collectives/";
      const std::size_t slash = source.path.find('/', family.size());
      if (source.path.starts_with(family) && slash != std::string::npos) {
        operations.insert(source.path.substr(tree.size(), slash - tree.size()));
      }
    }
  }
  EXPECT_GE(operations.size(), 15U);
  for (const std::string& operation : operations) {
    EXPECT_TRUE(paths.contains("reference/" + operation + "/contract.hpp")) << operation;
  }
}

TEST(LayoutTest, EveryLinkOfAPageLeadsToAFile) {
  const std::filesystem::path root = RANKCHECK_SOURCE_DIR;
  const std::regex link(R"(\]\(([^)#\s]+))");
  int links = 0;
  for (const Source& page : project()) {
    if (!page.path.ends_with(".md")) continue;
    for (std::sregex_iterator at(page.text.begin(), page.text.end(), link), end; at != end; ++at) {
      const std::string target = (*at)[1];
      if (target.starts_with("http")) continue;
      ++links;
      EXPECT_TRUE(std::filesystem::exists((root / page.path).parent_path() / target))
          << page.path << ": " << target;
    }
  }
  EXPECT_GE(links, 30);
}

}  // namespace
}  // namespace rankcheck::tidy

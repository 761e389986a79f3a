#include "cases/backends/command_backend.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/base/files.hpp"
#include "harness/case/case.hpp"

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::cases {
namespace {

using Words = std::vector<std::string>;

std::string error_of(const std::string& line) {
  return harness::complaint_of<harness::BadInput>([&] { return words_of_command(line, 2); });
}

TEST(CommandBackendTest, SplitsALineAsAShell) {
  EXPECT_EQ(words_of_command("./worker", 1), Words{"./worker"});
  EXPECT_EQ(words_of_command("python3  'my worker.py' a\\ b \"c d\"", 1),
            (Words{"python3", "my worker.py", "a b", "c d"}));
  EXPECT_EQ(words_of_command("mpirun -n {ranks} ./w --world={ranks}", 12),
            (Words{"mpirun", "-n", "12", "./w", "--world=12"}));
}

TEST(CommandBackendTest, SaysWhatIsWrongWithALine) {
  EXPECT_EQ(error_of(""),
            "command: names no program or file, expected a program and its arguments");
  EXPECT_NE(error_of("./w $(rm x)").find("has $(…) or `…`, which are not carried out"),
            std::string::npos);
  EXPECT_NE(error_of("./w; ./x").find("without quotes around it"), std::string::npos);
  EXPECT_NE(error_of("./w 'open").find("has quotes that are not closed"), std::string::npos);
}

TEST(CommandBackendTest, FindsTheProgramOnThePath) {
  EXPECT_EQ(why_command_unavailable("sh -c 'exit 1'"), "");
  EXPECT_EQ(why_command_unavailable("/bin/sh"), "");
  EXPECT_EQ(why_command_unavailable("no-such-program -x"),
            "got no-such-program, expected an executable program");
  const std::string long_name(300, 'n');
  EXPECT_EQ(why_command_unavailable(long_name + " -x"),
            "got " + long_name + ", expected an executable program");
  // A folder can be entered, but not run.
  EXPECT_NE(why_command_unavailable("/bin/"), "");
}

TEST(CommandBackendTest, SaysHowAPathWithBlanksIsQuoted) {
  const harness::TemporaryFolder folder;
  const std::string file = (folder.path() / "a file.py").string();
  harness::write_file(file, "");
  const std::string end = file + "'\"";
  EXPECT_TRUE(why_command_unavailable(file + " -x")
                  .ends_with("; quote a path with blanks: \"command:'" + end));
  EXPECT_TRUE(
      why_python_unavailable(file).ends_with("; quote a path with blanks: \"python:'" + end));
  EXPECT_EQ(why_python_unavailable("'" + file + "'"), "");
}

TEST(CommandBackendTest, FindsReadySubjectsByTheirNames) {
  EXPECT_EQ(why_python_unavailable("torch-gloo"), "");
  // Its file has a longer name.
  EXPECT_EQ(why_python_unavailable("mpi4py"), "");
  EXPECT_EQ(why_python_unavailable("torch-glo"),
            "got torch-glo, expected a file of Python or a ready subject of 'rankcheck list "
            "--subjects'");
}

TEST(CommandBackendTest, SaysWhyAFileOfPythonCannotBeABackend) {
  EXPECT_EQ(why_python_unavailable("no-such-file.py"),
            "got no-such-file.py, expected a file of Python");
  EXPECT_EQ(
      harness::complaint_of<harness::BadInput>(
          [] { return why_python_unavailable("'a file.py' name more"); }),
      "python:'a file.py' name more: got 3 words, expected a file of Python, and the subject's "
      "name if the file has several");
}

}  // namespace
}  // namespace rankcheck::cases

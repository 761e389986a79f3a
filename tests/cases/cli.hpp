#pragma once

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/base/files.hpp"
#include "harness/base/table.hpp"
#include "harness/worker/process.hpp"

#include "tests/harness/report/journal_text.hpp"
#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck {

using harness::begins;
using harness::has;

}  // namespace rankcheck

namespace rankcheck::tests {

/// Whether this build has HDF5 and Cairo, and with them the commands reconstruct and simulate.
inline constexpr bool reconstructs = RANKCHECK_RECONSTRUCTS;
inline constexpr const char* no_reconstruct =
    "reconstructions were not built: RANKCHECK_RECONSTRUCT is OFF, or HDF5 or Cairo was not found";

/// One quick unit; tests append their own options.
inline const std::string quick =
    "run --backend sim --operation broadcast --algorithm binomial "
    "--property agrees_with_reference --cases 60 ";

/// Options that run all_reduce on a subject of ours with a planted bug.
inline const std::string with_bug =
    "--operation all_reduce --property agrees_with_reference --ranks 1..4 --cases 60 "
    "--backend 'command:" RANKCHECK_BINARY_DIR "/subjects/every_operation --bug last_element' ";

/// Ends a program that hangs on bad input, long before the test's own time-out. A program that
/// works takes a small part of this time, even on a loaded machine.
inline const std::string last_resort = "timeout 300 ";

/// A finished program's exit status and output. As in a shell, the status of a program that a
/// signal ended is 128 plus the signal's number.
struct Outcome {
  int status = -1;
  std::string out;
  std::string err;

  /// Takes a status as waitpid() gives it.
  void set_status(int status_of_wait) {
    const bool is_end = WIFEXITED(status_of_wait);
    status = is_end ? WEXITSTATUS(status_of_wait) : 128 + WTERMSIG(status_of_wait);
  }

  /// Whether the output has these words, however its lines are broken.
  [[nodiscard]] testing::AssertionResult says(const std::string& words) const {
    std::istringstream in(out);
    std::string text;
    for (std::string word; in >> word;) text += word + ' ';
    return harness::result_about(text.find(words) != std::string::npos, words, out + err);
  }
  [[nodiscard]] std::string first_line() const { return out.substr(0, out.find('\n')); }
  [[nodiscard]] std::string last_line() const {
    const std::string text = out.substr(0, out.find_last_not_of('\n') + 1);
    return text.substr(text.rfind('\n') + 1);
  }
};

/// Runs the real program in a temporary folder.
class CliTest : public testing::Test {
 protected:
  /// A job of GitHub Actions that runs these tests is not told about the runs in them.
  CliTest() {
    for (const char* each : {"GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"}) ::unsetenv(each);
  }

  /// Executes a script of a shell in the folder. Calls `see` with the shell's process id whenever
  /// there is more output.
  Outcome execute(const std::string& script,
                  const std::function<void(pid_t, const Outcome& so_far)>& see = {}) {
    // What `see` executes has a file of its own.
    const std::filesystem::path err = path_to(see ? "stderr-meanwhile" : "stderr");
    const std::string line = "cd " + harness::shell_quoted(folder_.path().string()) +
                             " && exec 2>" + harness::shell_quoted(err.string()) +
                             " || exit 127\n" + script;
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const harness::worker::Descriptor output(ends[0]);
    harness::worker::Descriptor input(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) {
      ::dup2(input.get(), STDOUT_FILENO);
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    input.reset();
    Outcome outcome;
    char buffer[4096];
    ssize_t got = 0;
    while ((got = ::read(output.get(), buffer, sizeof buffer)) > 0) {
      outcome.out.append(buffer, static_cast<std::size_t>(got));
      if (see) see(child, outcome);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    outcome.set_status(status);
    outcome.err = harness::read_file(err);
    return outcome;
  }

  /// Runs a command in the folder. Expects the exit status, if there is one to expect.
  Outcome shell(const std::string& command, std::optional<int> status = {}) {
    Outcome outcome = execute(command);
    if (status) {
      EXPECT_EQ(outcome.status, *status) << command << '\n' << outcome.out << outcome.err;
    }
    return outcome;
  }

  /// Runs the program with these environment variables, such as A=1 B=2.
  Outcome with(const std::string& variables,
               const std::string& arguments,
               std::optional<int> status = {}) {
    return shell(variables + ' ' + surroundings_ + program_ + ' ' + arguments, status);
  }
  Outcome rankcheck(const std::string& arguments, std::optional<int> status = {}) {
    return with("", arguments, status);
  }
  /// Runs the program, and expects that all is right, or that something is wrong.
  Outcome passes(const std::string& arguments) { return rankcheck(arguments, 0); }
  Outcome fails(const std::string& arguments) { return rankcheck(arguments, 1); }

  /// Runs the program, which writes the file or folder `name`. If another test of this process has
  /// already done so, takes a copy of what that test got.
  Outcome once(const std::string& arguments, const std::string& name) {
    struct Made {
      harness::TemporaryFolder folder;
      Outcome outcome;
    };
    static std::map<std::vector<std::string>, Made> all;
    const auto [at, is_new] = all.try_emplace({surroundings_, program_, arguments, name});
    Made& made = at->second;
    std::filesystem::path from = made.folder.path() / name;
    std::filesystem::path to = path_to(name);
    if (is_new) {
      made.outcome = rankcheck(arguments);
      std::swap(from, to);
    }
    if (!std::filesystem::exists(from)) {
      ADD_FAILURE() << "no " << name << " was written by " << arguments << '\n'
                    << made.outcome.out << made.outcome.err;
      return made.outcome;
    }
    std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
    return made.outcome;
  }

  /// Expects that the standard error is one line of this program, which says `complaint`.
  static void expect_one_line(const Outcome& outcome,
                              const std::string& complaint,
                              const std::string& program = "rankcheck") {
    EXPECT_TRUE(harness::begins(outcome.err, program + ": "));
    EXPECT_TRUE(harness::has(outcome.err, complaint));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  void expect_unable(const std::string& arguments, const std::string& complaint) {
    SCOPED_TRACE(arguments);
    expect_one_line(rankcheck(arguments, 2), complaint);
  }

  /// Runs the program with a clock for time budgets that moves by so much whenever it is read. It
  /// is read about once for each case, so the number of cases does not depend on the machine.
  Outcome clocked(double reading_s, const std::string& arguments) {
    return shell("RANKCHECK_TESTS_READING_S=" + std::to_string(reading_s) + ' ' + clocked_ + ' ' +
                 arguments);
  }

  /// Runs the program, and calls `act` with its process id as soon as it has printed `words`.
  Outcome when_it_says(const std::string& words,
                       const std::string& arguments,
                       const std::function<void(pid_t)>& act) {
    bool has_acted = false;
    const auto see = [&](pid_t program, const Outcome& so_far) {
      if (has_acted || so_far.out.find(words) == std::string::npos) return;
      has_acted = true;
      act(program);
    };
    Outcome outcome = execute("exec " + program_ + ' ' + arguments, see);
    EXPECT_TRUE(has_acted) << words << " in\n" << outcome.out << outcome.err;
    return outcome;
  }

  /// Runs the program, and interrupts it as Ctrl-C does as soon as it has printed `words`. Expects
  /// that it ends as a shell ends such a program.
  Outcome interrupt_when_it_says(const std::string& words, const std::string& arguments) {
    Outcome outcome =
        when_it_says(words, arguments, [](pid_t program) { ::kill(program, SIGINT); });
    EXPECT_EQ(outcome.status, 128 + SIGINT) << outcome.out << outcome.err;
    return outcome;
  }

  /// Runs the program, which prints JSON. Expects the exit status.
  nlohmann::json json_of(const std::string& arguments, int status = 0) {
    return nlohmann::json::parse(rankcheck(arguments, status).out);
  }

  /// Returns the path of a file in the folder.
  [[nodiscard]] std::filesystem::path path_to(const std::string& name) const {
    return folder_.path() / name;
  }
  [[nodiscard]] bool exists(const std::string& name) const {
    return std::filesystem::exists(path_to(name));
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    return harness::read_file(path_to(name));
  }

  /// Replaces the first `from` in a journal by `to` and renews the checksums, as if rankcheck had
  /// written it.
  void change_journal(const std::string& name, const std::string& from, const std::string& to) {
    std::string text = text_of(name);
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    harness::write_file(path_to(name), harness::with_checksums(text));
  }

  /// Writes an executable shell script into the folder.
  void write_script(const std::string& name, const std::string& text) {
    harness::write_file(path_to(name), "#!/bin/sh\n" + text);
    std::filesystem::permissions(path_to(name), std::filesystem::perms::owner_all);
  }

  nlohmann::json report(const std::string& folder) {
    return nlohmann::json::parse(text_of(folder + "/report.json"));
  }
  /// Returns what a report has besides the environment, which differs from run to run.
  nlohmann::json results(const std::string& folder) {
    nlohmann::json all = report(folder);
    all.erase("environment");
    return all;
  }
  /// Returns a report's findings. A loop can take them: they are no part of a temporary report.
  nlohmann::json findings(const std::string& folder) { return report(folder).at("findings"); }

  /// Removes the last lines of a run's journal. Without the last line, it is like the journal of a
  /// run that was killed before its end.
  void forget_lines(const std::string& folder, int lines = 1) {
    std::string journal = text_of(folder + "/journal.jsonl");
    for (; lines > 0; --lines) journal.resize(journal.rfind('\n', journal.size() - 2) + 1);
    harness::write_file(path_to(folder) / "journal.jsonl", journal);
  }

  /// Returns what the doctor reports of a backend. `surroundings` sets environment variables.
  nlohmann::json doctor(const std::string& backend,
                        const std::string& options = "",
                        const std::string& surroundings = "") {
    const std::string said = with(surroundings, "doctor --json " + options).out;
    return with_name(backend, nlohmann::json::parse(said).at("backends"));
  }
  /// Returns the element of this name. Null if there is none.
  static nlohmann::json with_name(const std::string& name, const nlohmann::json& all) {
    for (const nlohmann::json& each : all) {
      if (each.at("name") == name) return each;
    }
    return {};
  }

  /// Runs the gate for hardware in calls until it is complete. `surroundings` sets environment
  /// variables. Returns the outcome of the last call.
  Outcome run_gate(const std::string& arguments,
                   const std::string& folder,
                   const std::string& surroundings = "") {
    const Outcome first = call_gate(surroundings, "hardware " + arguments + " --report " + folder);
    return finish_gate(folder, first, surroundings);
  }
  /// Resumes a gate in such calls until it is complete. `outcome` is the outcome of the last call.
  Outcome finish_gate(const std::string& folder,
                      Outcome outcome = {},
                      const std::string& surroundings = "") {
    constexpr int calls_max = 60;
    for (int i = 0; i < calls_max && report(folder)["ending"] != "completed"; ++i) {
      outcome = call_gate(surroundings, "--resume " + folder);
    }
    EXPECT_EQ(report(folder)["ending"], "completed") << outcome.out << outcome.err;
    return outcome;
  }

  /// Installs the program whose clock moves by `reading_s` whenever it is read, and by `tick_s` for
  /// each byte that a worker writes into the file `ticks`.
  void install_clocked(const std::string& reading_s, const std::string& tick_s) {
    install("rankcheck-clocked");
    surroundings_ =
        "RANKCHECK_TESTS_READING_S=" + reading_s + " RANKCHECK_TESTS_TICK_S=" + tick_s + ' ';
  }

  /// Installs the program in the folder, with its own cases/. Later calls of rankcheck() run it.
  void install(const std::string& program = "rankcheck") {
    namespace fs = std::filesystem;
    const fs::path built = RANKCHECK_BINARY_DIR "/" + program;
    const fs::path installed = folder_.path() / "bin" / "rankcheck";
    fs::create_directories(installed.parent_path());
    std::error_code other_disk;
    fs::create_hard_link(built, installed, other_disk);
    if (other_disk) fs::copy_file(built, installed);
    fs::create_directories(cases());
    fs::copy(RANKCHECK_SOURCE_DIR "/cases/suites",
             cases() / "suites",
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    program_ = harness::shell_quoted(installed.string());
  }

  /// Gives the installed program a worker for `cuda` that says that it can run. When it is asked
  /// for anything else, it sends the signal to the program, and never answers.
  void write_silent_worker(const std::string& signal) {
    write_script("bin/rankcheck-worker-cuda",
                 "case \"$1\" in\n"
                 "--describe) echo '{\"unavailable\":\"\",\"devices\":[],\"algorithms\":[]}' ;;\n"
                 "*) kill -" +
                     signal + " $PPID; exec tail -f /dev/null ;;\nesac\n");
  }

  /// Returns the folder cases/ of the installed program.
  std::filesystem::path cases() { return folder_.path() / "share" / "rankcheck" / "cases"; }

  /// Pins a case as cases/<operation>/pinned/<name>.json of the installed program.
  void pin(const std::string& operation, const std::string& name, const std::string& text) {
    const std::filesystem::path folder = cases() / operation / "pinned";
    std::filesystem::create_directories(folder);
    harness::write_file(folder / (name + ".json"), text);
  }

  /// Writes a suite s.json of these entries. `fields` are further JSON fields of the suite, each
  /// with a comma behind it.
  void write_entries(const std::vector<std::string>& entries, const std::string& fields = "") {
    std::string all;
    for (const std::string& each : entries) all += (all.empty() ? "{" : ",{") + each + '}';
    harness::write_file(path_to("s.json"),
                        R"({"name":"s","summary":"s",)" + fields + R"("entries":[)" + all + "]}");
  }
  /// Writes a suite s.json of one entry on sim. `fields` are the entry's further JSON fields.
  void write_suite(const std::string& fields) {
    write_entries({R"("backends":["sim"],)" + fields});
  }

  /// One call of a gate. Its time is the same for all calls, by the clock of install_clocked().
  Outcome call_gate(const std::string& surroundings, const std::string& arguments) {
    return with(surroundings, "run --time-budget 30 " + arguments);
  }

  harness::TemporaryFolder folder_;
  std::string program_ = harness::shell_quoted(RANKCHECK_BINARY_DIR "/rankcheck");
  /// Environment variables for rankcheck() and the gate, each with a space behind it.
  std::string surroundings_;
  /// The program with the clock of clocked().
  const std::string clocked_ = harness::shell_quoted(RANKCHECK_BINARY_DIR "/rankcheck-clocked");
};

}  // namespace rankcheck::tests

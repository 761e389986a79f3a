#pragma once

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/// Which processes host the ranks of a subject, and how they are started.
namespace rankcheck {

struct Launch {
  bool is_one_process = true;
  /// How many ranks there are if neither the command line nor the environment says it.
  int ranks = 4;
  /// The command that must start the processes, such as "mpirun -n {ranks}". If it is empty, the
  /// program starts its processes itself.
  std::string launcher;
};

/// One process hosts all ranks. Each rank has a thread of its own.
inline Launch one_process(int ranks = 4) {
  return {true, ranks, ""};
}

/// Each rank is a process, which makes its calls in its main thread.
inline Launch processes(int ranks = 4, std::string launcher = "") {
  return {false, ranks, std::move(launcher)};
}

namespace detail {

inline int ranks_from(const char* what, const std::string& text) {
  char* end = nullptr;
  const long ranks = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != 0 || ranks < 0 || ranks > 4096) {
    throw std::invalid_argument(std::string(what) + ": got " + (text.empty() ? "nothing" : text) +
                                ", expected a number up to 4096");
  }
  return static_cast<int>(ranks);
}

/// Returns the number after `--ranks`, or else of RANKCHECK_RANKS, or else `otherwise`.
inline int ranks_wanted(const std::vector<std::string>& arguments, int otherwise) {
  const std::string option = "--ranks";
  int ranks = otherwise;
  if (const char* said = std::getenv("RANKCHECK_RANKS"))
    ranks = ranks_from("RANKCHECK_RANKS", said);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == option) {
      ranks = ranks_from("--ranks", i + 1 < arguments.size() ? arguments[i + 1] : "");
      break;
    }
    if (word.compare(0, option.size() + 1, option + "=") == 0) {
      ranks = ranks_from("--ranks", word.substr(option.size() + 1));
      break;
    }
  }
  if (ranks < 1) throw std::invalid_argument("--ranks: got 0, expected at least 1 rank");
  return ranks;
}

/// Returns the rank and the world of this process, if a launcher has said them.
inline std::optional<std::pair<int, int>> place_of_process() {
  constexpr const char* variables[][2] = {{"RANKCHECK_RANK", "RANKCHECK_WORLD"},
                                          {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                          {"PMI_RANK", "PMI_SIZE"},
                                          {"RANK", "WORLD_SIZE"},
                                          {"SLURM_PROCID", "SLURM_NTASKS"}};
  for (const auto& [rank, world] : variables) {
    const char* const said = std::getenv(rank);
    const char* const of = std::getenv(world);
    if (said == nullptr || of == nullptr) continue;
    const std::pair place(ranks_from(rank, said), ranks_from(world, of));
    if (place.first < place.second) return place;
    throw std::invalid_argument(std::string(rank) + ": got " + said + ", expected a rank below " +
                                of);
  }
  return std::nullopt;
}

/// Returns the path of a file that all ranks of a run, and nobody else, may use.
inline std::string meeting_place() {
  const auto said = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  // A harness that starts its workers gives them a folder of their own. Ranks that somebody else
  // has started have nothing in common but the secret.
  const std::string known = said("RANKCHECK_ADDRESS") + said("RANKCHECK_SECRET");
  const std::string folder = said("TMPDIR");
  return (folder.empty() ? "/tmp" : folder) + "/rankcheck-shared" +
         (known.empty() ? "" : '-' + std::to_string(std::hash<std::string>()(known)));
}

/// Becomes one process of the subject. Never returns.
[[noreturn]] inline void become_rank(int rank, int ranks, char** argv) {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  ::setenv("RANKCHECK_RANK", std::to_string(rank).c_str(), 1);
  ::setenv("RANKCHECK_WORLD", std::to_string(ranks).c_str(), 1);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  ::execv("/proc/self/exe", argv);
  ::execvp(argv[0], argv);
  std::perror(argv[0]);
  ::_exit(127);
}

/// Starts this program once for each rank and waits for all. If one process fails, the others are
/// killed. Returns the exit status as a shell does.
inline int start_processes(int ranks, char** argv) {
  std::map<pid_t, int> running;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) become_rank(rank, ranks, argv);
    if (child > 0) running.emplace(child, rank);
  }
  int result = running.size() == static_cast<std::size_t>(ranks) ? 0 : 1;
  while (!running.empty() && result == 0) {
    int status = 0;
    const auto ended = running.find(::wait(&status));
    if (ended == running.end()) continue;
    const int rank = ended->second;
    running.erase(ended);
    result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (!WIFSIGNALED(status)) continue;
    const int number = WTERMSIG(status);
    std::fprintf(
        stderr, "rank %d was killed by signal %d (%s)\n", rank, number, ::strsignal(number));
  }
  for (const auto& [child, rank] : running) ::kill(child, SIGKILL);
  while (!running.empty() && ::wait(nullptr) > 0) continue;
  return result;
}

}  // namespace detail

}  // namespace rankcheck

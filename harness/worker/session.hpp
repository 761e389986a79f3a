#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/contract.hpp"

#include "harness/backend.hpp"
#include "harness/stop.hpp"
#include "harness/worker/process.hpp"
#include "harness/worker/protocol.hpp"
#include "harness/worker/work_folder.hpp"

namespace rankcheck::harness::worker {

/// How workers are started and watched.
struct WorkerOptions {
  /// The command that starts all worker processes; it may leave files in `directory`, which is made
  /// for it and removed with all that is in it.
  std::function<Command(const std::string& directory)> command;
  /// The contract of an operation; null where there is none of that name.
  std::function<const spec::Contract*(std::string_view name)> contract_of;
  /// One process that hosts all ranks and speaks over its standard input and output, instead of
  /// processes that connect to the socket that RANKCHECK_SOCKET names.
  bool over_standard_io = false;
  std::chrono::duration<double> start_timeout{60};
  /// Time without a whole message from any worker after which a run counts as hung. A run as a
  /// whole may take run_timeouts_max times as long.
  std::chrono::duration<double> run_timeout{20};
  /// How long workers may take to end when they are no longer needed.
  std::chrono::duration<double> end_timeout{10};
  /// Looked at wherever workers are waited for. Once it is made, they are ended at once, and
  /// nothing that they do counts as a failure any more.
  StopRequest stop = {};
};

/// How many time-outs a whole run may take, however much the workers say of its progress.
inline constexpr int run_timeouts_max = 10;

/// The running worker processes of one backend, from start to end. After a run that did not leave
/// them idle they are of no more use: see usable().
class Session {
 public:
  /// Starts the workers and waits until every rank has said hello. Throws std::runtime_error, and
  /// Interrupted, as refuses() and run() do, where the stop is made before there is an answer.
  Session(const WorkerOptions& options, const std::map<std::string, std::string>& environment);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Ends all processes and removes what they left.
  ~Session();

  /// Ends the workers; empty where they were idle and ended well, as they do when their connections
  /// close, or where the stop is made. Nothing else may be called afterwards.
  std::optional<Trouble> close();

  /// What the workers said of themselves; `ranks` is that of the first connection.
  [[nodiscard]] const Hello& hello() const { return hello_; }
  [[nodiscard]] bool usable() const { return usable_; }

  /// Looks whether the workers are still there. What happened to them since the last run; empty
  /// where nothing did, or a run has told it.
  [[nodiscard]] std::optional<Trouble> trouble();

  /// Asks a worker why it does not take the case. Throws std::runtime_error where there is no
  /// answer; trouble() then tells why.
  [[nodiscard]] std::string refuses(const Case& c);
  /// Runs the stages on the ranks that are members of one.
  void run(std::span<const Case> stages, Observation& observation);

 private:
  struct Peer {
    Connection connection;
    std::vector<int> ranks;
    /// Names the process even after its end, so that no other one is ever killed; may be invalid.
    Descriptor process;
    bool pending = false;
    std::uint64_t payload_bytes_max = 0;
    Observation result;
  };
  using Clock = std::chrono::steady_clock;

  void connect_all(int listener, Clock::time_point deadline);
  void add_peer(Connection connection, Clock::time_point deadline);
  [[nodiscard]] Frame await_hello(Peer& peer, Clock::time_point deadline);
  [[nodiscard]] bool is_complete() const;
  [[nodiscard]] Frame await_frame(Peer& peer, Clock::time_point deadline);
  [[nodiscard]] std::string ask_why_refused(Peer& peer, const Case& c);
  [[nodiscard]] Peer* peer_of(int world_rank);

  bool send_run(std::span<const Case> stages, Observation& observation);
  void await_results(std::span<const Case> stages, Observation& observation);
  /// Takes in the whole messages that are there; `heard` is true where there was one.
  bool take_frames(Peer& peer, Observation& observation, bool& heard);
  void take_progress(const Peer& peer, const nlohmann::json& header);
  void merge(std::span<const Case> stages, Observation& observation);
  void note_trouble(RunStatus status, std::string reason);
  void give_up(Observation& observation, RunStatus status, std::string reason);
  [[nodiscard]] std::string describe_death(const Peer& peer, std::span<const Case> stages);
  [[nodiscard]] std::string describe_hang(std::span<const Case> stages,
                                          std::chrono::duration<double> limit) const;
  [[nodiscard]] std::string where(int rank, std::span<const Case> stages) const;
  void kill_workers();
  /// Throws Interrupted once the stop is made.
  void expect_no_stop() const;
  /// Waits until the processes have ended, but not for long once the stop is made. False where they
  /// have not.
  bool wait_for_end(std::chrono::duration<double> patience);
  /// How long processes that are told to end may take for it.
  [[nodiscard]] std::chrono::milliseconds patience_of_stop() const;

  const WorkerOptions& options_;
  WorkFolder folder_;
  /// The first word of the command.
  std::string program_;
  std::unique_ptr<Process> process_;
  std::vector<Peer> peers_;
  Hello hello_;
  bool usable_ = true;
  std::optional<Trouble> trouble_;
  std::uint64_t run_ = 0;
  std::uint64_t question_ = 0;
  /// When to stop sending to a worker that does not read.
  Clock::time_point send_end_;
  std::size_t stages_ = 0;
  /// World rank -> the stage that it entered last in this run.
  std::map<int, std::size_t> entered_;
  ImageLayout layout_;
};

/// The end of a text about processes: ": <last words>" where there are any.
[[nodiscard]] std::string with_last_words(std::string text, const Process& process);

}  // namespace rankcheck::harness::worker

#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/contract.hpp"

#include "harness/backend/backend.hpp"
#include "harness/base/stop.hpp"
#include "harness/worker/process.hpp"
#include "harness/worker/protocol.hpp"
#include "harness/worker/shared_file.hpp"
#include "harness/worker/shared_memory.hpp"
#include "harness/worker/work_folder.hpp"

namespace rankcheck::harness::worker {

/// The environment variables that the options --start-timeout and --end-timeout set, and the most
/// seconds of both.
inline constexpr const char* start_timeout_variable = "RANKCHECK_START_TIMEOUT";
inline constexpr const char* end_timeout_variable = "RANKCHECK_END_TIMEOUT";
inline constexpr double timeout_max_s = 86400;

/// Returns the seconds that an environment variable holds. `otherwise` if it is not set.
[[nodiscard]] std::chrono::duration<double> seconds_of(const char* variable, double otherwise);

/// How workers are started and watched.
struct WorkerOptions {
  /// Returns the command that starts the processes of so many ranks. It may leave files in
  /// `directory`, which is created for it and removed with its content.
  std::function<Command(const std::string& directory, int ranks)> command;
  /// The number of ranks that are started, unless a case is replayed.
  int ranks = 0;
  /// Does the same on several hosts: `hosts` has the host of each world rank, and the ranks behind
  /// them are on a host that the function chooses. Null: all ranks are on one host.
  std::function<Command(const std::string& directory, int ranks, const std::vector<int>& hosts)>
      command_on_hosts = nullptr;
  /// Says why the processes cannot be started on these hosts. Empty if they can. May be null.
  std::function<std::string(const Hello& hello, const std::vector<int>& hosts)> why_no_hosts =
      nullptr;
  /// Returns the contract of an operation; null if there is no operation with this name.
  std::function<const spec::Contract*(std::string_view name)> contract_of;
  /// Whether the processes are rankcheck's own. They keep the protocol, so that a message which
  /// breaks it comes from memory that the code under test wrote: the process counts as crashed.
  bool is_own = false;
  /// The processes connect to the socket that RANKCHECK_SOCKET names. True: instead, one process
  /// may host all ranks and use its standard input and output. Its first output then is a frame.
  bool may_use_standard_io = false;
  /// Whether two worlds of these workers may be there at a time: they use nothing that only one of
  /// them can have, such as a port or the memory of a device. Then a restart that is expected is
  /// begun together with the one before it.
  bool may_start_ahead = false;
  /// For a command that passes on ranks that somebody else starts: what messages call it. If empty,
  /// messages speak of the command.
  std::string name = {};
  /// What is expected of workers that do not say hello. If empty, messages speak of the socket.
  std::string expected_hello = {};
  /// The size from which on images come in a shared file, if the worker takes them there.
  std::size_t shared_bytes_min = worker::shared_bytes_min;
  std::chrono::duration<double> start_timeout = seconds_of(start_timeout_variable, 60);
  /// A run counts as hung after this time without a whole message from any worker, and more time if
  /// its images are large: see image_bytes_per_second. A whole run may take run_timeouts_max times
  /// as long.
  std::chrono::duration<double> run_timeout{20};
  /// Time that workers get to end when they are no longer needed. Large libraries need seconds.
  std::chrono::duration<double> end_timeout = seconds_of(end_timeout_variable, 10);
  /// The clock of start_timeout and run_timeout.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  /// Checked whenever the session waits for workers. After a stop is requested, the workers are
  /// ended at once, and nothing that they do counts as a failure any more.
  StopRequest stop = {};
};

/// How workers are started. Other surroundings need other workers.
struct Surroundings {
  std::map<std::string, std::string> environment = {};
  /// The number of ranks. 0: as many as the options say.
  int ranks = 0;
  /// See Case::hosts.
  std::vector<int> hosts = {};

  friend bool operator==(const Surroundings&, const Surroundings&) = default;
};

/// The slowest rate at which images need not count as hung: a run has a second more for so many
/// bytes of its images. Small runs have none.
inline constexpr std::uint64_t image_bytes_per_second = std::uint64_t{16} << 20;

/// Number of time-outs that a whole run may take, however much progress the workers report.
inline constexpr int run_timeouts_max = 10;

/// The running worker processes of one backend, from start to end. If a run did not leave them
/// idle, they cannot be used any more: see usable().
class Session {
 public:
  /// Starts the workers. Does not wait for them: connect() comes before everything else. Throws
  /// std::runtime_error.
  Session(const WorkerOptions& options, const Surroundings& surroundings = {});
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  /// Ends all processes and removes their files.
  ~Session();

  /// Waits until every rank has said hello. The time-out of a start begins here. Throws
  /// std::runtime_error after it has ended the workers. This, why_refused() and run() throw
  /// Interrupted if a stop is requested before there is an answer.
  void connect();

  /// Ends the workers and returns what went wrong. Empty if they were idle and ended well, as they
  /// should when their connections close, or if a stop was requested. Nothing else may be called
  /// afterwards.
  std::optional<BackendFailure> close();

  /// What the workers said about themselves; `ranks` lists only the ranks of the process with rank
  /// 0.
  [[nodiscard]] const Hello& hello() const { return hello_; }
  [[nodiscard]] bool usable() const { return usable_; }
  /// Whether the workers were asked to run something. Questions do not count.
  [[nodiscard]] bool has_run() const { return run_ > 0; }

  /// Checks that the workers still run. Returns what happened to them since the last run; empty if
  /// nothing did, or if a run has reported it.
  [[nodiscard]] std::optional<BackendFailure> failure();

  /// Why the world is too small for the case; empty if it is not.
  [[nodiscard]] std::string why_ranks_refused(const Case& c) const;
  /// Asks a worker why it does not take the case; empty if it takes the case. Throws
  /// std::runtime_error if there is no answer; failure() then tells why.
  [[nodiscard]] std::string why_refused(const Case& c);
  /// Does the same with a case's JSON, which may have what only later versions know.
  [[nodiscard]] std::string why_refused(const nlohmann::ordered_json& c);
  /// The stage that each world rank entered last in the last run, as the workers said.
  [[nodiscard]] const std::map<int, std::size_t>& entered() const { return entered_; }
  /// Runs the stages on the ranks that are members of a stage.
  void run(std::span<const Case> stages, Observation& observation);

 private:
  /// The bytes of an image in the shared file. If there are none, the image is in a payload.
  struct Place {
    std::size_t offset = 0;
    std::size_t size = 0;
  };
  /// A stage that was sent to a process, and the places of the images of its members.
  struct SentStage {
    std::size_t stage = 0;
    std::vector<Place> places = {};
  };
  struct Peer {
    Connection connection;
    std::vector<int> ranks;
    /// Identifies the process even after its end, so that no other process is ever killed. May be
    /// invalid.
    Descriptor process;
    /// The number of the process, or 0.
    pid_t number = 0;
    bool pending = false;
    std::uint64_t payload_bytes_max = 0;
    bool takes_file = false;
    /// With sent inputs: the stages of this part whose results are awaited, the first one first.
    std::deque<SentStage> sent = {};
    /// The result of this part.
    Observation result;
    /// The result of one sent stage.
    Observation answer = {};
  };
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::string socket_path() const { return folder_.path() + "/socket"; }
  void connect_all(Clock::time_point deadline);
  /// Looks at the first standard output of the workers. Makes their standard input and output the
  /// connection if it begins with a frame, and passes it on if it is text.
  void judge_output(Clock::time_point deadline);
  /// Throws ProtocolError if a hello came behind other text on the standard output.
  void require_no_late_hello() const;
  /// Says what was expected of workers that have not said hello in time.
  [[nodiscard]] std::string describe_silence() const;
  void add_peer(Connection connection, bool is_standard_io, Clock::time_point deadline);
  [[nodiscard]] Frame await_hello(Peer& peer, Clock::time_point deadline);
  /// The number of ranks that have said hello.
  [[nodiscard]] std::size_t hosted() const;
  [[nodiscard]] bool is_complete() const;
  [[nodiscard]] Frame await_frame(Peer& peer, Clock::time_point deadline);
  [[nodiscard]] std::string ask_why_refused(Peer& peer, const nlohmann::ordered_json& c);
  [[nodiscard]] Peer* peer_of(int world_rank);

  /// Stages of a run that are sent together.
  struct Part {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  /// The stages from `first` on that can be sent together.
  [[nodiscard]] Part part_from(std::span<const Case> stages, std::size_t first) const;
  bool send_run(std::span<const Case> stages, Observation& observation);
  /// The message with the stage of this part for the ranks of one process. Fills `images` with the
  /// images of its members.
  [[nodiscard]] nlohmann::ordered_json stage_for(Peer& peer,
                                                 std::span<const Case> stages,
                                                 std::size_t stage,
                                                 const Observation& observation,
                                                 std::vector<Image>& images);
  /// Copies an image into the shared file, if it belongs there.
  [[nodiscard]] Place place_in_file(const Peer& peer, const Image& image);
  /// Whether the process gets a message about the stage.
  [[nodiscard]] bool has_stage(const Peer& peer, const Case& c) const;
  /// Sends the stages of this part whose inputs the workers get. Returns false if it gave the run
  /// up.
  bool send_stages(std::span<const Case> stages, Observation& observation);
  bool send_derived(std::span<const Case> stages, Observation& observation);
  void take_result(Peer& peer, const Frame& frame);
  void await_results(std::span<const Case> stages, Observation& observation);
  /// Handles the whole messages that have arrived. Sets `heard` to true if there is one. Returns
  /// false if it gave the run up.
  bool take_frames(Peer& peer, Observation& observation, bool& heard);
  void take_progress(const Peer& peer, const nlohmann::json& header);
  void merge(std::span<const Case> stages, Observation& observation);
  /// Makes a run that was refused a failed one if a process completed what another one refused.
  void judge_refusals(std::span<const Case> stages, Observation& observation);
  void note_failure(RunStatus status, std::string reason);
  void give_up(Observation& observation, RunStatus status, std::string reason);
  /// Gives the run up because the worker is dead, or did not read until send_end_.
  void give_up_sending(Peer& peer, std::span<const Case> stages, Observation& observation);
  /// What ended first if the connection to `found` has ended, and where it was.
  [[nodiscard]] std::string describe_death(Peer& found, std::span<const Case> stages);
  /// The peers whose connections have ended, except `found`.
  [[nodiscard]] std::vector<const Peer*> others_that_ended(const Peer& found) const;
  /// Reads what a peer that has ended said last.
  void read_last_progress(Peer& peer);
  [[nodiscard]] std::string describe_hang(std::span<const Case> stages,
                                          std::chrono::duration<double> limit) const;
  /// " of 0 elements" if the stage has none; otherwise empty.
  [[nodiscard]] std::string describe_emptiness(std::span<const Case> stages,
                                               std::size_t stage) const;
  [[nodiscard]] std::string where(int rank, std::span<const Case> stages) const;
  void kill_workers();
  /// Ends the processes, and removes the shared memory that they leave when they end badly.
  void end_process();
  /// Throws Interrupted if a stop was requested.
  void require_no_stop() const;
  /// Waits until the processes have ended, but only briefly after a stop is requested. Returns
  /// false if they have not ended.
  bool wait_for_end(std::chrono::duration<double> patience);
  /// The time that processes get to end after they are told to.
  [[nodiscard]] std::chrono::milliseconds patience_of_stop() const;

  const WorkerOptions& options_;
  WorkFolder folder_;
  /// Null if the workers take no images in files.
  std::unique_ptr<SharedFile> file_;
  SharedMemory shared_memory_;
  /// The end of the images in the file.
  std::size_t file_end_ = 0;
  Image scratch_;
  /// What messages call the workers: WorkerOptions::name, or else the first word of the command.
  std::string program_;
  std::unique_ptr<Process> process_;
  /// The socket to which the workers connect. Invalid after connect().
  Descriptor listener_;
  /// The workers' standard input and output until it is known what they are used for.
  Descriptor standard_io_;
  std::vector<Peer> peers_;
  Hello hello_;
  bool usable_ = true;
  std::optional<BackendFailure> failure_;
  std::uint64_t run_ = 0;
  std::uint64_t question_ = 0;
  /// The time-out of this part.
  Clock::duration patience_{};
  /// When to stop sending to a worker that does not read.
  Clock::time_point send_end_;
  Part part_;
  /// The stage that each world rank entered last in this run.
  std::map<int, std::size_t> entered_;
  ImageLayout layout_;
};

/// Appends ": <last words>" to a text about processes, if there are any last words.
[[nodiscard]] std::string with_last_words(std::string text, const Process& process);

}  // namespace rankcheck::harness::worker

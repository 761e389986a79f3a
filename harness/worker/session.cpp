#include "harness/worker/session.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

#include "harness/image.hpp"
#include "harness/worker/local_socket.hpp"

namespace rankcheck::harness::worker {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds end_patience{3};
/// Time that the other ranks get after one of them has failed.
constexpr std::chrono::seconds failure_patience{2};
/// Time that processes get to end after a stop is requested.
constexpr std::chrono::milliseconds stop_patience{500};
/// Maximum time between two checks for a stop.
constexpr std::chrono::milliseconds stop_tick{100};
constexpr int tick_ms = 20;

/// The other end of a connection is closed.
class Gone : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// No message came in time.
class Silent : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Clock::duration whole(std::chrono::duration<double> time) {
  return std::chrono::duration_cast<Clock::duration>(time);
}

int group_position(const std::vector<int>& members, int world_rank) {
  const auto found = std::find(members.begin(), members.end(), world_rank);
  return found == members.end() ? -1 : static_cast<int>(found - members.begin());
}

std::string title(const std::vector<int>& ranks) {
  return ranks.size() == 1 ? fmt::format("rank {}", ranks.front())
                           : fmt::format("ranks {}", fmt::join(ranks, ","));
}

std::string describe_breach(const std::vector<int>& ranks, const std::exception& error) {
  return fmt::format("{}: breaks the worker protocol: {}", title(ranks), error.what());
}

}  // namespace

std::string with_last_words(std::string text, const Process& process) {
  const std::string words = process.last_words();
  if (!words.empty()) text += ": " + words;
  return text;
}

Session::Session(const WorkerOptions& options,
                 const std::map<std::string, std::string>& environment)
    : options_(options) {
  // If this constructor throws, ~Session does not run; Cleanup then kills the workers.
  struct Cleanup {
    Session& session;
    bool armed = true;
    ~Cleanup() {
      if (armed) session.kill_workers();
    }
  } cleanup{*this};
  Command command = options.command(folder_.path());
  program_ = command.arguments.front();
  command.environment.insert(environment.begin(), environment.end());
  command.environment["TMPDIR"] = folder_.path();
  const auto deadline = Clock::now() + whole(options.start_timeout);
  if (options.over_standard_io) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
      throw std::runtime_error(fmt::format("cannot make a connection: {}", std::strerror(errno)));
    }
    Descriptor theirs(ends[1]);
    Connection ours(ends[0], ends[0]);
    process_ = std::make_unique<Process>(command,
                                         StandardIo{.input = theirs.get(), .output = theirs.get()});
    // Closed here, because otherwise the connection would stay open after the worker's end.
    theirs.reset();
    add_peer(std::move(ours), deadline);
    if (!is_complete())
      throw std::runtime_error(program_ + " does not host every rank of its world");
  } else {
    const std::string path = folder_.path() + "/socket";
    const Descriptor listener = listen_at(path);
    command.environment[socket_variable] = path;
    process_ = std::make_unique<Process>(command, StandardIo{});
    connect_all(listener.get(), deadline);
    ::unlink(path.c_str());
  }
  cleanup.armed = false;
}

Session::~Session() {
  static_cast<void>(close());
}

std::optional<BackendFailure> Session::close() {
  if (!process_) return std::nullopt;
  std::optional<BackendFailure> found = failure();
  const bool idle = usable_;
  if (!idle) kill_workers();
  peers_.clear();
  if (idle && !wait_for_end(options_.end_timeout)) {
    const std::string text = fmt::format(
        "after the last run: {} did not end within {} s", program_, options_.end_timeout.count());
    found = {.status = RunStatus::hung, .reason = with_last_words(text, *process_)};
  } else if (idle && !process_->succeeded()) {
    const std::string text = fmt::format("after the last run: {} {}", program_, process_->fate());
    found = {.status = RunStatus::crashed, .reason = with_last_words(text, *process_)};
  }
  process_->stop(patience_of_stop());
  process_.reset();
  if (options_.stop.is_made()) found.reset();
  return found;
}

void Session::connect_all(int listener, Clock::time_point deadline) {
  while (!is_complete()) {
    require_no_stop();
    if (Clock::now() >= deadline) {
      throw std::runtime_error(with_last_words(
          fmt::format("{}: only {} worker processes connected in time", program_, peers_.size()),
          *process_));
    }
    process_->drain();
    if (process_->ended()) {
      static_cast<void>(process_->wait_until(deadline));
      throw Gone(with_last_words(
          fmt::format("{} {} before every rank had said hello", program_, process_->fate()),
          *process_));
    }
    if (!is_ready(listener, tick_ms)) continue;
    const int accepted = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0) continue;
    if (peers_.size() >= world_ranks_max) throw std::runtime_error("too many worker processes");
    add_peer(Connection(accepted, accepted), deadline);
  }
  // Workers connect in any order. Messages name them in the order of their ranks.
  std::sort(
      peers_.begin(), peers_.end(), [](const Peer& a, const Peer& b) { return a.ranks < b.ranks; });
}

void Session::add_peer(Connection connection, Clock::time_point deadline) {
  limit_sending(connection.descriptor(), stop_tick);
  connection.wait_while([this] { return Clock::now() < send_end_ && !options_.stop.is_made(); });
  Peer peer{.connection = std::move(connection), .ranks = {}, .process = {}, .result = {}};
  if (!options_.over_standard_io) peer.process = process_behind(peer.connection.descriptor());
  Hello hello = hello_from_json(await_hello(peer, deadline).header);
  peer.ranks = hello.ranks;
  for (const int rank : peer.ranks) {
    if (peer_of(rank) == nullptr) continue;
    throw std::runtime_error(fmt::format("two worker processes host rank {}", rank));
  }
  if (!peers_.empty() && hello.world != hello_.world) {
    throw std::runtime_error("the workers report different sizes of their world");
  }
  // The hello of the process that hosts rank 0 is used for all.
  if (peers_.empty() || std::count(hello.ranks.begin(), hello.ranks.end(), 0) > 0) {
    hello_ = std::move(hello);
  }
  peers_.push_back(std::move(peer));
}

Frame Session::await_hello(Peer& peer, Clock::time_point deadline) {
  try {
    return await_frame(peer, deadline);
  } catch (const Silent&) {
    throw Silent(with_last_words(
        fmt::format("{}: no hello within {} s: expected a frame of the worker protocol "
                    "(harness/worker/PROTOCOL.md) on its {}",
                    program_,
                    options_.start_timeout.count(),
                    options_.over_standard_io ? "standard output" : "connection"),
        *process_));
  }
}

bool Session::is_complete() const {
  std::size_t hosted = 0;
  for (const Peer& peer : peers_) hosted += peer.ranks.size();
  return !peers_.empty() && hosted == spec::to_size(hello_.world);
}

Frame Session::await_frame(Peer& peer, Clock::time_point deadline) {
  while (true) {
    if (auto frame = peer.connection.next()) return *frame;
    require_no_stop();
    process_->drain();
    // In this order, so that data that a worker sent before its end is still read.
    const bool ended = process_->ended();
    const bool is_there = is_ready(peer.connection.descriptor(), ended ? 0 : tick_ms);
    const bool is_filled = is_there && peer.connection.fill();
    if (!is_filled && (is_there || ended)) {
      static_cast<void>(wait_for_end(std::chrono::seconds(1)));
      throw Gone(with_last_words(
          fmt::format("a worker closed its connection; {} {}", program_, process_->fate()),
          *process_));
    }
    if (Clock::now() >= deadline) {
      throw Silent(with_last_words(program_ + ": no answer from a worker in time", *process_));
    }
  }
}

Session::Peer* Session::peer_of(int world_rank) {
  for (Peer& peer : peers_) {
    if (std::count(peer.ranks.begin(), peer.ranks.end(), world_rank) > 0) return &peer;
  }
  return nullptr;
}

std::string Session::why_refused(const Case& c) {
  if (c.ranks > hello_.traits.ranks_max) {
    return fmt::format("ranks: expected at most {} here, got {}", hello_.traits.ranks_max, c.ranks);
  }
  Peer& peer = *peer_of(0);
  entered_.clear();
  try {
    return ask_why_refused(peer, c);
  } catch (const Gone&) {
    note_trouble(RunStatus::crashed, "between runs " + describe_death(peer, {}));
    require_no_stop();
    throw;
  } catch (const Silent& error) {
    note_trouble(RunStatus::hung, error.what());
    throw;
  } catch (const std::exception& error) {
    note_trouble(RunStatus::errored, describe_breach(peer.ranks, error));
    throw;
  }
}

std::string Session::ask_why_refused(Peer& peer, const Case& c) {
  const auto deadline = Clock::now() + whole(options_.run_timeout);
  send_end_ = deadline;
  if (!peer.connection.send({{"refuses", ++question_}, {"case", to_json(c)}})) {
    throw Gone("the worker has ended");
  }
  const Frame answer = await_frame(peer, deadline);
  if (answer.header.at("refusal").get<std::uint64_t>() != question_) {
    throw ProtocolError("a refusal of another case");
  }
  return answer.header.at("reason").get<std::string>();
}

std::optional<BackendFailure> Session::failure() {
  for (Peer& peer : peers_) {
    if (!usable_) break;
    if (!is_ready(peer.connection.descriptor(), 0) || peer.connection.fill()) continue;
    entered_.clear();
    note_trouble(RunStatus::crashed, "between runs " + describe_death(peer, {}));
  }
  return std::exchange(trouble_, std::nullopt);
}

void Session::note_trouble(RunStatus status, std::string reason) {
  usable_ = false;
  trouble_ = BackendFailure{.status = status, .reason = std::move(reason)};
}

void Session::run(std::span<const Case> stages, Observation& observation) {
  observation.clear();
  observation.path.assign(stages.size(), {});
  ++run_;
  stages_ = stages.size();
  entered_.clear();
  if (!send_run(stages, observation)) return;
  await_results(stages, observation);
  if (usable_) merge(stages, observation);
}

bool Session::send_run(std::span<const Case> stages, Observation& observation) {
  for (Peer& peer : peers_) {
    peer.pending = hello_.everyone;
    peer.payload_bytes_max = 0;
  }
  nlohmann::ordered_json header{{"run", run_}, {"stages", nlohmann::ordered_json::array()}};
  for (const Case& c : stages) {
    header["stages"].push_back(to_json(c));
    const spec::Contract* contract = options_.contract_of(c.operation);
    if (contract == nullptr || c.ranks > hello_.traits.ranks_max) {
      observation.status = RunStatus::refused;
      observation.reason = contract == nullptr ? "no operation " + c.operation : why_refused(c);
      return false;
    }
    const std::vector<int> group = members(c);
    for (std::size_t g = 0; g < group.size(); ++g) {
      Peer& peer = *peer_of(group[g]);
      lay_out(*contract, c, static_cast<int>(g), hello_.traits.result_place, layout_);
      peer.pending = true;
      peer.payload_bytes_max += static_cast<std::uint64_t>(layout_.size);
    }
  }
  send_end_ = Clock::now() + whole(options_.run_timeout);
  for (Peer& peer : peers_) {
    if (!peer.pending || peer.connection.send(header)) continue;
    give_up(observation, RunStatus::crashed, describe_death(peer, stages));
    return false;
  }
  return true;
}

void Session::await_results(std::span<const Case> stages, Observation& observation) {
  const auto patience = whole(options_.run_timeout);
  const auto end = Clock::now() + run_timeouts_max * patience;
  auto deadline = Clock::now() + patience;
  bool failed = false;
  std::vector<pollfd> entries;
  while (std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.pending; })) {
    require_no_stop();
    entries.assign(1, {.fd = process_->error_descriptor(), .events = POLLIN, .revents = 0});
    for (const Peer& peer : peers_) {
      const int descriptor = peer.pending ? peer.connection.descriptor() : -1;
      entries.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    const auto wait = std::clamp(left, std::chrono::milliseconds(0), stop_tick);
    const int ready = ::poll(entries.data(), entries.size(), static_cast<int>(wait.count()));
    if (entries[0].revents != 0) process_->drain();
    bool heard = false;
    for (std::size_t i = 0; ready > 0 && i < peers_.size(); ++i) {
      if (entries[i + 1].revents == 0) continue;
      Peer& peer = peers_[i];
      if (!peer.connection.fill()) {
        return give_up(observation, RunStatus::crashed, describe_death(peer, stages));
      }
      if (!take_frames(peer, observation, heard)) return;
      failed = failed || (!peer.pending && (peer.result.status == RunStatus::failed ||
                                            peer.result.status == RunStatus::hung));
    }
    if (heard)
      deadline = Clock::now() +
                 (failed ? std::min<Clock::duration>(patience, failure_patience) : patience);
    const auto now = Clock::now();
    if (now < std::min(deadline, end)) continue;
    if (failed) {
      usable_ = false;
      return merge(stages, observation);
    }
    const auto limit = (now < end ? 1 : run_timeouts_max) * options_.run_timeout;
    return give_up(observation, RunStatus::hung, describe_hang(stages, limit));
  }
}

bool Session::take_frames(Peer& peer, Observation& observation, bool& heard) {
  try {
    while (const auto frame = peer.connection.next(peer.payload_bytes_max)) {
      const nlohmann::json& header = frame->header;
      heard = true;
      if (!peer.pending) throw ProtocolError("a frame after the result");
      if (header.contains("progress")) {
        take_progress(peer, header);
        continue;
      }
      if (!header.contains("result") || header["result"].get<std::uint64_t>() != run_) {
        throw ProtocolError("expected the result of run " + std::to_string(run_));
      }
      read_result(*frame, peer.result);
      peer.pending = false;
    }
    return true;
  } catch (const std::exception& error) {
    give_up(observation, RunStatus::errored, describe_breach(peer.ranks, error));
    return false;
  }
}

void Session::take_progress(const Peer& peer, const nlohmann::json& header) {
  const Progress progress = progress_from_json(header);
  if (progress.run != run_) {
    throw ProtocolError(
        fmt::format("progress of run {}: expected that of run {}", progress.run, run_));
  }
  if (std::count(peer.ranks.begin(), peer.ranks.end(), progress.rank) == 0) {
    throw ProtocolError(fmt::format("progress of rank {}: expected one that it hosts ({})",
                                    progress.rank,
                                    fmt::join(peer.ranks, ",")));
  }
  if (progress.stage >= stages_) {
    throw ProtocolError(
        fmt::format("progress in stage {}: expected at most {}", progress.stage, stages_ - 1));
  }
  entered_[static_cast<int>(progress.rank)] = progress.stage;
}

void Session::merge(std::span<const Case> stages, Observation& observation) {
  const Peer* culprit = nullptr;
  for (const Peer& peer : peers_) {
    const RunStatus status = peer.result.status;
    const bool was_asked = hello_.everyone || peer.payload_bytes_max > 0;
    if (!was_asked || peer.pending || status == RunStatus::completed) continue;
    // A worker that reports that it hangs is of no more use. It may hang because another one
    // failed, so another failure takes precedence.
    if (status == RunStatus::hung) usable_ = false;
    const bool hangs = culprit != nullptr && culprit->result.status == RunStatus::hung;
    if (culprit == nullptr || (hangs && status != RunStatus::hung)) culprit = &peer;
  }
  if (culprit != nullptr) {
    observation.status = culprit->result.status;
    observation.reason = fmt::format("{}: {}", title(culprit->ranks), culprit->result.reason);
    return;
  }
  observation.stages.resize(stages.size());
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const std::vector<int> group = members(stages[k]);
    StageOutcome& stage = observation.stages[k];
    stage.images.resize(group.size());
    stage.stamps.resize(group.size());
    const spec::Contract& contract = *options_.contract_of(stages[k].operation);
    for (Peer& peer : peers_) {
      std::size_t next = 0;
      for (std::size_t g = 0; g < group.size(); ++g) {
        if (std::count(peer.ranks.begin(), peer.ranks.end(), group[g]) == 0) continue;
        lay_out(contract, stages[k], static_cast<int>(g), hello_.traits.result_place, layout_);
        const bool fits = k < peer.result.stages.size() &&
                          next < peer.result.stages[k].images.size() &&
                          peer.result.stages[k].images[next].size() == spec::to_size(layout_.size);
        if (!fits) {
          return give_up(
              observation,
              RunStatus::errored,
              fmt::format("{}: the image of rank {} after stage {} is missing or has the "
                          "wrong size",
                          title(peer.ranks),
                          group[g],
                          k));
        }
        std::swap(stage.images[g], peer.result.stages[k].images[next]);
        stage.stamps[g] = peer.result.stages[k].stamps[next++];
        const std::string path = k < peer.result.path.size() ? peer.result.path[k] : "";
        if (observation.path[k].empty()) observation.path[k] = path;
        if (observation.path[k] == path) continue;
        observation.status = RunStatus::failed;
        observation.reason = fmt::format("stage {}: rank {} took the path {}, others {}",
                                         k,
                                         group[g],
                                         path,
                                         observation.path[k]);
      }
      observation.fault_fired |= peer.result.fault_fired;
      observation.fault_changed |= peer.result.fault_changed;
    }
  }
}

void Session::give_up(Observation& observation, RunStatus status, std::string reason) {
  usable_ = false;
  observation.status = status;
  observation.reason = std::move(reason);
  // The signal that requests the stop may have reached the workers, too.
  require_no_stop();
}

std::string Session::where(int rank, std::span<const Case> stages) const {
  const auto found = entered_.find(rank);
  if (found == entered_.end()) return fmt::format("rank {} entered no stage", rank);
  const std::size_t k = found->second;
  const std::string operation = k < stages.size() ? stages[k].operation : "?";
  return fmt::format("rank {} entered stage {} ({})", rank, k, operation);
}

std::string Session::describe_death(const Peer& peer, std::span<const Case> stages) {
  static_cast<void>(wait_for_end(end_patience));
  std::string text = title(peer.ranks) + " died";
  if (peer.ranks.size() == 1 && entered_.contains(peer.ranks[0])) {
    text += "; " + where(peer.ranks[0], stages);
  }
  return with_last_words(text + "; the worker " + process_->fate(), *process_);
}

std::string Session::describe_hang(std::span<const Case> stages,
                                   std::chrono::duration<double> limit) const {
  std::vector<std::string> places;
  for (const Peer& peer : peers_) {
    if (!peer.pending) continue;
    for (const int rank : peer.ranks) {
      const bool takes_part = std::any_of(stages.begin(), stages.end(), [&](const Case& c) {
        return group_position(members(c), rank) >= 0;
      });
      if (takes_part) places.push_back(where(rank, stages));
    }
  }
  return fmt::format("no {} within {} s: {}",
                     limit > options_.run_timeout ? "result" : "answer",
                     limit.count(),
                     fmt::join(places, ", "));
}

void Session::kill_workers() {
  for (const Peer& peer : peers_) {
    if (peer.process.get() < 0) continue;
    ::syscall(SYS_pidfd_send_signal, peer.process.get(), SIGKILL, nullptr, 0U);
  }
}

void Session::require_no_stop() const {
  if (options_.stop.is_made()) throw Interrupted();
}

bool Session::wait_for_end(std::chrono::duration<double> patience) {
  auto end = Clock::now() + whole(patience);
  bool is_stopped = false;
  while (!process_->wait_until(std::min(end, Clock::now() + stop_tick))) {
    if (Clock::now() >= end) return false;
    if (!is_stopped && options_.stop.is_made()) {
      is_stopped = true;
      end = std::min<Clock::time_point>(end, Clock::now() + stop_patience);
    }
  }
  return true;
}

std::chrono::milliseconds Session::patience_of_stop() const {
  return options_.stop.is_made() ? stop_patience : end_patience;
}

}  // namespace rankcheck::harness::worker

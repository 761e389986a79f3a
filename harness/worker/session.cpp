#include "harness/worker/session.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "reference/spec/to_size.hpp"

#include "harness/case/family.hpp"
#include "harness/worker/local_socket.hpp"
#include "harness/worker/session_parts.hpp"

namespace rankcheck::harness::worker {

namespace {

/// Time that processes get to end after a stop is requested.
constexpr std::chrono::milliseconds stop_patience{500};
constexpr int tick_ms = 20;
/// How the frame of a hello begins, from the last byte of its length on.
constexpr std::string_view hello_beginning{"\0{\"hello\"", 9};

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

/// Whether the call has buffers, and no member has an element to read or to write.
bool has_no_elements(const spec::Contract& contract, const Case& c) {
  if (!contract.has_buffers) return false;
  std::int64_t elements = 0;
  for (int rank = 0; rank < group_size(c); ++rank) {
    spec::Extents extents;
    family_of(contract).fill_extents(contract, c, rank, extents);
    for (const spec::Block& each : extents.send) elements += each.count;
    for (const spec::Block& each : extents.recv) elements += each.count;
  }
  return elements == 0;
}

}  // namespace

std::chrono::duration<double> seconds_of(const char* variable, double otherwise) {
  const char* const value = std::getenv(variable);
  return std::chrono::duration<double>(value == nullptr ? otherwise : std::strtod(value, nullptr));
}

std::string with_last_words(std::string text, const Process& process) {
  const std::string words = process.last_words();
  if (!words.empty()) text += ": " + words;
  return text;
}

Session::Session(const WorkerOptions& options, const Surroundings& surroundings)
    : options_(options) {
  const int ranks = surroundings.ranks > 0 ? surroundings.ranks : options.ranks;
  const std::vector<int>& hosts = surroundings.hosts;
  Command command = hosts.empty() ? options.command(folder_.path(), ranks)
                                  : options.command_on_hosts(folder_.path(), ranks, hosts);
  program_ = options.name.empty() ? command.arguments.front() : options.name;
  for (const auto& [name, value] : surroundings.environment) command.environment[name] = value;
  command.environment["TMPDIR"] = folder_.path();
  listener_ = listen_at(socket_path());
  command.environment[socket_variable] = socket_path();
  // Ranks behind a relay came over TCP.
  if (options.name.empty()) file_ = SharedFile::make();
  if (file_ != nullptr) command.environment[file_variable] = file_->path();
  if (options.may_use_standard_io) {
    // `theirs` is closed here after the start, because otherwise the connection would stay open
    // after the worker's end.
    auto [ours, theirs] = connected_sockets();
    standard_io_ = std::move(ours);
    process_ = std::make_unique<Process>(command,
                                         StandardIo{.input = theirs.get(), .output = theirs.get()});
  } else {
    process_ = std::make_unique<Process>(command, StandardIo{.input = command.input});
  }
}

void Session::connect() {
  try {
    connect_all(options_.now() + whole(options_.start_timeout));
  } catch (...) {
    kill_workers();
    end_process();
    throw;
  }
  listener_.reset();
  ::unlink(socket_path().c_str());
  if (standard_io_.get() >= 0) process_->pass_on(std::move(standard_io_));
}

Session::~Session() {
  static_cast<void>(close());
}

std::optional<BackendFailure> Session::close() {
  if (!process_) return std::nullopt;
  const bool is_connected = listener_.get() < 0;
  if (!is_connected) {
    // Nobody waits for these workers, so it does not matter how they end.
    end_process();
    return std::nullopt;
  }
  std::optional<BackendFailure> found = failure();
  const bool idle = usable_;
  if (!idle) {
    // Before a process that hangs is killed, it may print where.
    if (process_->shows_error_output()) process_->stop(patience_of_stop());
    kill_workers();
  }
  peers_.clear();
  if (idle && !wait_for_end(options_.end_timeout)) {
    const std::string text =
        fmt::format("after the last run: {} did not end within {} s (--end-timeout)",
                    program_,
                    options_.end_timeout.count());
    found = {
        .status = RunStatus::hung, .reason = with_last_words(text, *process_), .is_slow_end = true};
  } else if (idle && !process_->succeeded()) {
    const std::string text = fmt::format("after the last run: {} {}", program_, process_->fate());
    found = {.status = RunStatus::crashed, .reason = with_last_words(text, *process_)};
  }
  end_process();
  if (options_.stop.is_made()) found.reset();
  return found;
}

void Session::connect_all(Clock::time_point deadline) {
  while (!is_complete()) {
    require_no_stop();
    if (options_.now() >= deadline) {
      throw std::runtime_error(with_last_words(describe_silence(), *process_));
    }
    process_->drain();
    require_no_late_hello();
    const bool ended = process_->ended();
    if (standard_io_.get() >= 0) judge_output(deadline);
    if (is_complete()) break;
    if (ended) {
      // What it wrote last.
      process_->drain();
      throw Gone(with_last_words(
          fmt::format("{} {} before every rank had said hello", program_, process_->fate()),
          *process_));
    }
    if (!is_ready(listener_.get(), tick_ms)) continue;
    const int accepted = ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC);
    if (accepted < 0) continue;
    if (peers_.size() >= world_ranks_max) throw std::runtime_error("too many worker processes");
    add_peer(Connection(accepted, accepted), false, deadline);
  }
  // Workers connect in any order. Messages name them in the order of their ranks.
  std::ranges::sort(peers_, [](const Peer& a, const Peer& b) { return a.ranks < b.ranks; });
}

void Session::judge_output(Clock::time_point deadline) {
  std::array<unsigned char, 4> first{};
  const ssize_t got =
      ::recv(standard_io_.get(), first.data(), first.size(), MSG_PEEK | MSG_DONTWAIT);
  if (got < 4 && !(got > 0 && process_->ended())) return;
  const std::size_t length =
      first[0] | first[1] << 8U | first[2] << 16U | std::size_t{first[3]} << 24U;
  if (got == 4 && length <= header_bytes_max && peers_.empty()) {
    const int both = standard_io_.release();
    add_peer(Connection(both, both), true, deadline);
    if (is_complete()) return;
    throw ProtocolError(fmt::format(
        "ranks: got {}, expected the {} ranks of the world from one process that uses its "
        "standard output",
        hosted(),
        hello_.world));
  }
  process_->pass_on(std::move(standard_io_));
}

void Session::require_no_late_hello() const {
  const bool has_passed_on = options_.may_use_standard_io && standard_io_.get() < 0;
  if (!has_passed_on || !peers_.empty() || !process_->has_printed(hello_beginning)) return;
  throw ProtocolError(
      "got text before the hello on the standard output, expected the hello as the first output: a "
      "worker whose messages are its standard output must print nothing else there");
}

void Session::add_peer(Connection connection, bool is_standard_io, Clock::time_point deadline) {
  limit_sending(connection.descriptor(), stop_tick);
  connection.wait_while([this] { return options_.now() < send_end_ && !options_.stop.is_made(); });
  Peer peer{
      .connection = std::move(connection), .ranks = {}, .process = {}, .number = 0, .result = {}};
  if (!is_standard_io) {
    peer.process = process_behind(peer.connection.descriptor());
    peer.number = number_behind(peer.connection.descriptor());
  }
  Hello hello = hello_from_json(await_hello(peer, deadline).header);
  shared_memory_.note(peer.number);
  peer.ranks = hello.ranks;
  peer.takes_file = hello.takes_file;
  for (const int rank : peer.ranks) {
    if (peer_of(rank) == nullptr) continue;
    throw ProtocolError(fmt::format("ranks: two processes host rank {}", rank));
  }
  if (!peers_.empty() && hello.world != hello_.world) {
    throw ProtocolError(fmt::format("world: {} for {}, and {} for {}; expected the same number",
                                    hello.world,
                                    title(peer.ranks),
                                    hello_.world,
                                    title(peers_.front().ranks)));
  }
  // The hello of the process that hosts rank 0 is used for all.
  if (peers_.empty() || std::ranges::count(hello.ranks, 0) > 0) {
    hello_ = std::move(hello);
  }
  peers_.push_back(std::move(peer));
}

Frame Session::await_hello(Peer& peer, Clock::time_point deadline) {
  try {
    return await_frame(peer, deadline);
  } catch (const Silent&) {
    throw Silent(with_last_words(describe_silence(), *process_));
  }
}

std::string Session::describe_silence() const {
  const std::string expected =
      options_.expected_hello.empty()
          ? fmt::format(
                "a frame of the worker protocol (harness/worker/PROTOCOL.md) on a "
                "connection to {}{}",
                socket_variable,
                options_.may_use_standard_io ? ", or as the first output" : "")
          : options_.expected_hello;
  return fmt::format(
      "{}: still starting after {} s, {} said hello: raise --start-timeout; expected {}",
      program_,
      options_.start_timeout.count(),
      peers_.empty() ? "no rank has"
                     : fmt::format("only {} of {} ranks have", hosted(), hello_.world),
      expected);
}

std::string Session::describe_emptiness(std::span<const Case> stages, std::size_t stage) const {
  if (stage >= stages.size()) return {};
  const spec::Contract* const contract = options_.contract_of(stages[stage].operation);
  const bool is_empty = contract != nullptr && has_no_elements(*contract, stages[stage]);
  return is_empty ? " of 0 elements" : "";
}

std::size_t Session::hosted() const {
  std::size_t hosted = 0;
  for (const Peer& peer : peers_) hosted += peer.ranks.size();
  return hosted;
}

bool Session::is_complete() const {
  return !peers_.empty() && hosted() == spec::to_size(hello_.world);
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
    if (options_.now() >= deadline) {
      throw Silent(with_last_words(program_ + ": no answer from a worker in time", *process_));
    }
  }
}

Session::Peer* Session::peer_of(int world_rank) {
  for (Peer& peer : peers_) {
    if (std::ranges::count(peer.ranks, world_rank) > 0) return &peer;
  }
  return nullptr;
}

std::string Session::why_ranks_refused(const Case& c) const {
  if (c.ranks <= hello_.traits.ranks_max) return {};
  return fmt::format("ranks: got {1}, expected at most {0} here", hello_.traits.ranks_max, c.ranks);
}

std::string Session::why_refused(const Case& c) {
  if (std::string why = why_ranks_refused(c); !why.empty()) return why;
  return why_refused(to_json(c));
}

std::string Session::why_refused(const nlohmann::ordered_json& c) {
  Peer& peer = *peer_of(0);
  entered_.clear();
  try {
    return ask_why_refused(peer, c);
  } catch (const Gone&) {
    note_failure(RunStatus::crashed, "between runs " + describe_death(peer, {}));
    require_no_stop();
    throw;
  } catch (const Silent& error) {
    note_failure(RunStatus::hung, error.what());
    throw;
  } catch (const std::exception& error) {
    note_failure(status_of_breach(options_), describe_breach(peer.ranks, error));
    throw;
  }
}

std::string Session::ask_why_refused(Peer& peer, const nlohmann::ordered_json& c) {
  const auto deadline = options_.now() + whole(options_.run_timeout);
  send_end_ = deadline;
  if (!peer.connection.send({{"refuses", ++question_}, {"case", c}})) {
    throw Gone("the worker has ended");
  }
  const Frame answer = await_frame(peer, deadline);
  if (!answer.header.contains("refusal")) {
    throw ProtocolError(
        fmt::format("got {1:.80}, expected the refusal {0}", question_, answer.header.dump()));
  }
  if (answer.header["refusal"] != question_) {
    throw ProtocolError(fmt::format("refusal {:.40}: expected the answer to question {}",
                                    answer.header["refusal"].dump(),
                                    question_));
  }
  const auto reason = answer.header.find("reason");
  if (reason == answer.header.end() || !reason->is_string()) {
    throw ProtocolError("refusal: reason: expected a string, which is empty if the case is taken");
  }
  return reason->get<std::string>();
}

std::optional<BackendFailure> Session::failure() {
  for (Peer& peer : peers_) {
    if (!usable_) break;
    if (!is_ready(peer.connection.descriptor(), 0) || peer.connection.fill()) continue;
    entered_.clear();
    note_failure(RunStatus::crashed, "between runs " + describe_death(peer, {}));
  }
  return std::exchange(failure_, std::nullopt);
}

void Session::note_failure(RunStatus status, std::string reason) {
  usable_ = false;
  failure_ = BackendFailure{.status = status, .reason = std::move(reason)};
}

void Session::kill_workers() {
  for (const Peer& peer : peers_) {
    if (peer.process.get() < 0) continue;
    shared_memory_.note(peer.number);
    ::syscall(SYS_pidfd_send_signal, peer.process.get(), SIGKILL, nullptr, 0U);
  }
}

void Session::end_process() {
  process_->stop(patience_of_stop());
  if (!process_->succeeded()) shared_memory_.remove();
  process_.reset();
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

#include "tests/gpu/device/nccl/stand_in_comm.hpp"

#include <algorithm>
#include <climits>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/gpu/device/planted.hpp"

namespace rankcheck::stand_in {

namespace {

std::shared_ptr<Message> make_message(const Signature& signature, const void* payload) {
  auto message = std::make_shared<Message>();
  message->signature = signature;
  message->bytes.resize(sizeof(Signature) + signature.bytes);
  if (payload == nullptr) return message;
  std::memcpy(message->bytes.data(), &signature, sizeof(Signature));
  if (signature.bytes > 0) std::memcpy(message->payload(), payload, signature.bytes);
  return message;
}

/// The address of a bell. It is a name that the system has chosen, and no file.
sockaddr_un address_of(unsigned bell) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "%05x", bell);
  return address;
}

/// The size of an address: its family, a zero and five digits.
constexpr socklen_t address_bytes = sizeof(sa_family_t) + 6;

/// Waits until all ranks have arrived. std::atomic::wait() would not be woken by another process.
void await_all(const ncclComm& comm) {
  std::atomic<int>& arrived = comm.counts->arrived;
  for (int seen = arrived; seen < comm.ranks; seen = arrived) {
    ::syscall(SYS_futex, &arrived, FUTEX_WAIT, seen, nullptr, nullptr, 0);
  }
}

/// Moves bytes of the queue's first message into the ring. Returns whether any moved.
bool push(Ring& ring, std::deque<std::shared_ptr<Message>>& queue) {
  if (queue.empty()) return false;
  Message& message = *queue.front();
  const std::uint64_t written = ring.written;
  const std::size_t room = Ring::size - static_cast<std::size_t>(written - ring.read);
  const std::size_t bytes = std::min(room, message.bytes.size() - message.done);
  for (std::size_t i = 0; i < bytes; ++i) {
    ring.bytes[(written + i) % Ring::size] = message.bytes[message.done + i];
  }
  message.done += bytes;
  ring.written = written + bytes;
  if (message.is_complete()) queue.pop_front();
  return bytes > 0;
}

/// Moves bytes from the ring into the queue's first message. Returns whether any moved. Sets
/// async_error if the sender's signature differs.
bool pull(ncclComm& comm, Ring& ring, std::deque<std::shared_ptr<Message>>& queue) {
  if (queue.empty()) return false;
  Message& message = *queue.front();
  const std::uint64_t read = ring.read;
  const auto there = static_cast<std::size_t>(ring.written - read);
  const std::size_t end =
      message.done < sizeof(Signature) ? sizeof(Signature) : message.bytes.size();
  const std::size_t bytes = std::min(there, end - message.done);
  for (std::size_t i = 0; i < bytes; ++i) {
    message.bytes[message.done + i] = ring.bytes[(read + i) % Ring::size];
  }
  message.done += bytes;
  ring.read = read + bytes;
  if (bytes > 0 && message.done == sizeof(Signature)) {
    Signature theirs;
    std::memcpy(&theirs, message.bytes.data(), sizeof(Signature));
    if (!(theirs == message.signature)) comm.async_error = ncclInvalidUsage;
  }
  if (message.is_complete()) queue.pop_front();
  return bytes > 0;
}

bool is_idle(const ncclComm& comm) {
  const auto is_empty = [](const auto& queue) { return queue.empty(); };
  return std::all_of(comm.outgoing.begin(), comm.outgoing.end(), is_empty) &&
         std::all_of(comm.incoming.begin(), comm.incoming.end(), is_empty);
}

bool progress(ncclComm& comm) {
  bool moved = false;
  for (int peer = 0; peer < comm.ranks; ++peer) {
    const auto p = static_cast<std::size_t>(peer);
    bool here = push(comm.ring(comm.rank, peer), comm.outgoing[p]);
    if (comm.async_error == ncclSuccess) {
      here = pull(comm, comm.ring(peer, comm.rank), comm.incoming[p]) || here;
    }
    const unsigned bell = comm.bells[p];
    if (here && bell != Bell::get().number()) Bell::get().ring(bell);
    moved = moved || here;
  }
  return moved;
}

/// A job that has been handed over. It begins when its streams have reached it, and when no earlier
/// job uses its communicators.
class RunningJob {
 public:
  explicit RunningJob(Job job) : job_(std::move(job)) {
    static const std::function<void()> ring = [] { Bell::get().ring(); };
    for (const Work& work : job_) {
      looks_.push_back(work.comm->looks);
      if (work.stream != nullptr) work.stream->listeners[1] = &ring;
      const bool is_new = std::none_of(numbers_.begin(), numbers_.end(), [&](const auto& each) {
        return each.first == work.stream;
      });
      if (work.stream != nullptr && is_new)
        numbers_.emplace_back(work.stream, work.stream->given++);
    }
  }

  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// Returns the job's communicators.
  [[nodiscard]] std::set<const ncclComm*> communicators() const {
    std::set<const ncclComm*> all;
    for (const Work& work : job_) all.insert(work.comm);
    return all;
  }
  /// Whether the streams have reached the job.
  [[nodiscard]] bool is_reached() const {
    return std::all_of(numbers_.begin(), numbers_.end(), [](const auto& each) {
      return each.first->done.load() == each.second;
    });
  }

  void begin() {
    has_begun_ = true;
    for (Work& work : job_) work.start(work);
  }
  /// Moves bytes. Returns whether any moved.
  bool move() {
    bool moved = false;
    for (const Work& work : job_) moved = progress(*work.comm) || moved;
    return moved;
  }
  [[nodiscard]] bool is_aborted() const {
    return std::any_of(
        job_.begin(), job_.end(), [](const Work& work) { return work.comm->aborted.load(); });
  }
  [[nodiscard]] bool has_moved_all() const {
    return std::all_of(
        job_.begin(), job_.end(), [](const Work& work) { return is_idle(*work.comm); });
  }
  /// Whether the program has enqueued what it wants to, and waits. Known only of jobs on streams.
  [[nodiscard]] bool is_looked_at() const {
    for (std::size_t i = 0; i < job_.size(); ++i) {
      if (job_[i].comm->looks != looks_[i]) return true;
    }
    return numbers_.empty();
  }
  /// Whether a fault lets the streams go on before the results are written.
  [[nodiscard]] bool leaves_early() const {
    if (is_planted("early")) return true;
    const bool is_waited_for = std::any_of(numbers_.begin(), numbers_.end(), [](const auto& each) {
      return each.first->given.load() > each.second + 1;
    });
    return is_planted("early_for_stream") && is_waited_for;
  }
  void write_results() {
    for (Work& work : job_) work.finish(work);
  }
  /// Lets the streams go on.
  void leave() const {
    for (const auto& [stream, number] : numbers_) stream->finish();
  }

 private:
  Job job_;
  std::vector<std::pair<HostStream*, std::uint64_t>> numbers_;
  /// ncclComm::looks of each work when the job was handed over.
  std::vector<int> looks_;
  bool has_begun_ = false;
};

/// The thread that does this process's jobs. Jobs of different streams and communicators are under
/// way at the same time. It never ends.
class Executor {
 public:
  static Executor& get() {
    static auto* const executor = new Executor;
    return *executor;
  }

  void add(Job job) {
    const std::lock_guard lock(mutex_);
    write_late();
    const auto added = std::make_shared<RunningJob>(std::move(job));
    for (const ncclComm* comm : added->communicators()) queues_[comm].push_back(added);
    changed_.notify_all();
    Bell::get().ring();
  }
  /// Waits until all added jobs are done.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queues_.empty(); });
    write_late();
  }

 private:
  using Jobs = std::vector<std::shared_ptr<RunningJob>>;

  Executor() {
    std::thread([this] { work(); }).detach();
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return !queues_.empty(); });
      const Jobs jobs = next_jobs();
      lock.unlock();
      Jobs done;
      const bool moved = advance(jobs, done);
      if (!moved && done.empty()) Bell::get().wait();
      lock.lock();
      for (const auto& job : done) {
        for (const ncclComm* comm : job->communicators()) {
          auto& queue = queues_.at(comm);
          queue.pop_front();
          if (queue.empty()) queues_.erase(comm);
        }
      }
      changed_.notify_all();
    }
  }

  /// Returns the jobs that are first on all their communicators.
  [[nodiscard]] Jobs next_jobs() const {
    Jobs jobs;
    for (const auto& [comm, queue] : queues_) {
      const auto& job = queue.front();
      const std::set<const ncclComm*> all = job->communicators();
      // Otherwise, the job's first communicator has brought it.
      if (*all.begin() != comm) continue;
      const bool is_next = std::all_of(all.begin(), all.end(), [&](const auto* each) {
        return queues_.at(each).front() == job;
      });
      if (is_next) jobs.push_back(job);
    }
    return jobs;
  }

  /// Takes every job as far as it can go now. Appends the jobs that are over. Returns whether any
  /// bytes moved.
  bool advance(const Jobs& jobs, Jobs& done) {
    bool moved = false;
    for (const auto& each : jobs) {
      RunningJob& job = *each;
      if (!job.has_begun() && job.is_reached()) job.begin();
      if (!job.has_begun()) continue;
      moved = job.move() || moved;
      if (!job.is_aborted() && !job.has_moved_all()) continue;
      if (is_planted("early_for_stream") && !job.is_aborted() && !job.is_looked_at()) continue;
      if (!job.is_aborted()) finish(each);
      done.push_back(each);
    }
    return moved;
  }

  void finish(const std::shared_ptr<RunningJob>& job) {
    if (job->leaves_early()) {
      const std::lock_guard lock(mutex_);
      late_.push_back(job);
    } else {
      job->write_results();
    }
    job->leave();
  }

  /// Writes the results that were not there when the streams went on.
  void write_late() {
    for (const auto& each : std::exchange(late_, {})) each->write_results();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  /// The jobs of each communicator, in order. No queue is empty.
  std::map<const ncclComm*, std::deque<std::shared_ptr<RunningJob>>> queues_;
  /// The jobs whose results a fault keeps back until the program hands over the next job, and so
  /// has looked at them.
  Jobs late_;
};

/// Notes which calls have another operation beside them, and which ones are on the newest of
/// several communicators. Plants a published defect of NCCL (PR#1217): if a group has several
/// communicators with unequal numbers of calls, the calls of the last one are not made.
void examine(Job& job) {
  std::map<std::string, int> calls;
  for (const Work& work : job) ++calls[work.comm->path];
  const bool is_unequal = std::any_of(calls.begin(), calls.end(), [&](const auto& each) {
    return each.second != calls.begin()->second;
  });
  const std::string last = job.back().comm->path;
  const auto [first, second] =
      std::minmax_element(job.begin(), job.end(), [](const Work& a, const Work& b) {
        return a.comm->number < b.comm->number;
      });
  const int oldest = first->comm->number;
  const int newest = second->comm->number;
  for (Work& work : job) {
    work.is_beside_another = std::any_of(job.begin(), job.end(), [&](const Work& each) {
      return each.comm == work.comm && each.kind != work.kind;
    });
    work.is_on_newest = work.comm->number == newest && work.comm->number != oldest;
    if (is_unequal && is_planted("plan_not_launched") && work.comm->path == last)
      work.finish = [](Work&) {};
  }
}

/// Moves the works whose streams capture to the graphs. A graph adds its works anew in each launch.
void move_captured(Job& job) {
  std::map<HostGraph*, Job> captured;
  Job now;
  for (Work& work : job) {
    HostGraph* const graph = work.stream == nullptr ? nullptr : work.stream->capture;
    (graph == nullptr ? now : captured[graph]).push_back(std::move(work));
  }
  for (auto& [graph, its] : captured) {
    graph->parts.emplace_back([its = std::move(its)] { Executor::get().add(its); });
  }
  job = std::move(now);
}

}  // namespace

thread_local OpenGroup open_group;

Bell& Bell::get() {
  static Bell bell;
  return bell;
}

Bell::Bell() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  auto* const at = reinterpret_cast<sockaddr*>(&address);
  socklen_t bytes = sizeof(address);
  const bool is_bound = ::bind(socket_, at, sizeof(sa_family_t)) == 0 &&
                        ::getsockname(socket_, at, &bytes) == 0 && bytes == address_bytes;
  if (!is_bound) std::abort();
  number_ = static_cast<unsigned>(std::strtoul(address.sun_path + 1, nullptr, 16));
}

void Bell::ring(unsigned number) const {
  // A socket has a limit of bytes that nobody has read yet. So each bell has a socket of its own:
  // otherwise, one process that does not listen would keep the others from being woken.
  static std::mutex mutex;
  static std::map<unsigned, int> sockets;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = sockets.try_emplace(number);
  if (is_new) found->second = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const sockaddr_un address = address_of(number);
  const auto* const at = reinterpret_cast<const sockaddr*>(&address);
  // If there is no room, the bell was rung already. If there is nobody, nobody has to wake.
  static_cast<void>(!::sendto(found->second, "", 1, MSG_DONTWAIT, at, address_bytes));
}

void Bell::wait() const {
  char byte = 0;
  static_cast<void>(!::recv(socket_, &byte, 1, 0));
  while (::recv(socket_, &byte, 1, MSG_DONTWAIT) == 1) continue;
}

bool is_planted(std::string_view fault) {
  return tests::names_fault(std::getenv("RANKCHECK_STAND_IN"), fault);
}

ncclComm* attach(const std::string& path, int ranks, int rank) {
  auto comm = std::make_unique<ncclComm>();
  comm->path = path;
  comm->rank = rank;
  comm->ranks = ranks;
  comm->outgoing.resize(static_cast<std::size_t>(ranks));
  comm->incoming.resize(static_cast<std::size_t>(ranks));
  const auto pairs = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
  constexpr std::size_t head_bytes = 64;
  const std::size_t bells_at = head_bytes + pairs * sizeof(Ring);
  comm->mapped_bytes = bells_at + static_cast<std::size_t>(ranks) * sizeof(std::atomic<unsigned>);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(comm->mapped_bytes)) != 0) std::abort();
  void* const memory =
      ::mmap(nullptr, comm->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) std::abort();
  comm->counts = static_cast<Counts*>(memory);
  comm->rings = reinterpret_cast<Ring*>(static_cast<std::byte*>(memory) + head_bytes);
  comm->bells =
      reinterpret_cast<std::atomic<unsigned>*>(static_cast<std::byte*>(memory) + bells_at);
  comm->bells[rank] = Bell::get().number();
  const char* const host = std::getenv("NCCL_HOSTID");
  comm->host = std::hash<std::string>()(host == nullptr ? "" : host);
  comm->counts->hosts += comm->host;
  ++comm->counts->arrived;
  ::syscall(SYS_futex, &comm->counts->arrived, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
  return comm.release();
}

void detach(ncclComm* comm) {
  if (++comm->counts->left == comm->ranks) ::unlink(comm->path.c_str());
  ::munmap(comm->counts, comm->mapped_bytes);
  delete comm;
}

void Work::send(int to, const Signature& signature, const void* payload) const {
  comm->outgoing[static_cast<std::size_t>(to)].push_back(make_message(signature, payload));
}

void Work::receive(int from, const Signature& signature) {
  received.push_back(make_message(signature, nullptr));
  comm->incoming[static_cast<std::size_t>(from)].push_back(received.back());
}

void wait_for_jobs() {
  Executor::get().wait();
}

ncclResult_t close_group() {
  OpenGroup group = std::move(open_group);
  open_group = OpenGroup();
  if (group.error != ncclSuccess) return group.error;
  for (const ncclComm* comm : group.joining) await_all(*comm);
  if (group.job.empty()) return ncclSuccess;
  for (const Work& work : group.job) {
    const bool sticks = !group.synchronises && work.comm->is_last_of_several();
    while (is_planted("stuck") && sticks) ::pause();
  }
  examine(group.job);
  move_captured(group.job);
  if (!group.job.empty()) Executor::get().add(std::move(group.job));
  if (group.synchronises) Executor::get().wait();
  return ncclSuccess;
}

}  // namespace rankcheck::stand_in

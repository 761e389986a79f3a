#include "tests/gpu/device/nccl/stand_in_comm.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
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
    moved = push(comm.ring(comm.rank, peer), comm.outgoing[p]) || moved;
    if (comm.async_error != ncclSuccess) continue;
    moved = pull(comm, comm.ring(peer, comm.rank), comm.incoming[p]) || moved;
  }
  return moved;
}

/// A job that has been handed over. It begins when its streams have reached it, and when no earlier
/// job uses its communicators.
class RunningJob {
 public:
  explicit RunningJob(Job job) : job_(std::move(job)) {
    for (const Work& work : job_) {
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
  void finish() {
    const bool leaves_early =
        is_planted("early") || (is_planted("early_for_stream") && is_waited_for());
    if (leaves_early) {
      leave();
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    for (Work& work : job_) work.finish(work);
    if (!leaves_early) leave();
  }

 private:
  /// Whether work was enqueued behind the job. Gives the program a moment to do so.
  [[nodiscard]] bool is_waited_for() const {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return std::any_of(numbers_.begin(), numbers_.end(), [](const auto& each) {
      return each.first->given.load() > each.second + 1;
    });
  }
  /// Lets the streams go on.
  void leave() {
    for (const auto& [stream, number] : numbers_) {
      while (stream->done.load() != number) {
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
      ++stream->done;
    }
  }

  Job job_;
  std::vector<std::pair<HostStream*, std::uint64_t>> numbers_;
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
    const auto added = std::make_shared<RunningJob>(std::move(job));
    for (const ncclComm* comm : added->communicators()) queues_[comm].push_back(added);
    changed_.notify_all();
  }
  /// Waits until all added jobs are done.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queues_.empty(); });
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
      if (!moved && done.empty()) std::this_thread::sleep_for(std::chrono::microseconds(20));
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
  static bool advance(const Jobs& jobs, Jobs& done) {
    bool moved = false;
    for (const auto& each : jobs) {
      RunningJob& job = *each;
      if (!job.has_begun() && job.is_reached()) job.begin();
      if (!job.has_begun()) continue;
      moved = job.move() || moved;
      if (!job.is_aborted() && !job.has_moved_all()) continue;
      if (!job.is_aborted()) job.finish();
      done.push_back(each);
    }
    return moved;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  /// The jobs of each communicator, in order. No queue is empty.
  std::map<const ncclComm*, std::deque<std::shared_ptr<RunningJob>>> queues_;
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
  comm->mapped_bytes = head_bytes + pairs * sizeof(Ring);
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(comm->mapped_bytes)) != 0) std::abort();
  void* const memory =
      ::mmap(nullptr, comm->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) std::abort();
  comm->counts = static_cast<Counts*>(memory);
  comm->rings = reinterpret_cast<Ring*>(static_cast<std::byte*>(memory) + head_bytes);
  const char* const host = std::getenv("NCCL_HOSTID");
  comm->host = std::hash<std::string>()(host == nullptr ? "" : host);
  comm->counts->hosts += comm->host;
  ++comm->counts->arrived;
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
  for (const ncclComm* comm : group.joining) {
    while (comm->counts->arrived < comm->ranks) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
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

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <rankcheck/detail/connection.hpp>
#include <rankcheck/detail/description.hpp>
#include <rankcheck/detail/group_cache.hpp>
#include <rankcheck/detail/member.hpp>
#include <rankcheck/detail/rank_threads.hpp>
#include <rankcheck/detail/shared_file.hpp>

/// Answers the harness: one connection, its questions and its runs.
namespace rankcheck::detail {

inline std::string hello_of(const Description& subject, const Me& me) {
  const auto number = [](int value) { return std::to_string(value); };
  const auto pair = [](const std::string& field, const std::string& value) {
    return ',' + json_string(field) + ':' + value;
  };
  std::string algorithms;
  for (const auto& [operation, offer] : subject.offers) {
    algorithms += algorithms.empty() ? "" : ",";
    algorithms += R"({"operation":)" + json_string(operation) +
                  pair("name", json_string(subject.name)) +
                  pair("summary", json_string("Calls a function of " + subject.name + ".")) +
                  pair("takes", takes(subject, offer, me.world)) + '}';
  }
  std::string versions;
  for (const auto& [what, version] : subject.versions) {
    versions += (versions.empty() ? "" : ",") + json_string(what) + ':' + json_string(version);
  }
  const bool needs_everyone = subject.make_group && !subject.launch.is_one_process;
  const bool overlaps =
      std::any_of(subject.offers.begin(), subject.offers.end(), [](const auto& each) {
        return each.second.function().starts();
      });
  return R"({"hello":{"protocol":2,"inputs":"sent","together":true)" +
         pair("world", number(me.world)) + pair("ranks", listed(me.ranks, number)) +
         R"(,"traits":{"name":)" + json_string(subject.name) +
         pair("nan_rule", json_string(subject.nan_rule)) +
         pair("zero_rule", json_string(subject.zero_rule)) +
         pair("result_place", json_string(subject.result_place)) +
         pair("deterministic", subject.deterministic ? "true" : "false") +
         pair("rounds", subject.rounds ? "true" : "false") + pair("ranks_max", number(me.world)) +
         pair("delays", "true") + (overlaps ? pair("overlaps", "true") : "") +
         (subject.free_group ? pair("frees", "true") : "") + "}" +
         pair("algorithms", '[' + algorithms + ']') + pair("versions", '{' + versions + '}') +
         (needs_everyone ? pair("everyone", "true") : "") +
         (SharedFile::can_open() ? pair("shared_file", "true") : "") + "}}";
}

class Worker {
 public:
  Worker(const Description& subject, const Me& me, Connection& connection)
      : subject_(subject),
        me_(me),
        connection_(connection),
        threads_(static_cast<std::size_t>(me.world)),
        images_(static_cast<std::size_t>(me.world)),
        groups_(subject.make_group, subject.free_group, subject.groups_kept) {}

  /// Whether the process must end without waiting for its threads.
  [[nodiscard]] bool has_left_threads() const { return threads_.has_left_some(); }

  /// Says hello, then answers until the harness closes the connection.
  void answer() {
    connection_.send(frame_of(hello_of(subject_, me_)));
    for (Json header; connection_.receive_header(header);) {
      if (const Json* question = header.find("refuses")) {
        const std::string reason = why_refused(subject_, header.at("case"));
        connection_.send(frame_of(R"({"refusal":)" + question->text + R"(,"reason":)" +
                                  json_string(reason) + '}'));
      } else if (header.find("run") != nullptr) {
        run(header);
      } else {
        throw ProtocolError("expected refuses or run");
      }
      header = Json();
    }
  }

 private:
  using Clock = RankThreads::Clock;
  using Members = std::vector<std::shared_ptr<Member>>;

  /// What the harness is told of calls that did not complete. No status: they did.
  struct Failure {
    const char* status = nullptr;
    std::string reason;
    /// Whether the harness knows already.
    bool is_told = false;
  };

  /// A message that asks for one call.
  struct Run {
    /// The numbers of the run and of the stage, as the harness wrote them.
    std::string run;
    std::string stage;
    Json header;
    const Offer* offer = nullptr;
    Members members;
    bool overlaps = false;
    bool frees = false;
    /// Why the call is not made.
    Failure failure;
  };
  using Runs = std::vector<std::unique_ptr<Run>>;

  /// Makes the calls of the messages that were sent together, and answers each message.
  void run(const Json& header) {
    Runs runs;
    const Json* const together = header.find("together");
    const std::size_t count = together == nullptr ? 1 : together->size();
    runs.push_back(receive(header, 0));
    while (runs.size() < count) {
      Json next;
      if (!connection_.receive_header(next)) throw ProtocolError("expected another run");
      runs.push_back(receive(next, runs.size()));
    }
    Failure failure = make(runs);
    if (failure.status == nullptr) {
      for (const auto& each : runs) send_result(*each);
      return;
    }
    if (!failure.is_told) send_failure(runs, failure);
    if (!has_overlaps(runs)) return;
    // What was started and not waited for may still write into its memory.
    for (auto& images : images_) images.clear();
    left_behind_.push_back(std::move(runs));
  }

  static bool has_overlaps(const Runs& runs) {
    return std::any_of(runs.begin(), runs.end(), [](const auto& each) { return each->overlaps; });
  }

  /// Makes the calls of all messages. Returns why they did not complete.
  Failure make(Runs& runs) {
    for (const auto& each : runs) {
      if (each->failure.status != nullptr) return each->failure;
    }
    std::set<std::vector<int>> groups;
    for (const auto& each : runs) groups.insert(each->header.at("group").integers());
    const bool overlap = has_overlaps(runs);
    // A communicator that is freed for a later call must not be that of an earlier one.
    const bool at_once = overlap || groups.size() <= subject_.groups_kept;
    for (std::size_t first = 0; first < runs.size();) {
      Runs part;
      std::size_t last = first;
      do {
        part.push_back(std::move(runs[last]));
      } while (++last < runs.size() && at_once && !part.back()->frees);
      Failure failure = call(part, overlap ? groups.size() : 0);
      if (part.back()->frees) groups_.drop(part.back()->header.at("group").integers());
      std::move(part.begin(), part.end(), runs.begin() + static_cast<std::ptrdiff_t>(first));
      if (failure.status != nullptr) return failure;
      first = last;
    }
    return {};
  }

  /// Reads the rest of a message, which is message `place` of those that were sent together.
  std::unique_ptr<Run> receive(const Json& header, std::size_t place) {
    const Json* const described = header.find("members");
    if (described == nullptr) throw ProtocolError("expected a run with members");
    auto made = std::make_unique<Run>();
    made->run = header.at("run").text;
    made->stage = header.at("stage").text;
    made->header = header;
    made->overlaps = text_of(header.at("case"), "overlaps", "false") == "true";
    made->frees = text_of(header.at("case"), "frees", "false") == "true";
    std::string reason = receive_images(header, *described, place, made->members);
    if (!reason.empty()) {
      made->failure = {"errored", std::move(reason)};
      return made;
    }
    reason = why_refused(subject_, header.at("case"));
    if (!reason.empty()) {
      made->failure = {"refused", std::move(reason)};
      return made;
    }
    made->offer = &subject_.offers.at(header.at("case").at("operation").text);
    return made;
  }

  /// Returns why the images could not be received, as far as memory of the user's is the cause.
  std::string receive_images(const Json& header,
                             const Json& described,
                             std::size_t place,
                             Members& members) {
    std::string reason;
    for (const Json& each : described.items) {
      const auto rank = static_cast<std::size_t>(each.at("rank").integer());
      auto& images = images_.at(rank);
      if (images.size() <= place) images.resize(place + 1);
      std::shared_ptr<ImageMemory>& image = images[place];
      if (image == nullptr) {
        image = std::make_shared<ImageMemory>(subject_.memory, static_cast<int>(rank));
      }
      const std::size_t size = each.at("image").size();
      const Json* const offset = each.find("offset");
      const auto failure = failure_of([&] {
        if (offset == nullptr) return image->resize(size);
        image->place(file_.image(header.at("file").text, offset->size(), size), size);
      });
      if (failure) reason = *failure;
      if (failure && offset == nullptr) {
        // The bytes have to be read anyway.
        std::vector<unsigned char> ignored(size);
        connection_.receive({ignored.data(), size});
      }
      if (failure) continue;
      if (offset == nullptr) connection_.receive({image->host(), size});
      members.push_back(std::make_shared<Member>());
      members.back()->image = image;
    }
    return reason;
  }

  /// Makes the calls, of which so many groups are in use at the same time.
  Failure call(const Runs& runs, std::size_t groups_in_use) {
    auto failure = failure_of([&] {
      for (const auto& each : runs) {
        const MemberReader reader(each->header);
        const AnyGroup group = groups_.get(reader.group(), groups_in_use);
        const Json& described = each->header.at("members");
        for (std::size_t i = 0; i < each->members.size(); ++i) {
          reader.read(described.items[i], group, *each->members[i]);
        }
      }
    });
    if (failure) return {"failed", *failure};
    failure =
        failure_of([&] { for_each_member(runs, [](Member& member) { member.image->copy_in(); }); });
    if (failure) return {"errored", "copy_in: " + *failure};
    Failure of_calls = make_calls(runs);
    if (of_calls.status != nullptr) return of_calls;
    failure = failure_of(
        [&] { for_each_member(runs, [](Member& member) { member.image->copy_out(); }); });
    // An error of a device often shows only when its results are read.
    if (failure) return {"failed", "copy_out: " + *failure};
    std::string late = why_written_later(runs);
    if (!late.empty()) return {"failed", std::move(late)};
    return {};
  }

  template <class Function>
  static void for_each_member(const Runs& runs, const Function& function) {
    for (const auto& each : runs) {
      for (const auto& member : each->members) function(*member);
    }
  }

  /// Says which memory was written after the end of its call. Empty if none was.
  static std::string why_written_later(const Runs& runs) {
    std::string text;
    for (const auto& each : runs) {
      for (const auto& member : each->members) {
        const std::vector<unsigned char>& result = member->result;
        const auto changed = std::mismatch(result.begin(), result.end(), member->image->host());
        if (changed.first == result.end() || !text.empty()) continue;
        text = "the memory of rank " + std::to_string(member->rank) + " in stage " + each->stage +
               " was written at byte " + std::to_string(changed.first - result.begin()) +
               " after the end of the call";
      }
    }
    return text;
  }

  /// A call of a rank, and whether it is under way during the next ones.
  struct Step {
    std::string progress;
    Function function;
    std::shared_ptr<Member> member;
    bool overlaps = false;
    /// Whether what started before it ends before it.
    bool is_last_to_end = false;
    /// Whether no other call is made with it.
    bool is_alone = false;
  };

  /// The steps of each hosted rank.
  static std::map<int, std::vector<Step>> steps_of(const Runs& runs) {
    std::map<int, std::vector<Step>> steps;
    for (const auto& each : runs) {
      const Json& c = each->header.at("case");
      for (const auto& member : each->members) {
        steps[member->rank].push_back(
            {frame_of(R"({"progress":)" + each->run + R"(,"rank":)" + std::to_string(member->rank) +
                      R"(,"stage":)" + each->stage + '}'),
             each->offer->function(),
             member,
             each->overlaps,
             number_of(c, "data_seed", 1) % 2 == 0,
             runs.size() == 1});
      }
    }
    return steps;
  }

  /// What the threads of a run share with this worker, also those that are left behind.
  struct Teller {
    std::mutex mutex;
    Connection* connection = nullptr;

    /// Returns false when the run is over.
    bool tell(const std::string& progress) {
      const std::lock_guard lock(mutex);
      if (connection != nullptr) connection->send(progress);
      return connection != nullptr;
    }
    void stop() {
      const std::lock_guard lock(mutex);
      connection = nullptr;
    }
  };

  /// Makes the calls of a rank. Those that overlap end when the next one that does not has ended.
  static void make_steps(const std::vector<Step>& steps, Teller& teller) {
    std::vector<const Step*> under_way;
    const auto end_all = [&] {
      while (!under_way.empty()) {
        const auto next =
            under_way.back()->is_last_to_end ? under_way.begin() : under_way.end() - 1;
        end_one(**next);
        under_way.erase(next);
      }
    };
    for (const Step& step : steps) {
      if (!teller.tell(step.progress)) return;
      start_one(step.function, *step.member);
      if (step.overlaps) {
        under_way.push_back(&step);
        continue;
      }
      end_one(step);
      end_all();
    }
    end_all();
  }

  /// Makes the calls. Returns why they did not complete.
  Failure make_calls(const Runs& runs) {
    const double deadline_s = subject_.deadline_s * static_cast<double>(runs.size());
    const Clock::time_point deadline =
        deadline_s > 0 ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                            std::chrono::duration<double>(deadline_s))
                       : Clock::time_point::max();
    const auto teller = std::make_shared<Teller>();
    teller->connection = &connection_;
    std::map<int, std::vector<Step>> steps = steps_of(runs);
    if (subject_.launch.is_one_process) {
      Failure failure = call_in_threads(std::move(steps), teller, deadline, deadline_s);
      teller->stop();
      return failure;
    }
    for (const auto& each : steps) {
      const int rank = each.first;
      // The call may never return.
      Watch watch(deadline, [&] { send_failure(runs, hang_of({rank}, deadline_s)); });
      const auto failure = failure_of([&] { make_steps(each.second, *teller); });
      if (watch.stop()) return {"hung", {}, true};
      if (failure) return fail(rank, *failure, steps.size());
    }
    return {};
  }

  Failure call_in_threads(std::map<int, std::vector<Step>> steps,
                          const std::shared_ptr<Teller>& teller,
                          Clock::time_point deadline,
                          double deadline_s) {
    std::vector<std::size_t> ranks;
    std::vector<std::function<void()>> calls;
    for (auto& each : steps) {
      ranks.push_back(static_cast<std::size_t>(each.first));
      // A thread that is left behind keeps its members alive.
      calls.emplace_back([own = std::move(each.second), teller] { make_steps(own, *teller); });
    }
    const Outcome outcome = threads_.run(ranks, std::move(calls), deadline);
    const bool failed = outcome.failed < ranks.size();
    if (!failed && outcome.unfinished.empty()) return {};
    teller->stop();
    // Threads that are left behind may use the old groups and images.
    groups_.forget();
    std::vector<int> unfinished;
    for (const std::size_t i : outcome.unfinished) {
      unfinished.push_back(static_cast<int>(ranks[i]));
      images_.at(ranks[i]).clear();
    }
    if (!failed) return hang_of(unfinished, deadline_s);
    return fail(static_cast<int>(ranks[outcome.failed]), outcome.reason, ranks.size());
  }

  static std::int64_t now() {
    return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
  }

  static void start_one(const Function& function, Member& member) {
    // Longer than a small call takes.
    constexpr std::chrono::milliseconds pause(1);
    if (member.is_late) std::this_thread::sleep_for(pause);
    member.entered = now();
    member.end = function(member.call, member.send, member.recv);
  }

  static void end_one(const Step& step) {
    Member& member = *step.member;
    if (member.end) member.end();
    member.end = nullptr;
    member.left = now();
    const ImageMemory& image = *member.image;
    if (step.is_alone || !image.is_own_host()) return;
    member.result.assign(image.host(), image.host() + image.size());
  }

  /// `deadline_s` is that of all calls that were made together.
  static Failure hang_of(const std::vector<int>& ranks, double deadline_s) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", deadline_s);
    std::string text;
    for (const int rank : ranks) text += (text.empty() ? "" : ", ") + std::to_string(rank);
    return {"hung",
            "no end within the subject's deadline of " + std::string(seconds) +
                " s: still in the call: rank " + text};
  }

  static Failure fail(int rank, const std::string& reason, std::size_t ranks) {
    const std::string text = "rank " + std::to_string(rank) + ": " + reason;
    std::fprintf(stderr, "%s\n", text.c_str());
    // The harness itself names the rank if only one rank of the process is in the call.
    return {"failed", ranks == 1 ? reason : text};
  }

  void send_failure(const Runs& runs, const Failure& failure) {
    for (const auto& each : runs) {
      connection_.send(frame_of(
          R"({"result":)" + each->run + R"(,"status":)" + json_string(failure.status) +
          R"(,"reason":)" + json_string(failure.reason) + R"(,"path":[],"stamps":[],"sizes":[]})"));
    }
  }

  void send_result(const Run& run) {
    std::vector<Part> parts;
    std::size_t payload = 0;
    for (const auto& member : run.members) {
      if (member->image->is_placed()) continue;
      parts.push_back({member->image->host(), member->image->size()});
      payload += member->image->size();
    }
    const auto stamps = [](const auto& member) {
      return '[' + std::to_string(member->entered) + ',' + std::to_string(member->left) + ']';
    };
    const auto size = [](const auto& member) { return std::to_string(member->image->size()); };
    connection_.send(
        frame_of(R"({"result":)" + run.run + R"(,"status":"completed","path":[)" +
                 json_string(subject_.name) + R"(],"stamps":[)" + listed(run.members, stamps) +
                 R"(],"sizes":[)" + listed(run.members, size) + R"(],"payload":)" +
                 std::to_string(payload) + '}'),
        parts);
  }

  const Description& subject_;
  const Me& me_;
  Connection& connection_;
  RankThreads threads_;
  /// The images of the hosted ranks, by world rank and by the place of their message.
  std::vector<std::vector<std::shared_ptr<ImageMemory>>> images_;
  GroupCache groups_;
  SharedFile file_;
  /// Calls that failed while some were under way.
  std::vector<Runs> left_behind_;
};

}  // namespace rankcheck::detail

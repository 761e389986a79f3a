#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <memory>
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
  return R"({"hello":{"protocol":2,"inputs":"sent")" + pair("world", number(me.world)) +
         pair("ranks", listed(me.ranks, number)) + R"(,"traits":{"name":)" +
         json_string(subject.name) + pair("nan_rule", json_string(subject.nan_rule)) +
         pair("zero_rule", json_string(subject.zero_rule)) +
         pair("result_place", json_string(subject.result_place)) +
         pair("deterministic", subject.deterministic ? "true" : "false") +
         pair("rounds", subject.rounds ? "true" : "false") + pair("ranks_max", number(me.world)) +
         pair("delays", "true") + "}" + pair("algorithms", '[' + algorithms + ']') +
         pair("versions", '{' + versions + '}') + (needs_everyone ? pair("everyone", "true") : "") +
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

  void run(const Json& header) {
    const Json* const described = header.find("members");
    if (described == nullptr) throw ProtocolError("expected a run with members");
    run_ = header.at("run").text;
    stage_ = header.at("stage").text;
    Members members;
    std::string reason = receive_images(header, *described, members);
    if (!reason.empty()) return send_failure("errored", reason);
    reason = why_refused(subject_, header.at("case"));
    if (!reason.empty()) return send_failure("refused", reason);
    const auto failure = failure_of([&] {
      const MemberReader reader(header);
      const AnyGroup group = groups_.get(reader.group());
      for (std::size_t i = 0; i < members.size(); ++i) {
        reader.read(described->items[i], group, *members[i]);
      }
    });
    if (failure) return send_failure("failed", *failure);
    call(subject_.offers.at(header.at("case").at("operation").text).function(), members);
  }

  /// Returns why the images could not be received, as far as memory of the user's is the cause.
  std::string receive_images(const Json& header, const Json& described, Members& members) {
    std::string reason;
    for (const Json& each : described.items) {
      const auto rank = static_cast<std::size_t>(each.at("rank").integer());
      std::shared_ptr<ImageMemory>& image = images_.at(rank);
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

  void call(const Function& function, const Members& members) {
    std::string progress;
    for (const auto& member : members) {
      progress += frame_of(R"({"progress":)" + run_ + R"(,"rank":)" + std::to_string(member->rank) +
                           R"(,"stage":)" + stage_ + '}');
    }
    if (!members.empty()) connection_.send(std::move(progress));
    auto failure = failure_of([&] {
      for (const auto& member : members) member->image->copy_in();
    });
    if (failure) return send_failure("errored", "copy_in: " + *failure);
    if (!make_calls(function, members)) return;
    failure = failure_of([&] {
      for (const auto& member : members) member->image->copy_out();
    });
    // An error of a device often shows only when its results are read.
    if (failure) return send_failure("failed", "copy_out: " + *failure);
    send_result(members);
  }

  /// Returns whether all calls completed. Otherwise, the harness has been told why not.
  bool make_calls(const Function& function, const Members& members) {
    const bool has_deadline = subject_.deadline_s > 0;
    const Clock::time_point deadline =
        has_deadline ? Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                          std::chrono::duration<double>(subject_.deadline_s))
                     : Clock::time_point::max();
    if (subject_.launch.is_one_process) return call_in_threads(function, members, deadline);
    for (const auto& member : members) {
      Watch watch(deadline, [&] { send_failure("hung", describe_hang({member->rank})); });
      const auto failure = failure_of([&, member] { call_one(function, *member); });
      if (watch.stop()) return false;
      if (!failure) continue;
      fail(member->rank, *failure, members.size());
      return false;
    }
    return true;
  }

  bool call_in_threads(const Function& function,
                       const Members& members,
                       Clock::time_point deadline) {
    std::vector<std::size_t> ranks;
    std::vector<std::function<void()>> calls;
    for (const auto& member : members) {
      ranks.push_back(static_cast<std::size_t>(member->rank));
      // A thread that is left behind keeps its member alive.
      calls.emplace_back([&function, member] { call_one(function, *member); });
    }
    const Outcome outcome = threads_.run(ranks, std::move(calls), deadline);
    const bool failed = outcome.failed < members.size();
    if (!failed && outcome.unfinished.empty()) return true;
    // Threads that are left behind may use the old groups and images.
    groups_.forget();
    std::vector<int> unfinished;
    for (const std::size_t i : outcome.unfinished) {
      unfinished.push_back(members[i]->rank);
      images_.at(ranks[i]).reset();
    }
    if (failed) {
      fail(members[outcome.failed]->rank, outcome.reason, members.size());
    } else {
      send_failure("hung", describe_hang(unfinished));
    }
    return false;
  }

  static void call_one(const Function& function, Member& member) {
    const auto now = [] {
      return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
    };
    // Longer than a small call takes.
    constexpr std::chrono::milliseconds pause(1);
    if (member.is_late) std::this_thread::sleep_for(pause);
    member.entered = now();
    function(member.call, member.send, member.recv);
    member.left = now();
  }

  [[nodiscard]] std::string describe_hang(const std::vector<int>& ranks) const {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", subject_.deadline_s);
    std::string text;
    for (const int rank : ranks) text += (text.empty() ? "" : ", ") + std::to_string(rank);
    return "no end within the subject's deadline of " + std::string(seconds) +
           " s: still in the call: rank " + text;
  }

  void fail(int rank, const std::string& reason, std::size_t members) {
    const std::string text = "rank " + std::to_string(rank) + ": " + reason;
    std::fprintf(stderr, "%s\n", text.c_str());
    // The harness itself names the rank if only one rank of the process is in the call.
    send_failure("failed", members == 1 ? reason : text);
  }

  void send_failure(const char* status, const std::string& reason) {
    connection_.send(frame_of(R"({"result":)" + run_ + R"(,"status":)" + json_string(status) +
                              R"(,"reason":)" + json_string(reason) +
                              R"(,"path":[],"stamps":[],"sizes":[]})"));
  }

  void send_result(const Members& members) {
    std::vector<Part> parts;
    std::size_t payload = 0;
    for (const auto& member : members) {
      if (member->image->is_placed()) continue;
      parts.push_back({member->image->host(), member->image->size()});
      payload += member->image->size();
    }
    const auto stamps = [](const auto& member) {
      return '[' + std::to_string(member->entered) + ',' + std::to_string(member->left) + ']';
    };
    const auto size = [](const auto& member) { return std::to_string(member->image->size()); };
    connection_.send(frame_of(R"({"result":)" + run_ + R"(,"status":"completed","path":[)" +
                              json_string(subject_.name) + R"(],"stamps":[)" +
                              listed(members, stamps) + R"(],"sizes":[)" + listed(members, size) +
                              R"(],"payload":)" + std::to_string(payload) + '}'),
                     parts);
  }

  const Description& subject_;
  const Me& me_;
  Connection& connection_;
  RankThreads threads_;
  /// The images of the hosted ranks, by world rank.
  std::vector<std::shared_ptr<ImageMemory>> images_;
  GroupCache groups_;
  SharedFile file_;
  /// The run and the stage under way, as the harness wrote them.
  std::string run_;
  std::string stage_;
};

}  // namespace rankcheck::detail

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <typeinfo>
#include <utility>
#include <vector>

#include <rankcheck/call.hpp>
#include <rankcheck/detail/worker.hpp>
#include <rankcheck/element.hpp>
#include <rankcheck/launch.hpp>
#include <rankcheck/memory.hpp>
#include <rankcheck/offer.hpp>

/// Your code under test: a subject of rankcheck. It needs C++17, POSIX and nothing else. README.md
/// in the folder of these headers says how it is used.
namespace rankcheck {

class Subject {
 public:
  /// Reports show the name as the algorithm.
  explicit Subject(std::string name) { about_.name = std::move(name); }

  // --- what the subject is ----------------------------------------------------------------------
  /// one_process(ranks), which is the default, or processes(ranks).
  Subject& launch(Launch launch) {
    about_.launch = std::move(launch);
    return *this;
  }
  /// The element types, with spaces between them. The default is all.
  Subject& types(const std::string& names) {
    return attempt([&] { about_.types = detail::words_of("types", names, detail::type_names); });
  }
  /// The groups: any, sorted (ascending world ranks) or world (all ranks in order). By default any,
  /// or world if several processes have no function of group().
  Subject& groups(const std::string& kind) {
    return choose("groups", about_.groups, kind, {"any", "sorted", "world"});
  }
  /// What min and max do with NaN.
  Subject& nan_rule(const std::string& rule) {
    return choose(
        "nan_rule", about_.nan_rule, rule, {"drops", "propagates", "either", "unspecified"});
  }
  /// The sign of a zero that a reduction of floats gives.
  Subject& zero_rule(const std::string& rule) {
    return choose("zero_rule", about_.zero_rule, rule, {"ieee", "unspecified"});
  }
  /// Where reduce_scatter in place puts its result.
  Subject& result_place(const std::string& place) {
    return choose("result_place", about_.result_place, place, {"own_block", "start"});
  }
  /// Says that results have the same bits from run to run.
  Subject& deterministic() {
    about_.deterministic = true;
    return *this;
  }
  /// Says that reductions may round although the inputs make every order of evaluation exact, as an
  /// average that multiplies by 1/n does.
  Subject& rounds() {
    about_.rounds = true;
    return *this;
  }
  /// Seconds after which a call counts as hung. The harness has a time-out of its own; this one
  /// says which ranks are still in the call.
  Subject& deadline(double seconds) {
    about_.deadline_s = seconds;
    return *this;
  }
  /// The version of a library under test, for the report.
  Subject& version(const std::string& library, const std::string& version) {
    about_.versions[library] = version;
    return *this;
  }
  /// Buffers live in this memory, such as a device's, instead of the host's. It needs all four
  /// functions.
  Subject& memory(Memory memory) {
    about_.memory = std::move(memory);
    const Memory& given = about_.memory;
    if (!given.allocate || !given.release || !given.copy_in || !given.copy_out) {
      complain("memory: expected allocate, release, copy_in and copy_out");
    }
    return *this;
  }

  // --- what happens around the calls ------------------------------------------------------------
  /// Called once in each process, before it connects to the harness.
  Subject& setup(std::function<void(const Me&)> function) {
    about_.set_up = std::move(function);
    return *this;
  }
  /// Called before a process ends.
  Subject& teardown(std::function<void(const Me&)> function) {
    about_.tear_down = std::move(function);
    return *this;
  }
  /// Makes a communicator for these world ranks. Its result is kept: `call.group<T>()` is this
  /// object in all calls of the same ranks in the same order. With processes(), all processes of
  /// the world call the function, in the same order, and also those that are not in the group.
  template <class Make>
  Subject& group(Make make) {
    about_.make_group = [make = std::move(make)](const std::vector<int>& ranks) {
      using Group = decltype(make(ranks));
      // Nothing is moved, so a group may hold a mutex.
      return detail::AnyGroup{std::shared_ptr<Group>(new Group(make(ranks))), &typeid(Group)};
    };
    return *this;
  }
  /// The same, with a function that frees what `make` has returned. A process then keeps at most
  /// `kept` communicators. Before it makes one more, it frees the one that was not used for the
  /// longest time. With processes(), all processes of the world call `free`, in the same order, and
  /// also those that are not in the group. Those that are left when the process ends are not freed.
  template <class Make, class Free>
  Subject& group(Make make, Free free, std::size_t kept = 64) {
    using Group = decltype(make(std::vector<int>()));
    if (kept == 0) complain("group: got 0, expected to keep at least 1 group");
    about_.free_group = [free = std::move(free)](detail::AnyGroup& group) {
      free(*static_cast<Group*>(group.value.get()));
    };
    about_.groups_kept = kept;
    return this->group(std::move(make));
  }

  // --- the operations ---------------------------------------------------------------------------
  // A function gets (call, send, recv) and writes its result into recv. `ops` are names of
  // reductions, with spaces between them.

  /// Row q of recv becomes send of rank q.
  Offer& all_gather(Function f) { return offer("all_gather", std::move(f)); }
  /// The arrays of all ranks are joined along axis 1.
  Offer& all_gather_axis(Function f) { return offer("all_gather_axis", std::move(f)); }
  /// Array q of recv becomes send of rank q.
  Offer& all_gather_v(Function f) { return offer("all_gather_v", std::move(f)); }
  /// recv becomes the reduction of send over all ranks.
  Offer& all_reduce(const std::string& ops, Function f) {
    return offer("all_reduce", std::move(f), ops);
  }
  /// Array l of recv becomes the reduction of array l of send over all ranks.
  Offer& all_reduce_list(const std::string& ops, Function f) {
    return offer("all_reduce_list", std::move(f), ops);
  }
  /// Row q of recv becomes row `call.rank` of send of rank q.
  Offer& all_to_all(Function f) { return offer("all_to_all", std::move(f)); }
  /// Array q of recv becomes array `call.rank` of send of rank q.
  Offer& all_to_all_v(Function f) { return offer("all_to_all_v", std::move(f)); }
  /// No rank leaves before all have entered.
  Offer& barrier(std::function<void(const Call&)> f) {
    return offer("barrier", [f = std::move(f)](const Call& call, Buffer, Buffer) { f(call); });
  }
  /// recv becomes send of the root. Other ranks have no send.
  Offer& broadcast(Function f) { return offer("broadcast", std::move(f)); }
  /// Array l of recv becomes array l of send of the root. Other ranks have no send.
  Offer& broadcast_list(Function f) { return offer("broadcast_list", std::move(f)); }
  /// On the root, row q of recv becomes send of rank q.
  Offer& gather(Function f) { return offer("gather", std::move(f)); }
  /// On the root, the arrays of all ranks are joined along axis 1.
  Offer& gather_axis(Function f) { return offer("gather_axis", std::move(f)); }
  /// On the root, array q of recv becomes send of rank q.
  Offer& gather_v(Function f) { return offer("gather_v", std::move(f)); }
  /// On the root, recv becomes the reduction of send over all ranks.
  Offer& reduce(const std::string& ops, Function f) { return offer("reduce", std::move(f), ops); }
  /// On the root, recv becomes the reduction along axis 1 of the arrays of all ranks.
  Offer& reduce_axis(const std::string& ops, Function f) {
    return offer("reduce_axis", std::move(f), ops);
  }
  /// On the root, array l of recv becomes the reduction of array l of send over all ranks.
  Offer& reduce_list(const std::string& ops, Function f) {
    return offer("reduce_list", std::move(f), ops);
  }
  /// recv becomes the reduction of row `call.rank` of send over all ranks.
  Offer& reduce_scatter(const std::string& ops, Function f) {
    return offer("reduce_scatter", std::move(f), ops);
  }
  /// recv becomes the reduction of array `call.rank` of send over all ranks.
  Offer& reduce_scatter_v(const std::string& ops, Function f) {
    return offer("reduce_scatter_v", std::move(f), ops);
  }
  /// recv becomes row `call.rank` of send of the root. Other ranks have no send.
  Offer& scatter(Function f) { return offer("scatter", std::move(f)); }
  /// recv becomes array `call.rank` of send of the root. Other ranks have no send.
  Offer& scatter_v(Function f) { return offer("scatter_v", std::move(f)); }
  /// recv becomes send of rank `call.source`. A rank without `call.target` has no send.
  Offer& send_recv(Function f) { return offer("send_recv", std::move(f)); }

  // --- main -------------------------------------------------------------------------------------
  /// Hosts ranks for the harness until it closes the connection. With processes(), a program that
  /// no launcher started starts its processes here. Returns the exit status of the program.
  int serve(int argc, char** argv) {
    try {
      const std::vector<std::string> arguments(argv + 1, argv + argc);
      for (const auto& [operation, offer] : about_.offers) {
        if (!offer.error().empty()) complain(operation + ": " + offer.error());
      }
      if (!about_.error.empty()) throw std::invalid_argument(about_.error);
      const int wanted = detail::ranks_wanted(arguments, about_.launch.ranks);
      if (about_.launch.is_one_process) return host({0, wanted, detail::first_ranks(wanted), ""});
      const auto place = detail::place_of_process();
      if (place) return host({place->first, place->second, {place->first}, ""});
      if (about_.launch.launcher.empty()) return detail::start_processes(wanted, argv);
      throw std::runtime_error("start this program with " + about_.launch.launcher);
    } catch (const std::invalid_argument& error) {
      std::fprintf(stderr, "%s: %s\n", about_.name.c_str(), error.what());
      return 2;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s: %s\n", about_.name.c_str(), error.what());
      return 1;
    }
  }

 private:
  void complain(const std::string& what) {
    if (about_.error.empty()) about_.error = what;
  }

  /// Errors are kept until serve(), so that they become one line of the program.
  template <class Set>
  Subject& attempt(const Set& set) {
    try {
      set();
    } catch (const std::invalid_argument& error) {
      complain(error.what());
    }
    return *this;
  }

  Subject& choose(const char* what,
                  std::string& value,
                  const std::string& chosen,
                  const std::vector<std::string_view>& allowed) {
    return attempt([&] { value = allowed[detail::position_of(what, chosen, allowed)]; });
  }

  Offer& offer(const char* operation, Function function, const std::string& ops = "") {
    if (about_.offers.count(operation) > 0) complain(std::string(operation) + " is offered twice");
    const detail::Operation& found = detail::operation_named(operation);
    return about_.offers.insert_or_assign(operation, Offer(found, ops, std::move(function)))
        .first->second;
  }

  int host(Me me) {
    me.shared_file = detail::meeting_place();
    if (about_.set_up) about_.set_up(me);
    const char* const address = std::getenv("RANKCHECK_ADDRESS");
    const bool has_address = address != nullptr && std::getenv("RANKCHECK_SOCKET") == nullptr;
    const bool has_left_threads =
        has_address ? answer_at(me, address) : answer(me, detail::connect_to_harness(), "");
    if (about_.tear_down) about_.tear_down(me);
    if (!has_left_threads) return 0;
    // Threads that are left behind may use what the end of main() would destroy.
    std::fflush(nullptr);
    std::_Exit(0);
  }

  /// Answers a harness until it closes the connection. Returns whether threads were left behind.
  bool answer(const Me& me, int descriptor, const std::string& greeting) {
    detail::Connection connection(descriptor);
    detail::Worker worker(about_, me, connection);
    try {
      if (!greeting.empty()) connection.send(greeting);
      worker.answer();
    } catch (const std::system_error& error) {
      // A harness that ends its run does not wait for answers.
      const bool is_closed =
          error.code() == std::errc::broken_pipe || error.code() == std::errc::connection_reset;
      if (!is_closed) throw;
    }
    return worker.has_left_threads();
  }

  /// Answers a harness that listens at an address, until nobody listens there any more. A harness
  /// that starts afresh closes the connections and waits for new ones.
  bool answer_at(const Me& me, const std::string& address) {
    constexpr std::chrono::seconds patience_at_start(60);
    constexpr std::chrono::seconds patience_later(1);
    constexpr std::chrono::milliseconds pause(100);
    const char* const secret = std::getenv("RANKCHECK_SECRET");
    const std::string greeting = std::string(secret == nullptr ? "" : secret) + '\n';
    int descriptor = detail::connect_to_address(address, patience_at_start);
    if (descriptor < 0) throw std::runtime_error("RANKCHECK_ADDRESS: nobody listens at " + address);
    bool has_left_threads = false;
    while (descriptor >= 0) {
      has_left_threads |= answer(me, descriptor, greeting);
      // A harness that does not know this secret closes each connection at once.
      std::this_thread::sleep_for(pause);
      descriptor = detail::connect_to_address(address, patience_later);
    }
    return has_left_threads;
  }

  detail::Description about_;
};

}  // namespace rankcheck

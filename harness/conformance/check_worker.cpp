#include "harness/conformance/check_worker.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/nearest.hpp"
#include "harness/base/table.hpp"
#include "harness/case/family.hpp"
#include "harness/conformance/run_check.hpp"
#include "harness/search/generator.hpp"
#include "harness/worker/worker_backend.hpp"

namespace rankcheck::harness::conformance {

namespace {

constexpr const char* transport_page = "harness/worker/PROTOCOL.md, transport";
constexpr const char* hello_page = "harness/worker/PROTOCOL.md, hello";
constexpr const char* refuses_page = "harness/worker/PROTOCOL.md, refuses";
/// No version of rankcheck will have an input of this name.
constexpr const char* unknown_input = "of_a_later_version";
constexpr std::uint64_t seed = 1;
/// The cases are small, but the larger ones have to go through a shared file.
constexpr std::size_t shared_bytes_min = 400;
/// The largest size of a drawn case, out of 100.
constexpr int size_max = 30;
/// Number of cases for each property with several stages, and how many runs are enough for a
/// worker.
constexpr int staged_cases = 2;
constexpr int staged_runs_max = 60;
/// Number of runs that may leave the worker unusable before nothing more is run.
constexpr int breaks_max = 3;
/// The bytes that are shown of why a run failed.
constexpr std::size_t reason_max = 200;
/// Number of legal cases among which one is looked for that the worker refuses.
constexpr int refused_draws = 40;

/// Asks the worker for the generator. A worker that has refused many cases of one type and variant
/// is not asked about it again, because a question may take long.
class Questions final : public Backend {
 public:
  explicit Questions(const worker::WorkerBackend& backend) : backend_(backend) {}

  /// If false, every case counts as taken.
  bool asks = true;

  [[nodiscard]] const BackendTraits& traits() const override { return backend_.traits(); }
  [[nodiscard]] std::vector<AlgorithmInfo> algorithms() const override {
    return backend_.algorithms();
  }
  [[nodiscard]] const Capabilities* capabilities(std::string_view operation,
                                                 std::string_view algorithm) const override {
    return backend_.capabilities(operation, algorithm);
  }
  [[nodiscard]] std::string why_refused(const Case& c) const override {
    if (!asks) return {};
    constexpr int refusals_max = 24;
    int& refusals =
        refusals_[{c.operation, c.algorithm, c.type, find_family(c.operation)->variant(c)}];
    if (refusals >= refusals_max) return "refused as all cases of its type and variant";
    std::string why = backend_.why_refused(c);
    if (why.empty()) {
      refusals = std::numeric_limits<int>::min();
    } else {
      ++refusals;
      last_reason = why;
    }
    return why;
  }
  void run(std::span<const Case> /*stages*/, Observation& observation) override {
    observation.clear();
  }

  mutable std::string last_reason;

 private:
  const worker::WorkerBackend& backend_;
  mutable std::map<std::tuple<std::string, std::string, spec::Type, int>, int> refusals_;
};

std::string title(const AlgorithmInfo& info) {
  return info.operation + ' ' + info.name;
}

class WorkerCheck {
 public:
  WorkerCheck(const Catalogue& catalogue,
              const worker::WorkerOptions& worker,
              const CheckOptions& options)
      : catalogue_(catalogue), worker_(worker), options_(options) {
    for (std::size_t i = 0; i < topic_names.size(); ++i) {
      steps_.push_back({.topic = static_cast<Topic>(i)});
    }
  }

  std::vector<Step> run() {
    if (!start()) return leave_rest("the worker did not say hello");
    const std::vector<worker::Algorithm> algorithms = chosen();
    if (check_refusals(algorithms)) {
      for (const worker::Algorithm& each : algorithms) {
        if (breaks_ < breaks_max) check_algorithm(each);
      }
      conclude();
    }
    shut_down();
    return leave_rest("an earlier step is wrong");
  }

 private:
  Step& step(Topic topic) { return steps_[spec::to_size(topic)]; }

  void hold(Topic topic, std::string text) {
    if (step(topic).outcome == Outcome::wrong) return;
    step(topic).outcome = Outcome::ok;
    step(topic).text = std::move(text);
  }

  void fail(Problem problem, const AlgorithmInfo* info = nullptr, const Case* c = nullptr) {
    Step& step = this->step(problem.topic);
    const std::string name = info == nullptr ? "" : title(*info);
    if (step.outcome == Outcome::wrong) {
      const bool is_new =
          step.text.rfind(name + ": ", 0) != 0 && std::ranges::count(step.also, name) == 0;
      if (is_new && !name.empty()) step.also.push_back(name);
      return;
    }
    step.outcome = Outcome::wrong;
    step.text = name.empty() ? std::move(problem.text) : name + ": " + problem.text;
    step.page = std::move(problem.page);
    if (c != nullptr) step.failing_case = to_text(*c);
  }

  std::vector<Step> leave_rest(const std::string& why) {
    for (Step& each : steps_) {
      if (each.outcome == Outcome::not_checked && each.text.empty()) each.text = why;
    }
    return std::move(steps_);
  }

  bool start();
  [[nodiscard]] std::vector<worker::Algorithm> chosen() const;
  bool check_refusals(const std::vector<worker::Algorithm>& algorithms);
  void check_run_of_refused(const AlgorithmInfo& info);
  [[nodiscard]] std::vector<Case> draw_legal(const AlgorithmInfo& info, int number);
  void check_unknown_input(const worker::Algorithm& algorithm, const Case& taken);
  void check_algorithm(const worker::Algorithm& algorithm);
  /// Runs cases of one property. Returns whether the worker can still be used.
  bool check_property(const worker::Algorithm& algorithm, const Property& property);
  bool run_case(const AlgorithmInfo& info, const Case& c, std::span<const Case> stages);
  void conclude();
  void shut_down();
  [[nodiscard]] Unit unit_of(const AlgorithmInfo& info, const Property& property) const;

  const Catalogue& catalogue_;
  const worker::WorkerOptions& worker_;
  const CheckOptions& options_;
  std::vector<Step> steps_;
  std::unique_ptr<worker::WorkerBackend> backend_;
  std::unique_ptr<Questions> questions_;
  std::set<std::string> seen_operations_;
  int breaks_ = 0;
  std::int64_t runs_ = 0;
  std::int64_t images_ = 0;
  std::int64_t shared_ = 0;
  std::int64_t refused_ = 0;
  std::int64_t failed_ = 0;
  /// The algorithm of the first run that failed, and why it failed. Empty if none failed.
  std::string first_failure_;
  std::int64_t staged_ = 0;
  std::int64_t grouped_ = 0;
};

bool WorkerCheck::start() {
  try {
    backend_ = std::make_unique<worker::WorkerBackend>(worker_);
  } catch (const worker::ProtocolError& error) {
    hold(Topic::start, "the worker has sent its first message");
    fail({Topic::hello, error.what(), hello_page});
    return false;
  } catch (const std::exception& error) {
    fail({Topic::start, error.what(), transport_page});
    return false;
  }
  questions_ = std::make_unique<Questions>(*backend_);
  const worker::Hello& hello = backend_->hello();
  hold(Topic::start, counted(hello.world, "rank has said hello", "ranks have said hello"));
  if (hello.algorithms.empty()) {
    fail({Topic::hello, "algorithms: got none, expected at least one", hello_page});
    return false;
  }
  hold(Topic::hello,
       fmt::format(
           "{}, inputs {}, {}",
           hello.traits.name,
           hello.takes_inputs ? "sent" : "derived",
           counted(static_cast<std::int64_t>(hello.algorithms.size()), "algorithm", "algorithms")));
  step(Topic::hello).hints = hello.hints;
  return true;
}

std::vector<worker::Algorithm> WorkerCheck::chosen() const {
  std::vector<worker::Algorithm> all = backend_->hello().algorithms;
  if (options_.operation.empty()) return all;
  std::vector<std::string> names;
  for (const worker::Algorithm& each : all) names.push_back(each.info.operation);
  std::erase_if(all, [&](const worker::Algorithm& each) {
    return each.info.operation != options_.operation;
  });
  if (!all.empty()) return all;
  throw BadInput(fmt::format("--operation: {:.60}: expected an operation of the worker{}",
                             options_.operation,
                             did_you_mean(options_.operation, names)));
}

Unit WorkerCheck::unit_of(const AlgorithmInfo& info, const Property& property) const {
  Unit unit;
  unit.operation = info.operation;
  unit.algorithm = info.name;
  unit.backend = options_.backend;
  unit.property = property.name;
  unit.ranks_max = options_.ranks_max;
  return unit;
}

std::vector<Case> WorkerCheck::draw_legal(const AlgorithmInfo& info, int number) {
  questions_->asks = false;
  const Property& property = catalogue_.find(info.operation)->properties.front();
  Generator generator(catalogue_, *questions_, unit_of(info, property), seed);
  std::vector<Case> cases;
  Case c;
  for (int i = 0; i < number; ++i) {
    if (generator.next(mix(seed, static_cast<std::uint64_t>(i)), size_max, c)) cases.push_back(c);
  }
  questions_->asks = true;
  return cases;
}

bool WorkerCheck::check_refusals(const std::vector<worker::Algorithm>& algorithms) {
  const auto asked = std::ranges::find_if(algorithms, [](const auto& each) {
    return each.takes == nullptr && each.environment.empty();
  });
  if (asked == algorithms.end()) {
    step(Topic::refusal).text = "the worker declares what it takes, so it is never asked";
    return true;
  }
  Case c;
  try {
    for (const Case& each : draw_legal(asked->info, 1)) {
      c = each;
      static_cast<void>(backend_->workers().why_refused(each));
    }
    check_run_of_refused(asked->info);
  } catch (const std::exception& error) {
    fail({Topic::refusal, error.what(), refuses_page}, &asked->info, &c);
    backend_->restart(0);
    return false;
  }
  hold(Topic::refusal, "each question has its answer");
  return true;
}

void WorkerCheck::check_run_of_refused(const AlgorithmInfo& info) {
  for (const Case& c : draw_legal(info, refused_draws)) {
    const std::string why = backend_->workers().why_refused(c);
    if (why.empty()) continue;
    Observation seen;
    backend_->run(std::span(&c, 1), seen);
    if (seen.status == RunStatus::refused) return;
    const std::string text = fmt::format(
        "a run of a case that it refuses ({:.80}): got {}{}{}, expected the status refused",
        why,
        worker::name(seen.status),
        seen.reason.empty() ? "" : ": ",
        seen.reason);
    return fail({Topic::refusal, text, refuses_page}, &info, &c);
  }
}

void WorkerCheck::check_unknown_input(const worker::Algorithm& algorithm, const Case& taken) {
  if (algorithm.takes != nullptr || !algorithm.environment.empty()) return;
  if (backend_->hello().takes_inputs) return;
  nlohmann::ordered_json unknown = to_json(taken);
  unknown["input"] = unknown_input;
  try {
    if (!backend_->workers().why_refused(unknown).empty()) return;
    fail({Topic::refusal,
          fmt::format(R"(takes a case with the input "{}": got "", expected a reason)",
                      unknown_input),
          refuses_page},
         &algorithm.info);
  } catch (const std::exception& error) {
    fail({Topic::refusal,
          fmt::format("asked about a case with the input \"{}\": {}", unknown_input, error.what()),
          refuses_page},
         &algorithm.info);
    backend_->restart(0);
  }
}

void WorkerCheck::check_algorithm(const worker::Algorithm& algorithm) {
  const Operation& operation = *catalogue_.find(algorithm.info.operation);
  if (!check_property(algorithm, operation.properties.front())) return;
  if (!seen_operations_.insert(algorithm.info.operation).second) return;
  for (const Property& each : std::span(operation.properties).subspan(1)) {
    if (staged_ >= staged_runs_max && grouped_ > 0) return;
    if (!check_property(algorithm, each)) return;
  }
}

bool WorkerCheck::check_property(const worker::Algorithm& algorithm, const Property& property) {
  const Operation& operation = *catalogue_.find(algorithm.info.operation);
  const bool is_first = property.name == operation.properties.front().name;
  Generator generator(catalogue_, *questions_, unit_of(algorithm.info, property), seed);
  Case c;
  std::vector<Case> stages;
  const int cases = is_first ? options_.cases : staged_cases;
  for (int i = 0; i < cases; ++i) {
    const int size = std::min(i, size_max);
    if (!generator.next(mix(seed, static_cast<std::uint64_t>(i)), size, c)) {
      if (i == 0 && is_first && algorithm.takes == nullptr) {
        const std::string text =
            fmt::format("takes no case: got the reason \"{:.80}\", expected one at least",
                        questions_->last_reason);
        fail({Topic::refusal, text, refuses_page}, &algorithm.info);
      }
      return true;
    }
    stages.clear();
    property.program(operation.contract, c, stages);
    if (!is_first && stages.size() == 1) return true;
    if (is_first && i == 0) check_unknown_input(algorithm, c);
    if (!run_case(algorithm.info, c, stages)) return false;
    generator.cover(c, true);
  }
  return true;
}

bool WorkerCheck::run_case(const AlgorithmInfo& info, const Case& c, std::span<const Case> stages) {
  Observation seen;
  backend_->run(stages, seen);
  ++runs_;
  for (Problem& each : problems_of_run(catalogue_, *backend_, stages, seen)) {
    fail(std::move(each), &info, &c);
  }
  refused_ += seen.status == RunStatus::refused ? 1 : 0;
  if (seen.status == RunStatus::failed && ++failed_ == 1) {
    first_failure_ = fmt::format("{}: {}", title(info), shortened(seen.reason, reason_max));
  }
  if (seen.status == RunStatus::completed) {
    for (const StageOutcome& each : seen.stages) {
      images_ += static_cast<std::int64_t>(each.images.size());
      shared_ += std::ranges::count_if(
          each.images, [](const Image& image) { return image.size() >= shared_bytes_min; });
    }
    const auto of_another_group = [&](const Case& each) {
      return members(each) != members(stages.front());
    };
    staged_ += stages.size() > 1 ? 1 : 0;
    grouped_ += std::ranges::any_of(stages, of_another_group) ? 1 : 0;
    return true;
  }
  const bool is_legal = seen.status == RunStatus::refused || seen.status == RunStatus::failed;
  breaks_ += is_legal ? 0 : 1;
  return is_legal;
}

void WorkerCheck::conclude() {
  if (runs_ == 0) return;
  std::string messages = counted(runs_, "run", "runs");
  if (refused_ > 0) messages += fmt::format(", {} of them refused", refused_);
  if (failed_ > 0) {
    messages += fmt::format(", {} of them failed in the call, first {}", failed_, first_failure_);
  }
  if (backend_->hello().takes_file && worker_.name.empty()) {
    messages += fmt::format("; {} images came in a shared file", shared_);
  }
  hold(Topic::messages, messages);
  if (images_ == 0) return;
  const std::string images = counted(images_, "image", "images");
  hold(Topic::layout, images);
  // Nothing was compared where an image had another layout.
  if (step(Topic::layout).outcome == Outcome::ok) {
    hold(Topic::poison, images);
    hold(Topic::inputs, images);
  }
  if (step(Topic::messages).outcome == Outcome::wrong) return;
  if (staged_ > 0) hold(Topic::stages, counted(staged_, "run", "runs") + " of several stages");
  if (grouped_ > 0) hold(Topic::groups, counted(grouped_, "run", "runs") + " of several groups");
  if (staged_ == 0) step(Topic::stages).text = "no case of several stages is taken";
  if (grouped_ == 0) step(Topic::groups).text = "no case of several groups is taken";
}

void WorkerCheck::shut_down() {
  // Nobody here sees the ends of processes that somebody else starts.
  const bool is_own = worker_.name.empty();
  try {
    if (const auto failure = backend_->workers().close()) {
      fail({Topic::shutdown,
            fmt::format("{}; expected {}",
                        failure->reason,
                        is_own ? "the end with status 0" : "each rank to close its connection"),
            transport_page});
    }
  } catch (const std::exception& error) {
    fail({Topic::shutdown, error.what(), transport_page});
  }
  hold(Topic::shutdown,
       fmt::format("{} within {} s after the connection was closed",
                   is_own ? "status 0" : "all ranks have closed their ends",
                   worker_.end_timeout.count()));
}

}  // namespace

std::vector<Step> check_worker(const Catalogue& catalogue,
                               const worker::WorkerOptions& worker,
                               const CheckOptions& options) {
  worker::WorkerOptions checked = worker;
  checked.shared_bytes_min = shared_bytes_min;
  return WorkerCheck(catalogue, checked, options).run();
}

}  // namespace rankcheck::harness::conformance

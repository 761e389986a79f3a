#include "harness/conformance/run_check.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/backend/stage_images.hpp"
#include "harness/base/path.hpp"
#include "harness/case/family.hpp"
#include "harness/case/image.hpp"
#include "harness/conformance/image_check.hpp"

namespace rankcheck::harness::conformance {

namespace {

constexpr const char* progress_page = "harness/worker/PROTOCOL.md, progress";
constexpr const char* result_page = "harness/worker/PROTOCOL.md, result";
constexpr const char* image_page = "harness/INPUTS.md, the image of a member";
constexpr const char* sent_page = "harness/worker/PROTOCOL.md, sent inputs";

/// Says which message about the progress of a rank is missing. Empty if there is none.
std::string wrong_progress(const std::map<int, std::size_t>& entered,
                           std::span<const Case> stages) {
  std::map<int, std::size_t> expected;
  for (std::size_t k = 0; k < stages.size(); ++k) {
    for (const int rank : members(stages[k])) expected[rank] = k;
  }
  for (const auto& [rank, stage] : expected) {
    const auto found = entered.find(rank);
    if (found != entered.end() && found->second == stage) continue;
    return fmt::format(
        "no progress of rank {} in stage {}: got {}, expected a message before the rank enters the "
        "stage",
        rank,
        stage,
        found == entered.end() ? "none" : fmt::format("the last one in stage {}", found->second));
  }
  return {};
}

/// Says which stage ran by another algorithm than the one that was asked for. Empty if none did.
std::string wrong_path(std::span<const Case> stages, const Observation& seen) {
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const std::string& asked = stages[k].algorithm;
    if (asked.empty() || is_path_of(seen.path[k], asked)) continue;
    return fmt::format(
        "path of stage {0}: got \"{2:.60}\", expected the algorithm {1}", k, asked, seen.path[k]);
  }
  return {};
}

/// Says which rank entered a stage before it left the one before. Empty if none did. The time of a
/// single stage was checked when the result was read.
std::string wrong_stamp(std::span<const Case> stages, const Observation& seen) {
  std::map<int, std::int64_t> left;
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const std::vector<int> group = members(stages[k]);
    for (std::size_t g = 0; g < group.size(); ++g) {
      const Stamp& stamp = seen.stages[k].stamps[g];
      const auto before = left.find(group[g]);
      if (before != left.end() && stamp.entered < before->second) {
        return fmt::format(
            "stamps: rank {} entered stage {} at {}, expected {} or later, when it left its stage "
            "before",
            group[g],
            k,
            stamp.entered,
            before->second);
      }
      left[group[g]] = stamp.left;
    }
  }
  return {};
}

std::string page_of(Topic topic, const Family& family, const Case& c, bool is_sent) {
  if (is_sent) return sent_page;
  std::string own = fmt::format("cases/families/{}/INPUTS.md", family.name());
  if (topic == Topic::inputs) return own;
  return topic == Topic::poison && family.poison_bits(c) != 0
             ? fmt::format("{}; {}, poison bits", image_page, own)
             : image_page;
}

void check_images(const Catalogue& catalogue,
                  const worker::Hello& hello,
                  std::span<const Case> stages,
                  const Observation& seen,
                  std::vector<Problem>& problems) {
  const ContractLookup contract_of = [&](std::string_view operation) -> const spec::Contract& {
    return catalogue.find(operation)->contract;
  };
  ImageLayout layout;
  Image before;
  for (std::size_t k = 0; k < stages.size() && problems.empty(); ++k) {
    const Case& c = stages[k];
    const Family& family = *find_family(c.operation);
    const std::vector<int> group = members(c);
    for (std::size_t g = 0; g < group.size() && problems.empty(); ++g) {
      prepare_after(seen.stages,
                    contract_of,
                    stages,
                    k,
                    static_cast<int>(g),
                    hello.traits.result_place,
                    layout,
                    before);
      const ImageProblems found = check_image({.family = family,
                                               .c = c,
                                               .world_rank = group[g],
                                               .layout = layout,
                                               .before = before,
                                               .after = seen.stages[k].images[g],
                                               .is_sent = hello.takes_inputs});
      for (const auto& [topic, text] : {std::pair(Topic::layout, found.layout),
                                        std::pair(Topic::poison, found.poison),
                                        std::pair(Topic::inputs, found.inputs)}) {
        if (!text) continue;
        problems.push_back({topic,
                            fmt::format("rank {} after stage {}: {}", group[g], k, *text),
                            page_of(topic, family, c, hello.takes_inputs)});
      }
    }
  }
}

}  // namespace

std::vector<Problem> problems_of_run(const Catalogue& catalogue,
                                     worker::WorkerBackend& backend,
                                     std::span<const Case> stages,
                                     const Observation& seen) {
  std::vector<Problem> problems;
  // A session fills in stages only when every process says that it has completed the run.
  const bool has_images = !seen.stages.empty();
  switch (seen.status) {
    case RunStatus::refused:
      return problems;
    case RunStatus::failed:
      if (has_images) problems.push_back({Topic::messages, seen.reason, result_page});
      return problems;
    case RunStatus::errored:
      problems.push_back({has_images ? Topic::layout : Topic::messages,
                          seen.reason,
                          has_images ? image_page : "harness/worker/PROTOCOL.md, messages"});
      return problems;
    case RunStatus::hung:
    case RunStatus::crashed:
      problems.push_back({Topic::messages,
                          fmt::format("{}: {}", worker::name(seen.status), seen.reason),
                          "harness/worker/PROTOCOL.md, time"});
      return problems;
    case RunStatus::completed:
      break;
  }
  const worker::Hello& hello = backend.hello();
  for (const auto& [text, page] :
       {std::pair(wrong_progress(backend.workers().entered(), stages), progress_page),
        std::pair(wrong_path(stages, seen), result_page),
        std::pair(wrong_stamp(stages, seen), result_page)}) {
    if (!text.empty()) problems.push_back({Topic::messages, text, page});
  }
  if (problems.empty()) check_images(catalogue, hello, stages, seen, problems);
  return problems;
}

}  // namespace rankcheck::harness::conformance

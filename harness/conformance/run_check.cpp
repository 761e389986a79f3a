#include "harness/conformance/run_check.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/backend/stage_images.hpp"
#include "harness/backend/stages.hpp"
#include "harness/base/path.hpp"
#include "harness/base/table.hpp"
#include "harness/case/family.hpp"
#include "harness/case/image.hpp"
#include "harness/case/image_description.hpp"
#include "harness/case/input.hpp"

namespace rankcheck::harness::conformance {

namespace {

/// What is known about one member's image after a stage.
struct ImageToCheck {
  const Family& family;
  const Case& c;
  int world_rank = 0;
  const ImageLayout& layout;
  /// The image as it must be before the call.
  const Image& before;
  const Image& after;
  /// Whether the harness sent the image, so that the worker only had to keep it.
  bool is_sent = false;
};

/// An input must have at least this many bytes that differ from one another to be searched for.
constexpr std::int64_t searched_bytes_min = 8;
constexpr std::int64_t word_bytes = 8;

/// An element of a send block.
struct Element {
  std::size_t block = 0;
  std::int64_t index = 0;
  std::int64_t at = 0;
};

/// The bytes that differ outside the recv blocks.
struct Differences {
  std::vector<std::int64_t> poison;
  std::vector<std::int64_t> inputs;
};

std::string bits_at(const Image& image, std::int64_t at, std::int64_t size) {
  return hexadecimal(std::span(image).subspan(spec::to_size(at), spec::to_size(size)));
}

bool has_same_bytes(
    const Image& a, std::int64_t at, const Image& b, std::int64_t bt, std::int64_t size) {
  return std::memcmp(a.data() + at, b.data() + bt, spec::to_size(size)) == 0;
}

bool is_within(const std::vector<spec::Block>& blocks, std::int64_t at) {
  return std::ranges::any_of(blocks, [&](const spec::Block& each) {
    return at >= each.offset && at < each.offset + each.count;
  });
}

Differences differences_of(const ImageToCheck& image) {
  Differences found;
  const std::vector<spec::Block> free = writable(image.c, image.layout);
  const std::vector<spec::Block> given = inputs(image.c, image.layout);
  for (std::int64_t at = 0; at < image.layout.size; ++at) {
    if (has_same_bytes(image.before, at, image.after, at, 1) || is_within(free, at)) continue;
    (is_within(given, at) ? found.inputs : found.poison).push_back(at);
  }
  return found;
}

/// Where a byte outside of all blocks lies.
std::string place_of(const ImageLayout& layout, std::int64_t at) {
  std::string nearest = "in the guard at the start";
  std::int64_t distance = layout.size;
  for (const auto& [name, begin, size] : {std::tuple("send", layout.send, layout.send_size),
                                          std::tuple("recv", layout.recv, layout.recv_size)}) {
    if (begin < 0) continue;
    if (at >= begin && at < begin + size) {
      return fmt::format(
          "{} bytes behind the start of the {} buffer, outside its blocks", at - begin, name);
    }
    const bool is_behind = at >= begin + size;
    const std::int64_t away = is_behind ? at - (begin + size) : begin - at;
    if (away >= distance) continue;
    distance = away;
    nearest = is_behind ? fmt::format("{} bytes behind the end of the {} buffer", away, name)
                        : fmt::format("{} bytes before the {} buffer", away, name);
  }
  return nearest;
}

/// The image's poison by a rule that a worker may have mistaken for the right one.
Image poison_by(const ImageToCheck& image, int rank, std::uint64_t always) {
  Image poison(spec::to_size(image.layout.size));
  fill_poison(image.c, rank, always, poison.data(), image.layout.size);
  return poison;
}

/// Says what the worker may have done instead. Empty if nothing explains all bytes.
std::string guess_poison(const ImageToCheck& image, const std::vector<std::int64_t>& wrong) {
  const auto is_explained_by = [&](const Image& other) {
    return std::ranges::all_of(
        wrong, [&](std::int64_t at) { return has_same_bytes(image.after, at, other, at, 1); });
  };
  if (is_explained_by(Image(spec::to_size(image.layout.size)))) {
    return "; all of them are 0: was the image filled with poison?";
  }
  const std::uint64_t always = image.family.poison_bits(image.c);
  if (always != 0 && is_explained_by(poison_by(image, image.world_rank, 0))) {
    return fmt::format("; they lack the poison bits {:#018x} of this family", always);
  }
  for (int rank = 0; rank < image.c.ranks; ++rank) {
    if (!is_explained_by(poison_by(image, rank, always))) continue;
    return fmt::format("; they are the poison of rank {}: the hash takes the world rank", rank);
  }
  return {};
}

std::string describe_poison(const ImageToCheck& image, const std::vector<std::int64_t>& wrong) {
  const std::int64_t first = wrong.front();
  const std::int64_t word = first / word_bytes;
  const std::int64_t size = std::min(word_bytes, image.layout.size - word * word_bytes);
  std::string text = fmt::format("{}, the first at {}, {}: the {} bytes at {} are {}, expected {}",
                                 counted(static_cast<std::int64_t>(wrong.size()),
                                         "byte of poison differs",
                                         "bytes of poison differ"),
                                 first,
                                 place_of(image.layout, first),
                                 size,
                                 word * word_bytes,
                                 bits_at(image.after, word * word_bytes, size),
                                 bits_at(image.before, word * word_bytes, size));
  if (image.is_sent) return text + ", as they were sent";
  const std::uint64_t always = image.family.poison_bits(image.c);
  text += fmt::format(" = H({}, {}, 2^61 {})",
                      image.c.data_seed,
                      image.world_rank,
                      size == word_bytes ? fmt::format("+ {}", word) : "- 1");
  if (always != 0) text += fmt::format(" | {:#018x}", always);
  return text + guess_poison(image, wrong);
}

Element element_at(const ImageToCheck& image, std::int64_t at) {
  const spec::Extents& extents = image.layout.extents;
  const std::int64_t step = spec::info(image.c.type).bytes * extents.send_stride;
  const auto begin_of = [&](const spec::Block& block) {
    return image.layout.send + block.offset * step;
  };
  Element found;
  while (at < begin_of(extents.send[found.block]) ||
         at >= begin_of(extents.send[found.block]) + extents.send[found.block].count * step) {
    ++found.block;
  }
  const std::int64_t begin = begin_of(extents.send[found.block]);
  found.index = (at - begin) / step;
  found.at = begin + found.index * step;
  return found;
}

/// Whether the elements of the image follow from the case alone.
bool is_derived(const ImageToCheck& image) {
  return image.c.input != InputKind::previous && image.c.input != InputKind::given &&
         !image.family.is_chained(image.c);
}

/// Says which other element of the rules the worker may have taken. Empty if none fits.
std::string guess_input(const ImageToCheck& image, const Element& element) {
  if (!is_derived(image)) return {};
  const std::int64_t bytes = spec::info(image.c.type).bytes;
  Image zero(spec::to_size(bytes));
  if (has_same_bytes(image.after, element.at, zero, 0, bytes)) return "; it is 0";
  const spec::Block& block = image.layout.extents.send[element.block];
  Image values(spec::to_size(block.count * bytes));
  for (int rank = 0; rank < image.c.ranks; ++rank) {
    image.family.fill(image.c, rank, static_cast<int>(element.block), block, values.data());
    if (rank == image.world_rank ||
        !has_same_bytes(image.after, element.at, values, element.index * bytes, bytes)) {
      continue;
    }
    return fmt::format("; this is what rank {} has there", rank);
  }
  image.family.fill(
      image.c, image.world_rank, static_cast<int>(element.block), block, values.data());
  for (std::int64_t k = 0; k < block.count; ++k) {
    if (!has_same_bytes(image.after, element.at, values, k * bytes, bytes)) continue;
    return fmt::format("; this is element {} of the same block", k);
  }
  return {};
}

std::string describe_input(const ImageToCheck& image, const std::vector<std::int64_t>& wrong) {
  const std::int64_t bytes = spec::info(image.c.type).bytes;
  const Element element = element_at(image, wrong.front());
  const spec::Block& block = image.layout.extents.send[element.block];
  const int place = place_in_group(image.c, image.world_rank);
  const nlohmann::ordered_json array = image.family.describe_block(image.c, place, block);
  const std::string name = array.is_null()
                               ? fmt::format("block {}", element.block)
                               : fmt::format("array {}", array["name"].get<std::string>());
  std::string text =
      fmt::format("element {} of {} of the send buffer, at byte {}, is {}, expected {}",
                  element.index,
                  name,
                  element.at,
                  bits_at(image.after, element.at, bytes),
                  bits_at(image.before, element.at, bytes));
  if (image.is_sent) return text + ", as it was sent: the call must leave its inputs alone";
  return text + guess_input(image, element) + "; or the call changed its input";
}

/// Looks for the inputs at another place. Empty if they are nowhere, or too few to be recognized.
std::optional<std::string> describe_moved_inputs(const ImageToCheck& image,
                                                 const Differences& found) {
  // Elements that lie apart are too short to be recognized.
  const bool is_strided = image.layout.extents.send_stride != 1;
  if (image.is_sent || is_strided || found.inputs.empty() || found.poison.empty())
    return std::nullopt;
  for (const spec::Block& each : inputs(image.c, image.layout)) {
    const auto* const begin = image.before.data() + each.offset;
    const auto* const end = begin + each.count;
    if (each.count < searched_bytes_min || std::count(begin, end, *begin) == each.count) continue;
    const auto at = std::search(image.after.begin(), image.after.end(), begin, end);
    const std::int64_t place = at - image.after.begin();
    if (at == image.after.end() || place == each.offset) continue;
    return fmt::format(
        "the inputs lie at byte {}, expected at {}: the image has {} bytes, with send at {} and "
        "recv at {}",
        place,
        each.offset,
        image.layout.size,
        image.layout.send,
        image.layout.recv);
  }
  return std::nullopt;
}

/// Compares what a worker wrote around a call with what the pages demand: all bytes that the call
/// must leave alone. The outputs themselves are not looked at. The image must have the layout's
/// size. Returns what is wrong, each in one sentence with the expected value and the one that was
/// found.
std::map<Topic, std::string> check_image(const ImageToCheck& image) {
  const Differences found = differences_of(image);
  // If a buffer lies at another place than the layout says, nothing else is looked for.
  if (auto moved = describe_moved_inputs(image, found)) return {{Topic::layout, *moved}};
  std::map<Topic, std::string> problems;
  if (!found.poison.empty()) problems[Topic::poison] = describe_poison(image, found.poison);
  if (!found.inputs.empty()) problems[Topic::inputs] = describe_input(image, found.inputs);
  return problems;
}

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

/// Says which rank entered a stage before it left the one before, or entered that if it overlaps.
/// Empty if none did. The time of a single stage was checked when the result was read.
std::string wrong_stamp(std::span<const Case> stages, const Observation& seen) {
  std::map<int, std::pair<std::int64_t, std::string_view>> earliest;
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const std::vector<int> group = members(stages[k]);
    for (std::size_t g = 0; g < group.size(); ++g) {
      const Stamp& stamp = seen.stages[k].stamps[g];
      const auto before = earliest.find(group[g]);
      if (before != earliest.end() && stamp.entered < before->second.first) {
        return fmt::format(
            "stamps: rank {} entered stage {} at {}, expected {} or later, when it {} its stage "
            "before",
            group[g],
            k,
            stamp.entered,
            before->second.first,
            before->second.second);
      }
      if (stages[k].overlaps) {
        earliest[group[g]] = {stamp.entered, "entered"};
      } else {
        earliest[group[g]] = {stamp.left, "left"};
      }
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
  const auto contract_of = [&](std::string_view operation) -> const spec::Contract& {
    return catalogue.find(operation)->contract;
  };
  const Hosting all{.contract_of = contract_of, .result_place = hello.traits.result_place};
  ImageLayout layout;
  Image before;
  for (std::size_t k = 0; k < stages.size() && problems.empty(); ++k) {
    const Case& c = stages[k];
    const Family& family = *find_family(c.operation);
    const std::vector<int> group = members(c);
    for (std::size_t g = 0; g < group.size() && problems.empty(); ++g) {
      prepare_after(all, stages, k, static_cast<int>(g), seen.stages, layout, before);
      for (const auto& [topic, text] : check_image({.family = family,
                                       .c = c,
                                       .world_rank = group[g],
                                       .layout = layout,
                                       .before = before,
                                       .after = seen.stages[k].images[g],
                                       .is_sent = hello.takes_inputs})) {
        problems.push_back({topic,
                            fmt::format("rank {} after stage {}: {}", group[g], k, text),
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

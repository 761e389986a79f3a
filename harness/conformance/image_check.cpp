#include "harness/conformance/image_check.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/backend/stages.hpp"
#include "harness/base/table.hpp"
#include "harness/case/image_description.hpp"
#include "harness/case/input.hpp"

namespace rankcheck::harness::conformance {

namespace {

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

}  // namespace

ImageProblems check_image(const ImageToCheck& image) {
  const Differences found = differences_of(image);
  if (auto moved = describe_moved_inputs(image, found)) return {.layout = std::move(moved)};
  ImageProblems problems;
  if (!found.poison.empty()) problems.poison = describe_poison(image, found.poison);
  if (!found.inputs.empty()) problems.inputs = describe_input(image, found.inputs);
  return problems;
}

}  // namespace rankcheck::harness::conformance

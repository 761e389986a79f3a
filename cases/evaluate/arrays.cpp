#include "cases/evaluate/arrays.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/base/table.hpp"

#include "cases/families/ptycho/case.hpp"

namespace rankcheck::cases::evaluate {

namespace {

/// The shape without leading dimensions of length 1. Users leave them out or add them.
std::span<const std::int64_t> without_ones(const Shape& shape) {
  const auto first =
      std::find_if(shape.begin(), shape.end(), [](std::int64_t length) { return length != 1; });
  return {first, shape.end()};
}

bool is_same(const Shape& a, const Shape& b) {
  return std::ranges::equal(without_ones(a), without_ones(b));
}

/// Throws BadInput unless the file has the type and the shape. `place` names the option and file.
void require_fit(const std::string& place,
                 const harness::NpyArray& file,
                 spec::Type type,
                 const Shape& shape) {
  if (!harness::is_npy_of(file.description(), type)) {
    throw harness::BadInput(fmt::format("{}: got dtype {}, expected {} ({})",
                                        place,
                                        file.description(),
                                        harness::npy_description(type),
                                        spec::name(type)));
  }
  if (is_same(file.shape(), shape)) return;
  throw harness::BadInput(fmt::format("{}: got shape {}, expected {}",
                                      place,
                                      harness::shortened(harness::shape_text(file.shape()), 60),
                                      harness::shape_text(shape)));
}

void append(const harness::NpyArray& file, std::vector<std::byte>& out) {
  const std::span<const std::byte> elements = file.elements();
  out.insert(out.end(), elements.begin(), elements.end());
}

std::string index_text(const Shape& shape, std::int64_t index) {
  Shape indices(shape.size());
  for (std::size_t d = shape.size(); d > 0; --d) {
    const std::int64_t length = std::max<std::int64_t>(shape[d - 1], 1);
    indices[d - 1] = index % length;
    index /= length;
  }
  return fmt::format("[{}]", fmt::join(indices, ", "));
}

}  // namespace

const harness::NpyArray& UserArray::first() const {
  const auto found =
      std::find_if(files.begin(), files.end(), [](const auto& each) { return each.has_value(); });
  if (found == files.end()) {
    throw harness::BadInput(
        fmt::format("{}: {}: found no file, expected a file for each rank", name, path));
  }
  return **found;
}

std::optional<int> ranks_in(const nlohmann::ordered_json& fields) {
  const auto group = fields.find("group");
  if (group != fields.end() && group->is_array() && !group->empty()) {
    return static_cast<int>(std::min<std::size_t>(group->size(), ranks_max));
  }
  const auto ranks = fields.find("ranks");
  const bool is_valid =
      ranks != fields.end() && ranks->is_number_integer() && *ranks >= 1 && *ranks <= ranks_max;
  return is_valid ? std::optional(ranks->get<int>()) : std::nullopt;
}

std::string path_of_rank(const std::string& path, int rank) {
  std::string out = path;
  for (std::size_t at = out.find(UserArray::rank_pattern); at != out.npos;
       at = out.find(UserArray::rank_pattern, at)) {
    out.replace(at, UserArray::rank_pattern.size(), std::to_string(rank));
  }
  return out;
}

const FamilyArrays& arrays_of(const spec::Contract& contract) {
  return family(contract) == PtychoCase::family ? arrays_of_operators() : arrays_of_collectives();
}

std::vector<std::byte> gather(std::string_view option, const Slot& slot, const UserArray& array) {
  std::vector<std::byte> out;
  const auto place = [&](const std::string& path) {
    return fmt::format("{} {}: {}", option, slot.name, path);
  };
  if (!array.by_rank()) {
    if (!slot.whole) {
      throw harness::BadInput(
          fmt::format("{}: the ranks' parts differ: expected a file for each rank, such as {}.npy",
                      place(array.path),
                      slot.name + std::string(UserArray::rank_pattern)));
    }
    require_fit(place(array.path), array.first(), slot.type, *slot.whole);
    append(array.first(), out);
    return out;
  }
  if (slot.parts.empty()) {
    throw harness::BadInput(fmt::format(
        "{}: all ranks have the same array: expected one file for all", place(array.path)));
  }
  for (std::size_t r = 0; r < slot.parts.size(); ++r) {
    if (!slot.parts[r] || count_of(*slot.parts[r]) == 0) continue;
    const std::string path = path_of_rank(array.path, static_cast<int>(r));
    if (!array.files[r]) {
      throw harness::BadInput(fmt::format("{}: found no file, expected one of shape {} for rank {}",
                                          place(path),
                                          harness::shape_text(*slot.parts[r]),
                                          r));
    }
    require_fit(place(path), *array.files[r], slot.type, *slot.parts[r]);
    append(*array.files[r], out);
  }
  return out;
}

std::int64_t count_of(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t count_of(const Slot& slot) {
  if (slot.whole) return count_of(*slot.whole);
  std::int64_t count = 0;
  for (const std::optional<Shape>& part : slot.parts) count += part ? count_of(*part) : 0;
  return count;
}

std::string place_of(const Slot& slot, std::int64_t index) {
  if (slot.whole) return index_text(*slot.whole, index);
  for (std::size_t r = 0; r < slot.parts.size(); ++r) {
    if (!slot.parts[r]) continue;
    const std::int64_t count = count_of(*slot.parts[r]);
    if (index < count) return fmt::format("{} of rank {}", index_text(*slot.parts[r], index), r);
    index -= count;
  }
  return "?";
}

}  // namespace rankcheck::cases::evaluate

#include "harness/scene_input.hpp"

#include <algorithm>
#include <cstring>

#include "harness/input.hpp"

namespace rankcheck::harness {

namespace {

using spec::Array;

/// Streams of the arrays: far from those of the ranks.
constexpr std::uint64_t array_stream = std::uint64_t{1} << 40;

/// Values are multiples of 2^-20, positions of 2^-8.
constexpr double value_step = 1.0 / (1 << 20);
constexpr int position_steps = 256;

/// Whole numbers -2 … 2: small enough for sums of thousands of products to be exact.
double whole_value(std::uint64_t hash) {
  return static_cast<double>(static_cast<std::int64_t>(hash % 5) - 2);
}

/// In (-1, 1), in steps of 2^-20.
double general_value(std::uint64_t hash) {
  constexpr std::int64_t steps = (1 << 21) - 1;
  return static_cast<double>(static_cast<std::int64_t>((hash >> 8) % steps) - (1 << 20) + 1) *
         value_step;
}

/// Intensities: one in 16 is 0, the others up to 4.
double frame_value(const Case& c, std::uint64_t hash) {
  if (hash % 16 == 0) return 0;
  if (c.input == InputKind::exact) return static_cast<double>((hash >> 8) % 3);
  return 4 * (general_value(hash) + 1) / 2;
}

/// One coordinate of a window's corner, of which 0 … room keep the window inside.
double coordinate(const Case& c, int room, std::uint64_t hash) {
  const std::int64_t window = c.scene.window;
  std::int64_t least = 0;
  std::int64_t most = room;
  if (c.scan == Scan::overhanging) {
    least -= window + 1;
    most += window + 1;
  }
  if (c.scan == Scan::bordering && hash % 3 != 0) {
    most = least = (hash % 3 == 1 ? 0 : room);
  }
  const auto span = static_cast<std::uint64_t>((most - least) * position_steps + 1);
  const auto step = static_cast<std::int64_t>((hash >> 8) % span) + least * position_steps;
  const bool whole = c.scan == Scan::whole || c.input == InputKind::exact;
  // Rounding towards zero keeps the windows inside that were.
  if (whole) return static_cast<double>(step / position_steps);
  return static_cast<double>(step) / position_steps;
}

double value_of(const Case& c, Array array, std::uint64_t seed, std::int64_t index) {
  const CounterHash hash(seed, array_stream + static_cast<std::uint64_t>(array));
  const auto at = static_cast<std::uint64_t>(index);
  switch (array) {
    case Array::positions: {
      const int size = index % 2 == 0 ? c.scene.rows : c.scene.cols;
      return c.moved +
             coordinate(c, size - c.scene.window, hash(c.scan == Scan::coincident ? at % 2 : at));
    }
    case Array::owners:
      return static_cast<double>(hash(at) % static_cast<std::uint64_t>(group_size(c)));
    case Array::frames:
      return frame_value(c, hash(at));
    case Array::mask:
      return hash(at) % 8 == 0 ? 0 : 1;
    default:
      return c.input == InputKind::exact ? whole_value(hash(at)) : general_value(hash(at));
  }
}

template <class T>
void fill(const Case& c, const spec::Block& block, std::byte* out) {
  for (std::int64_t i = 0; i < block.count; ++i) {
    double value = value_of(c, block.array, c.data_seed, block.first + i);
    if (c.varied == block.array) {
      value *= c.scale;
      if (c.added_seed > 0) value += value_of(c, block.array, c.added_seed, block.first + i);
    }
    const T stored = static_cast<T>(value);
    std::memcpy(out + i * static_cast<std::int64_t>(sizeof(T)), &stored, sizeof(T));
  }
}

}  // namespace

void fill_array(const Case& c, const spec::Block& block, std::byte* out) {
  if (c.type == spec::Type::f64) {
    fill<double>(c, block, out);
  } else {
    fill<float>(c, block, out);
  }
}

bool is_defined(InputKind kind, const spec::Contract& contract) {
  if (kind == InputKind::exact) return contract.exact_on_whole_numbers;
  return kind == InputKind::general;
}

}  // namespace rankcheck::harness

#include "harness/scene_input.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>

#include "harness/form.hpp"
#include "harness/input.hpp"

namespace rankcheck::harness {

namespace {

using spec::Array;

/// Streams of the arrays: far from those of the ranks.
constexpr std::uint64_t array_stream = std::uint64_t{1} << 40;

/// Values that others are added to are multiples of 2^-20, positions of 2^-8.
constexpr double value_step = 1.0 / (1 << 20);
constexpr int position_steps = 256;

/// Whole numbers -2 … 2: small enough for sums of thousands of products to be exact.
double whole_value(std::uint64_t hash) {
  return static_cast<double>(static_cast<std::int64_t>(hash % 5) - 2);
}

/// In (-1, 1), in steps of 2^-20, so that sums of a few are exact in single precision.
double coarse_value(std::uint64_t hash) {
  constexpr std::int64_t steps = (1 << 21) - 1;
  return static_cast<double>(static_cast<std::int64_t>((hash >> 8) % steps) - (1 << 20) + 1) *
         value_step;
}

/// A number of single precision, all its bits drawn, of a magnitude in [1/16, 1): its products and
/// sums are rounded, so that it matters in which order they are made.
double general_value(std::uint64_t hash) {
  constexpr std::uint64_t fractions = std::uint64_t{1} << 23;
  const double magnitude = std::ldexp(static_cast<double>(fractions + hash % fractions),
                                      -24 - static_cast<int>((hash >> 56) % 4));
  return hash >> 63 == 0 ? magnitude : -magnitude;
}

/// The same with all bits of double precision: no number of single precision is as near.
double fine_value(std::uint64_t hash) {
  constexpr std::uint64_t fractions = std::uint64_t{1} << 52;
  const double magnitude = std::ldexp(static_cast<double>(fractions + (hash >> 3) % fractions),
                                      -53 - static_cast<int>((hash >> 56) % 4));
  return hash >> 63 == 0 ? magnitude : -magnitude;
}

/// What arrays hold that are neither whole numbers nor varied.
double drawn_value(const Case& c, std::uint64_t hash) {
  const bool is_fine = c.input == InputKind::fine && c.type == spec::Type::f64;
  return is_fine ? fine_value(hash) : general_value(hash);
}

/// Photons in a pixel: whole numbers in 2^8 ... 2^20 - 1, as many of each order of magnitude.
double count_value(std::uint64_t hash) {
  const std::uint64_t least = std::uint64_t{1} << (8 + (hash >> 56) % 12);
  return static_cast<double>(least + (hash >> 8) % least);
}

/// What a detector may leave where it does not measure; 2^120 stays finite when it is brightened.
double garbage_value(std::uint64_t hash) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr std::array values{
      std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, 0x1p120, -0x1p120};
  return values[(hash >> 8) % values.size()];
}

/// Intensities: one in 16 is 0, the others up to 4.
double frame_value(const Case& c, bool is_varied, std::uint64_t hash) {
  if (hash % 16 == 0) return 0;
  if (c.input == InputKind::exact) return static_cast<double>((hash >> 8) % 3);
  if (c.input == InputKind::wide_range) return count_value(hash);
  return is_varied ? 2 * (coarse_value(hash) + 1) : 4 * std::abs(drawn_value(c, hash >> 4));
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

/// A value of an array of anything but frames, positions, owners and the mask.
double wave_value(const Case& c, Array array, std::uint64_t hash) {
  if (c.input == InputKind::exact) return whole_value(hash);
  // Light as bright as its frames then are.
  const bool is_light =
      array == Array::probe || array == Array::far_waves || array == Array::exit_waves;
  const double brightness = is_light && c.input == InputKind::wide_range ? 512 : 1;
  // Exit waves are mixed beside the probe, which is the array that is varied then.
  const bool is_coarse = c.varied == array || array == Array::exit_waves;
  return brightness * (is_coarse ? coarse_value(hash) : drawn_value(c, hash));
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
    case Array::frames: {
      const std::int64_t pixel = index % spec::values(c.scene, Array::mask);
      if (c.input == InputKind::special && value_of(c, Array::mask, c.data_seed, pixel) == 0) {
        return garbage_value(hash(at));
      }
      return frame_value(c, c.varied == array, hash(at));
    }
    case Array::mask:
      return hash(at) % 8 == 0 ? 0 : 1;
    default:
      return wave_value(c, array, hash(at));
  }
}

/// Component `index` of an array, before it is bent.
double plain_value(const Case& c, Array array, std::int64_t index) {
  double value = value_of(c, array, c.data_seed, index);
  if (c.varied == array) {
    value *= c.scale;
    if (c.added_seed > 0) {
      value += std::ldexp(value_of(c, array, c.added_seed, index), -c.halvings);
    }
  }
  return value;
}

template <class T>
void store(double value, std::int64_t index, std::byte* out) {
  const T stored = static_cast<T>(value);
  std::memcpy(out + index * static_cast<std::int64_t>(sizeof(T)), &stored, sizeof(T));
}

template <class T>
void fill(const Case& c, const spec::Block& block, std::byte* out) {
  for (std::int64_t i = 0; i < block.count; ++i) {
    store<T>(plain_value(c, block.array, block.first + i), i, out);
  }
}

template <class T>
void fill_bent(const Case& c, const spec::Block& block, std::byte* out) {
  Case plain = c;
  plain.scene = plain_scene(c.form, c.scene);
  const std::int64_t positions = std::accumulate(c.counts.begin(), c.counts.end(), std::int64_t{0});
  const int parts = spec::info(block.array).is_complex ? 2 : 1;
  const auto value = [&](std::size_t index) {
    const std::int64_t first = static_cast<std::int64_t>(index) * parts;
    return std::complex<double>(plain_value(plain, block.array, first),
                                parts == 2 ? plain_value(plain, block.array, first + 1) : 0);
  };
  // A block may begin and end within a complex number.
  for (std::int64_t i = 0; i < block.count; ++i) {
    const std::int64_t at = block.first + i;
    const std::complex<double> bent =
        bend(c.form, c.scene, positions, block.array, at / parts).value(value);
    store<T>(at % parts == 0 ? bent.real() : bent.imag(), i, out);
  }
}

}  // namespace

void fill_array(const Case& c, const spec::Block& block, std::byte* out) {
  const bool is_double = c.type == spec::Type::f64;
  if (c.form == Form::plain) {
    is_double ? fill<double>(c, block, out) : fill<float>(c, block, out);
  } else {
    is_double ? fill_bent<double>(c, block, out) : fill_bent<float>(c, block, out);
  }
}

bool is_defined(InputKind kind, const spec::Contract& contract) {
  if (kind == InputKind::exact) return contract.exact_on_whole_numbers;
  // Of measured frames alone.
  if (kind == InputKind::special || kind == InputKind::wide_range) {
    const auto& inputs = contract.inputs;
    return std::find(inputs.begin(), inputs.end(), Array::mask) != inputs.end();
  }
  return kind == InputKind::general || kind == InputKind::fine;
}

}  // namespace rankcheck::harness

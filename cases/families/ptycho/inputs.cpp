#include "cases/families/ptycho/inputs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>

#include "harness/case/input.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/symmetry.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::CounterHash;
using harness::group_size;
using harness::InputKind;
using spec::Array;

/// Start of the arrays' hash streams, far from the streams of ranks.
constexpr std::uint64_t array_stream = std::uint64_t{1} << 40;

/// Values that are added to others are multiples of 2^-20; positions are multiples of 2^-8.
constexpr double value_step = 1.0 / (1 << 20);
constexpr int position_steps = 256;

/// A whole number in -2 … 2: small enough that sums of thousands of products are exact.
double whole_value(std::uint64_t hash) {
  return static_cast<double>(static_cast<std::int64_t>(hash % 5) - 2);
}

/// A value in (-1, 1), in steps of 2^-20, so that sums of a few values are exact in single
/// precision.
double coarse_value(std::uint64_t hash) {
  constexpr std::int64_t steps = (1 << 21) - 1;
  return static_cast<double>(static_cast<std::int64_t>((hash >> 8) % steps) - (1 << 20) + 1) *
         value_step;
}

/// A number of single precision with a magnitude in [1/16, 1); all its bits are drawn. Its products
/// and sums are rounded, so their order matters.
double general_value(std::uint64_t hash) {
  constexpr std::uint64_t fractions = std::uint64_t{1} << 23;
  const double magnitude = std::ldexp(static_cast<double>(fractions + hash % fractions),
                                      -24 - static_cast<int>((hash >> 56) % 4));
  return hash >> 63 == 0 ? magnitude : -magnitude;
}

/// Like general_value, but all bits of a double are drawn. Single precision can hardly ever hold
/// the value.
double fine_value(std::uint64_t hash) {
  constexpr std::uint64_t fractions = std::uint64_t{1} << 52;
  const double magnitude = std::ldexp(static_cast<double>(fractions + (hash >> 3) % fractions),
                                      -53 - static_cast<int>((hash >> 56) % 4));
  return hash >> 63 == 0 ? magnitude : -magnitude;
}

/// A value of an array whose values are neither whole numbers nor varied.
double drawn_value(const Case& c, std::uint64_t hash) {
  const bool is_fine = c.input == InputKind::fine && c.type == spec::Type::f64;
  return is_fine ? fine_value(hash) : general_value(hash);
}

/// Number of photons in a pixel: a whole number in 2^8 ... 2^20 - 1, with the same chance for each
/// power of two.
double count_value(std::uint64_t hash) {
  const std::uint64_t least = std::uint64_t{1} << (8 + (hash >> 56) % 12);
  return static_cast<double>(least + (hash >> 8) % least);
}

/// A value that a detector may leave in an unmeasured pixel. 2^120 stays finite in
/// Symmetry::brightened.
double garbage_value(std::uint64_t hash) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr std::array values{
      std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, 0x1p120, -0x1p120};
  return values[(hash >> 8) % values.size()];
}

/// An intensity. One in 16 is 0. The others are at most 4, except photon counts (wide_range).
double frame_value(const Case& c, bool is_varied, std::uint64_t hash) {
  if (hash % 16 == 0) return 0;
  if (c.input == InputKind::exact) return static_cast<double>((hash >> 8) % 3);
  if (c.input == InputKind::wide_range) return count_value(hash);
  return is_varied ? 2 * (coarse_value(hash) + 1) : 4 * std::abs(drawn_value(c, hash >> 4));
}

/// One coordinate of a window's corner. The window is inside the object for coordinates 0 … room.
double coordinate(const Case& c, int room, std::uint64_t hash) {
  const std::int64_t window = ptycho(c).scene.window;
  std::int64_t least = 0;
  std::int64_t most = room;
  if (ptycho(c).scan == Scan::overhanging) {
    least -= window + 1;
    most += window + 1;
  }
  if (ptycho(c).scan == Scan::bordering && hash % 3 != 0) {
    most = least = (hash % 3 == 1 ? 0 : room);
  }
  const auto span = static_cast<std::uint64_t>((most - least) * position_steps + 1);
  const auto step = static_cast<std::int64_t>((hash >> 8) % span) + least * position_steps;
  const bool whole = ptycho(c).scan == Scan::whole || c.input == InputKind::exact;
  // Rounding towards zero keeps a window inside that was inside.
  const std::int64_t pixels = step / position_steps;
  if (whole) return static_cast<double>(pixels);
  return static_cast<double>(step) / position_steps;
}

/// A value of any array except frames, positions, owners and the mask.
double wave_value(const Case& c, Array array, std::uint64_t hash) {
  if (c.input == InputKind::exact) return whole_value(hash);
  // Makes the light about as bright as the photon counts of wide_range.
  const bool is_light =
      array == Array::probe || array == Array::far_waves || array == Array::exit_waves;
  const double brightness = is_light && c.input == InputKind::wide_range ? 512 : 1;
  // Exit waves are mixed together with the probe. In such cases `varied` is the probe.
  const bool is_coarse = ptycho(c).varied == array || array == Array::exit_waves;
  return brightness * (is_coarse ? coarse_value(hash) : drawn_value(c, hash));
}

double value_of(const Case& c, Array array, std::uint64_t seed, std::int64_t index) {
  const CounterHash hash(seed, array_stream + static_cast<std::uint64_t>(array));
  const auto at = static_cast<std::uint64_t>(index);
  switch (array) {
    case Array::positions: {
      const int size = index % 2 == 0 ? ptycho(c).scene.rows : ptycho(c).scene.cols;
      return ptycho(c).moved + coordinate(c,
                                          size - ptycho(c).scene.window,
                                          hash(ptycho(c).scan == Scan::coincident ? at % 2 : at));
    }
    case Array::owners:
      return static_cast<double>(hash(at) % static_cast<std::uint64_t>(group_size(c)));
    case Array::frames: {
      const std::int64_t pixel = index % spec::values(ptycho(c).scene, Array::mask);
      if (c.input == InputKind::special && value_of(c, Array::mask, c.data_seed, pixel) == 0) {
        return garbage_value(hash(at));
      }
      return frame_value(c, ptycho(c).varied == array, hash(at));
    }
    case Array::mask:
      return hash(at) % 8 == 0 ? 0 : 1;
    default:
      return wave_value(c, array, hash(at));
  }
}

/// Component `index` of an array, before it is transformed.
double plain_value(const Case& c, Array array, std::int64_t index) {
  double value = value_of(c, array, c.data_seed, index);
  if (ptycho(c).varied == array) {
    value *= c.scale;
    if (c.added_seed > 0) {
      value += std::ldexp(value_of(c, array, c.added_seed, index), -ptycho(c).halvings);
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
void fill_transformed(const Case& c, const spec::Block& block, std::byte* out) {
  Case plain = c;
  ptycho(plain).scene = plain_scene(ptycho(c).symmetry, ptycho(c).scene);
  const std::int64_t positions = std::accumulate(c.counts.begin(), c.counts.end(), std::int64_t{0});
  const int parts = spec::info(block.array).is_complex ? 2 : 1;
  const auto value = [&](std::size_t index) {
    const std::int64_t first = static_cast<std::int64_t>(index) * parts;
    return std::complex<double>(plain_value(plain, block.array, first),
                                parts == 2 ? plain_value(plain, block.array, first + 1) : 0);
  };
  // A block may begin and end inside a complex number.
  for (std::int64_t i = 0; i < block.count; ++i) {
    const std::int64_t at = block.first + i;
    const std::complex<double> transformed =
        transform(ptycho(c).symmetry, ptycho(c).scene, positions, block.array, at / parts)
            .value(value);
    store<T>(at % parts == 0 ? transformed.real() : transformed.imag(), i, out);
  }
}

}  // namespace

void fill_array(const Case& c, const spec::Block& block, std::byte* out) {
  const bool is_double = c.type == spec::Type::f64;
  if (ptycho(c).symmetry == Symmetry::plain) {
    is_double ? fill<double>(c, block, out) : fill<float>(c, block, out);
  } else {
    is_double ? fill_transformed<double>(c, block, out) : fill_transformed<float>(c, block, out);
  }
}

bool is_defined(InputKind kind, const spec::Contract& contract) {
  if (kind == InputKind::exact) return ptycho(contract).exact_on_whole_numbers;
  // Only measured frames can have these kinds.
  if (kind == InputKind::special || kind == InputKind::wide_range) {
    const auto& inputs = ptycho(contract).inputs;
    return std::find(inputs.begin(), inputs.end(), Array::mask) != inputs.end();
  }
  return kind == InputKind::general || kind == InputKind::fine || kind == InputKind::given;
}

}  // namespace rankcheck::cases

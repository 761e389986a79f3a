#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reference/numerics/fold.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/case/input.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"

/// Inputs as bytes and as numbers.
namespace rankcheck::cases {

using Bytes = std::vector<std::byte>;

/// The largest number of ranks in these tests.
inline constexpr int ranks_max = 64;

/// Returns the bytes as text, two digits per byte.
inline std::string hexadecimal(const Bytes& bytes) {
  std::string text;
  for (const std::byte each : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += digits[std::to_integer<std::size_t>(each >> 4)];
    text += digits[std::to_integer<std::size_t>(each & std::byte{15})];
  }
  return text;
}

/// Returns the size of one element in bytes.
inline std::size_t bytes_of(const Case& c) {
  return spec::to_size(spec::info(c.type).bytes);
}

/// Returns the first `count` elements of a rank.
inline Bytes elements(const Case& c, int rank, std::int64_t count) {
  Bytes bytes(spec::to_size(count) * bytes_of(c));
  fill_block(c, rank, 0, {0, count}, bytes.data());
  return bytes;
}

/// Returns the components of the first `count` elements as numbers.
inline std::vector<double> values(const Case& c, int rank, std::int64_t count) {
  const Bytes bytes = elements(c, rank, count);
  const spec::Type component = spec::component(c.type);
  const auto step = spec::to_size(spec::info(component).bytes);
  std::vector<double> out;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    out.push_back(numerics::to_double(component, bytes.data() + at));
  }
  return out;
}

/// Returns the scalar by which a rank multiplies.
inline double scalar(const Case& c, int rank) {
  Bytes bytes(bytes_of(c));
  fill_scalar(c, rank, bytes.data());
  return numerics::to_double(c.type, bytes.data());
}

/// Returns a case with these inputs under seed 7.
inline Case make(spec::Type type, spec::ReduceOp op, InputKind input, int ranks = 3) {
  Case c;
  c.operation = op == spec::ReduceOp::none ? "broadcast" : "all_reduce";
  c.type = type;
  collective(c).op = op;
  c.input = input;
  c.ranks = ranks;
  c.data_seed = 7;
  return c;
}

}  // namespace rankcheck::cases

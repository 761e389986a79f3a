#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

/// Element types and reductions.
namespace rankcheck {

enum class Type {
  int8,
  int32,
  int64,
  uint8,
  uint32,
  uint64,
  f16,
  bf16,
  f32,
  f64,
  complex64,
  complex128,
  f8e4m3,
  f8e5m2,
};

/// `band` to `lxor` combine integers only: bit by bit, or as truth values. `maxloc` and `minloc`
/// combine complex numbers only, as pairs of a value and its index. `compose` combines int32 and
/// int64 only, as maps, in the order of the ranks. cases/families/collectives/INPUTS.md defines
/// them.
enum class Op {
  none,
  sum,
  prod,
  min,
  max,
  avg,
  premul_sum,
  band,
  bor,
  bxor,
  land,
  lor,
  lxor,
  maxloc,
  minloc,
  compose
};

namespace detail {

inline constexpr std::array<std::string_view, 14> type_names{"int8",
                                                             "int32",
                                                             "int64",
                                                             "uint8",
                                                             "uint32",
                                                             "uint64",
                                                             "f16",
                                                             "bf16",
                                                             "f32",
                                                             "f64",
                                                             "complex64",
                                                             "complex128",
                                                             "f8e4m3",
                                                             "f8e5m2"};
inline constexpr std::array<std::size_t, 14> type_bytes{1, 4, 8, 1, 4, 8, 2, 2, 4, 8, 8, 16, 1, 1};
inline constexpr std::array<std::string_view, 16> op_names{"none",
                                                           "sum",
                                                           "prod",
                                                           "min",
                                                           "max",
                                                           "avg",
                                                           "premul_sum",
                                                           "band",
                                                           "bor",
                                                           "bxor",
                                                           "land",
                                                           "lor",
                                                           "lxor",
                                                           "maxloc",
                                                           "minloc",
                                                           "compose"};

template <class Names>
std::string joined(const Names& names) {
  std::string all;
  for (const std::string_view name : names) all.append(all.empty() ? "" : " ").append(name);
  return all;
}

/// Returns the position of a name. Throws std::invalid_argument if there is no such name.
template <class Names>
std::size_t position_of(const char* what, std::string_view name, const Names& names) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return i;
  }
  throw std::invalid_argument(std::string(what) + ": got " + std::string(name) +
                              ", expected some of " + joined(names));
}

inline Type type_named(std::string_view name) {
  return static_cast<Type>(position_of("types", name, type_names));
}

inline Op op_named(std::string_view name) {
  return static_cast<Op>(position_of("ops", name, op_names));
}

/// Returns the type whose elements are T in C++.
template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, std::int8_t>) return Type::int8;
  if constexpr (std::is_same_v<T, std::int32_t>) return Type::int32;
  if constexpr (std::is_same_v<T, std::int64_t>) return Type::int64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return Type::uint8;
  if constexpr (std::is_same_v<T, std::uint32_t>) return Type::uint32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return Type::uint64;
  if constexpr (std::is_same_v<T, float>) return Type::f32;
  if constexpr (std::is_same_v<T, double>) return Type::f64;
  if constexpr (std::is_same_v<T, std::complex<float>>) return Type::complex64;
  return Type::complex128;
}

template <class T>
inline constexpr bool is_element = type_of<T>() != Type::complex128
                                   || std::is_same_v<T, std::complex<double>>;

}  // namespace detail

[[nodiscard]] inline std::string_view name(Type type) {
  return detail::type_names[static_cast<std::size_t>(type)];
}

[[nodiscard]] inline std::string_view name(Op op) {
  return detail::op_names[static_cast<std::size_t>(op)];
}

/// Returns the bytes of one element.
[[nodiscard]] inline std::size_t element_bytes(Type type) {
  return detail::type_bytes[static_cast<std::size_t>(type)];
}

/// Calls `function(T())` with the T of the list that the elements of `type` are in C++. Throws
/// std::invalid_argument if none is.
template <class... Ts, class Function>
void with_type(Type type, Function&& function) {
  static_assert((detail::is_element<Ts> && ...), "C++ has no such type of elements");
  bool found = false;
  const auto attempt = [&](auto zero) {
    if (detail::type_of<decltype(zero)>() != type) return;
    found = true;
    function(zero);
  };
  (attempt(Ts()), ...);
  if (!found)
    throw std::invalid_argument("with_type: no type of the list is " + std::string(name(type)));
}

/// The same for all real types that C++ has: integers, float and double.
template <class Function>
void with_real_type(Type type, Function&& function) {
  with_type<std::int8_t,
            std::int32_t,
            std::int64_t,
            std::uint8_t,
            std::uint32_t,
            std::uint64_t,
            float,
            double>(type, function);
}

}  // namespace rankcheck

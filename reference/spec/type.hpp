#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "reference/spec/to_size.hpp"

/// The vocabulary that all parts of the project share: names and shapes, no arithmetic.
namespace rankcheck::spec {

/// The type of one element of a buffer.
enum class Type : std::uint8_t {
  int8,
  uint8,
  int32,
  uint32,
  int64,
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

enum class TypeClass : std::uint8_t { signed_integer, unsigned_integer, floating, complex };

/// How a type is represented in memory. For complex types, `precision` and the exponents describe
/// one component.
struct TypeInfo {
  Type type;
  std::string_view name;
  TypeClass type_class;
  /// Bytes of one element; a complex element has two components.
  int bytes;
  /// Number of significand bits, including the hidden bit. For integers, the number of value bits.
  int precision;
  /// Exponents of the largest finite power of two and of the smallest normal number; 0 for
  /// integers.
  int exponent_max;
  int exponent_min;
};

inline constexpr std::array type_table{
    TypeInfo{Type::int8, "int8", TypeClass::signed_integer, 1, 7, 0, 0},
    TypeInfo{Type::uint8, "uint8", TypeClass::unsigned_integer, 1, 8, 0, 0},
    TypeInfo{Type::int32, "int32", TypeClass::signed_integer, 4, 31, 0, 0},
    TypeInfo{Type::uint32, "uint32", TypeClass::unsigned_integer, 4, 32, 0, 0},
    TypeInfo{Type::int64, "int64", TypeClass::signed_integer, 8, 63, 0, 0},
    TypeInfo{Type::uint64, "uint64", TypeClass::unsigned_integer, 8, 64, 0, 0},
    TypeInfo{Type::f16, "f16", TypeClass::floating, 2, 11, 15, -14},
    TypeInfo{Type::bf16, "bf16", TypeClass::floating, 2, 8, 127, -126},
    TypeInfo{Type::f32, "f32", TypeClass::floating, 4, 24, 127, -126},
    TypeInfo{Type::f64, "f64", TypeClass::floating, 8, 53, 1023, -1022},
    TypeInfo{Type::complex64, "complex64", TypeClass::complex, 8, 24, 127, -126},
    TypeInfo{Type::complex128, "complex128", TypeClass::complex, 16, 53, 1023, -1022},
    TypeInfo{Type::f8e4m3, "f8e4m3", TypeClass::floating, 1, 4, 8, -6},
    TypeInfo{Type::f8e5m2, "f8e5m2", TypeClass::floating, 1, 3, 15, -14},
};

[[nodiscard]] constexpr const TypeInfo& info(Type type) {
  return type_table[to_size(type)];
}

[[nodiscard]] constexpr std::string_view name(Type type) {
  return info(type).name;
}

[[nodiscard]] constexpr bool is_integer(Type type) {
  return info(type).type_class == TypeClass::signed_integer ||
         info(type).type_class == TypeClass::unsigned_integer;
}

[[nodiscard]] constexpr bool is_complex(Type type) {
  return info(type).type_class == TypeClass::complex;
}

/// Eight-bit floating-point types can be moved but not reduced.
[[nodiscard]] constexpr bool is_f8(Type type) {
  return type == Type::f8e4m3 || type == Type::f8e5m2;
}

/// The type of one component: f32 for complex64, f64 for complex128, else the type itself.
[[nodiscard]] constexpr Type component(Type type) {
  if (type == Type::complex64) return Type::f32;
  if (type == Type::complex128) return Type::f64;
  return type;
}

/// Empty if no type has this name.
[[nodiscard]] constexpr std::optional<Type> type_named(std::string_view name) {
  for (const TypeInfo& entry : type_table) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

}  // namespace rankcheck::spec

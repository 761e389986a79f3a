#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "gpu/device/element.hpp"

namespace rankcheck::gpu {

/// A complex number as arrays store it, for host and device.
template <class T>
struct Complex {
  T re = 0;
  T im = 0;

  RANKCHECK_HD friend Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
  RANKCHECK_HD friend Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
  RANKCHECK_HD friend Complex operator*(Complex a, Complex b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  RANKCHECK_HD friend Complex operator*(T a, Complex b) { return {a * b.re, a * b.im}; }
  RANKCHECK_HD Complex& operator+=(Complex other) { return *this = *this + other; }
};

template <class T>
RANKCHECK_HD inline Complex<T> conj(Complex<T> a) {
  return {a.re, -a.im};
}

/// Returns |a|^2.
template <class T>
RANKCHECK_HD inline T norm(Complex<T> a) {
  return a.re * a.re + a.im * a.im;
}

/// A complex number whose address is a multiple of its size, so that a device can load it in one
/// access.
template <class T>
struct alignas(2 * sizeof(T)) AlignedComplex : Complex<T> {};

/// Calls visit.operator()<Number>() with AlignedComplex<T> if all these arrays are aligned so, and
/// with Complex<T> if one of them is not.
template <class T, class Visit>
void with_alignment(std::initializer_list<const Complex<T>*> arrays, const Visit& visit) {
  const bool are_aligned = std::all_of(arrays.begin(), arrays.end(), [](const Complex<T>* array) {
    return reinterpret_cast<std::uintptr_t>(array) % alignof(AlignedComplex<T>) == 0;
  });
  if (are_aligned) {
    visit.template operator()<AlignedComplex<T>>();
  } else {
    visit.template operator()<Complex<T>>();
  }
}

}  // namespace rankcheck::gpu

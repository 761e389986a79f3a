#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

#include "gpu/device/element.hpp"

namespace rankcheck::gpu {

/// A complex number as it lies in every array; for host and device.
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

/// |a|^2.
template <class T>
RANKCHECK_HD inline T norm(Complex<T> a) {
  return a.re * a.re + a.im * a.im;
}

/// A complex number that lies at a multiple of its size: a device moves it in one access.
template <class T>
struct alignas(2 * sizeof(T)) AlignedComplex : Complex<T> {};

/// Calls visit.operator()<Number>() with AlignedComplex<T> where the numbers of all these arrays
/// are such, and with Complex<T> where one of them begins at any component.
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

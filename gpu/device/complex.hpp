#pragma once

#include "gpu/device/element.hpp"

namespace rankcheck::gpu {

/// A complex number as it lies in every array; for host and device.
template <class T>
struct Complex {
  T re = 0;
  T im = 0;

  RANKCHECK_HD friend Complex operator+(Complex a, Complex b) {
    return {a.re + b.re, a.im + b.im};
  }
  RANKCHECK_HD friend Complex operator-(Complex a, Complex b) {
    return {a.re - b.re, a.im - b.im};
  }
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

}  // namespace rankcheck::gpu

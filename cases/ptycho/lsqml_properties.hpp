#pragma once

#include "harness/check/operation.hpp"

/// Properties of the steps of LSQML.
namespace rankcheck::cases {

/// keeps_the_truth() for LSQML: a step goes along directions that are nothing but rounding errors,
/// as far as its lengths say. A length here is a quotient of rounding errors, so it has no bound.
[[nodiscard]] harness::Property keeps_the_truth_along_its_directions();

/// A property of LSQML. Neither the object's step nor the probe's moves the waves of mode 0 of all
/// positions by more than 4 r |chi|. Here, r is lsqml_relaxation and chi is what came back of all
/// positions. The proof is for the object, and the same for the probe. It uses the contract's
/// names, m1 = mean(a1) and c = |chi_n|. First, |x1| <= (A4 |u| c + |u| |v|^2 c) / det <=
/// 2 A4 |u| c / det, and det >= A1 A4 - a1 a4 >= A4 m1 / 2. So |x1| <= 4 |u| c / m1, and its mean
/// is at most 4 sqrt(mean(c^2) / m1). All waves move by r times this mean times sqrt(N m1).
[[nodiscard]] harness::Property moves_no_more_than_came_back();

}  // namespace rankcheck::cases

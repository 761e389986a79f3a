#pragma once

#include <memory>
#include <string_view>

#include "harness/backend/backend.hpp"
#include "harness/case/case.hpp"
#include "harness/check/operation.hpp"

/// A third family, as small as a family can be. It has one operation: every rank reverses its
/// elements behind the first `kept` ones. It shows that a new family needs no change of the
/// harness.
namespace rankcheck::reversals {

/// The fields that only cases of this family have.
struct ReversalCase {
  static constexpr std::string_view family = "reversals";

  /// Number of elements at the front that stay in their places.
  int kept = 0;

  friend bool operator==(const ReversalCase&, const ReversalCase&) = default;
};

/// The family's operation with its one property.
[[nodiscard]] harness::Catalogue catalogue();

/// A backend that computes the operation. A wrong one forgets `kept`.
[[nodiscard]] std::unique_ptr<harness::Backend> open_backend(bool is_wrong);

}  // namespace rankcheck::reversals

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "reference/spec/contract.hpp"

#include "harness/backend.hpp"
#include "harness/case.hpp"

namespace rankcheck::harness {

/// A way to make a call that a unit has to cover, whatever the type and the op.
struct SiteClass {
  /// What a case must have for the class to mean anything.
  enum class Needs : std::uint8_t { nothing, data, no_data, schedules };

  std::string_view name;
  /// Whether a case belongs to it.
  bool (*has)(const Case& c) = nullptr;
  Needs needs = Needs::nothing;

  /// Whether its cases have no output: what covers them is that their memory contracts hold.
  [[nodiscard]] bool is_empty() const { return needs == Needs::no_data; }
  /// Its name among the cells of a finding: "site/<name>".
  [[nodiscard]] std::string cell() const;
};

/// All classes.
[[nodiscard]] std::span<const SiteClass> site_classes();

/// Whether a cell's name is that of a class, and not "<type>/<op>".
[[nodiscard]] bool is_site(std::string_view cell);

/// Whether cases of an operation on a backend can have what the class needs.
[[nodiscard]] bool may_occur(const SiteClass& site,
                             const spec::Contract& contract,
                             const BackendTraits& traits);

}  // namespace rankcheck::harness

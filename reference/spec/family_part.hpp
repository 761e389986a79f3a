#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rankcheck::spec {

/// The part of a contract or of a case that only one family of operations knows. It holds a value
/// of a type of that family, or nothing. Such a type has a default value, operator== and a constant
/// `family`, the family's name. Copies share the value until one of them is edited.
class FamilyPart {
 public:
  FamilyPart() = default;
  /// Holds `value`.
  template <class Value>
  requires(!std::is_same_v<std::remove_cvref_t<Value>, FamilyPart>) FamilyPart(Value value)
      : kind_(&kind_of<Value>), value_(std::make_shared<Value>(std::move(value))) {}

  /// The name of the family that the value belongs to. Empty if there is no value.
  [[nodiscard]] std::string_view family() const { return kind_ == nullptr ? "" : kind_->family; }

  /// The value, or the default value of the type if there is none. Throws std::logic_error if there
  /// is a value of another type: the caller confused two families.
  template <class Value>
  [[nodiscard]] const Value& get() const {
    if (kind_ == nullptr) return default_of<Value>();
    require_kind(&kind_of<Value>);
    return *static_cast<const Value*>(value_.get());
  }

  /// Like get(), for changing the value. The reference is valid until this part is copied,
  /// assigned or destroyed.
  template <class Value>
  [[nodiscard]] Value& edit() {
    if (kind_ == nullptr || value_.use_count() > 1) *this = FamilyPart(Value(get<Value>()));
    require_kind(&kind_of<Value>);
    return *static_cast<Value*>(value_.get());
  }

  /// Whether both hold the same value. No value equals the default value of every type.
  friend bool operator==(const FamilyPart& a, const FamilyPart& b) {
    if (a.value_ == b.value_) return true;
    const Kind* const kind = a.kind_ != nullptr ? a.kind_ : b.kind_;
    return (a.kind_ == nullptr || b.kind_ == nullptr || a.kind_ == b.kind_) &&
           kind->equal(a.value_.get(), b.value_.get());
  }

 private:
  /// The operations of a type. Every type has one object, whose address identifies the type.
  struct Kind {
    std::string_view family;
    /// Compares two values. A null pointer stands for the default value.
    bool (*equal)(const void* a, const void* b);
  };

  void require_kind(const Kind* expected) const {
    if (kind_ != expected) throw_other(expected);
  }

  /// Apart from the comparison, which runs several times for each element and is inlined.
  [[noreturn]] void throw_other(const Kind* expected) const {
    throw std::logic_error("expected a part of the family " + std::string(expected->family) +
                           ", got one of " + std::string(kind_->family));
  }

  template <class Value>
  [[nodiscard]] static const Value& default_of() {
    static const Value value{};
    return value;
  }

  template <class Value>
  static bool equal(const void* a, const void* b) {
    const auto value = [](const void* at) -> const Value& {
      return at == nullptr ? default_of<Value>() : *static_cast<const Value*>(at);
    };
    return value(a) == value(b);
  }

  template <class Value>
  static constexpr Kind kind_of{Value::family, equal<Value>};

  const Kind* kind_ = nullptr;
  std::shared_ptr<void> value_;
};

}  // namespace rankcheck::spec

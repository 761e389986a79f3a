#pragma once

#include <exception>
#include <functional>
#include <utility>

/// References of many frames take minutes: whoever waits for one may lose patience.
namespace rankcheck::reference {

/// Thrown out of a reference for which nobody waits any more. What it filled so far means nothing.
class OutOfPatience final : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override {
    return "the reference was not waited for";
  }
};

/// The patience of whoever waits for references on this thread, as long as it lives. Without any,
/// references take the time that they need.
class Patience {
 public:
  explicit Patience(std::function<bool()> is_over)
      : is_over_(std::move(is_over)), before_(innermost) {
    innermost = this;
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  ~Patience() { innermost = before_; }

  /// Asked by references from one position to the next; throws OutOfPatience where it is over.
  static void ask() {
    if (innermost != nullptr && innermost->is_over_ && innermost->is_over_()) throw OutOfPatience();
  }

 private:
  static inline thread_local const Patience* innermost = nullptr;

  std::function<bool()> is_over_;
  const Patience* before_;
};

}  // namespace rankcheck::reference

#pragma once

#include <exception>
#include <functional>
#include <utility>

/// References of many frames take minutes, so a caller may stop waiting for one.
namespace rankcheck::reference {

/// Thrown by a reference when nobody waits for it any more. Its outputs so far are meaningless.
class OutOfPatience final : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "the reference was cancelled"; }
};

/// While this object lives, references on this thread ask it whether to stop. The innermost object
/// counts. Without such an object, references are never interrupted.
class Patience {
 public:
  explicit Patience(std::function<bool()> is_over)
      : is_over_(std::move(is_over)), before_(innermost) {
    innermost = this;
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;
  ~Patience() { innermost = before_; }

  /// References call this from one position to the next. Throws OutOfPatience if `is_over` returns
  /// true.
  static void ask() {
    if (innermost != nullptr && innermost->is_over_ && innermost->is_over_()) throw OutOfPatience();
  }

 private:
  static inline thread_local const Patience* innermost = nullptr;

  std::function<bool()> is_over_;
  const Patience* before_;
};

}  // namespace rankcheck::reference

#pragma once

#include <exception>
#include <functional>
#include <utility>

/// References of many frames take minutes, so a caller may stop waiting for one.
namespace rankcheck::reference {

/// Thrown by a reference when nobody waits for it any more. Its outputs so far are meaningless.
class Cancelled final : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "the reference was cancelled"; }
};

/// While this object lives, references on this thread ask it whether to stop. The innermost object
/// counts. Without such an object, references are never interrupted.
class CancellationScope {
 public:
  explicit CancellationScope(std::function<bool()> is_cancelled)
      : is_cancelled_(std::move(is_cancelled)), before_(innermost) {
    innermost = this;
  }
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;
  ~CancellationScope() { innermost = before_; }

  /// References call this from one position to the next. Throws Cancelled if `is_cancelled` returns
  /// true.
  static void check() {
    if (innermost != nullptr && innermost->is_cancelled_ && innermost->is_cancelled_())
      throw Cancelled();
  }

 private:
  static inline thread_local const CancellationScope* innermost = nullptr;

  std::function<bool()> is_cancelled_;
  const CancellationScope* before_;
};

}  // namespace rankcheck::reference

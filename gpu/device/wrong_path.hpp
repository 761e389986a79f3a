#pragma once

#include <stdexcept>

namespace rankcheck::gpu {

/// Another algorithm ran than the one that was forced, or nobody saw the forced one run.
class WrongPath : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Nobody saw the forced algorithm run, and perhaps nobody could. The call itself was made.
class UnseenPath : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rankcheck::gpu

#pragma once

#include <stdexcept>

namespace rankcheck::gpu {

/// Another algorithm ran than the one that was forced, or nobody saw the forced one run.
class WrongPath : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rankcheck::gpu

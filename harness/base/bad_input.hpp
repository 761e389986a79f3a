#pragma once

#include <stdexcept>

namespace rankcheck::harness {

/// Bad input by a user: one line that names the place and what was expected. The exit status is 2.
class BadInput : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rankcheck::harness

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/random.hpp"

namespace rankcheck::fuzz {

/// Makes bad input from good input. The same seed gives the same result.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// Flips bits, or cuts, deletes, repeats, exchanges or overwrites bytes.
  [[nodiscard]] std::string bytes(std::string good);

  /// Deletes, repeats or exchanges tokens of JSON or plain text, or replaces a token by a value of
  /// another type or an extreme number.
  [[nodiscard]] std::string tokens(const std::string& good);

 private:
  /// A run of at most `most` bytes in a text that is not empty.
  struct Run {
    std::size_t at;
    std::size_t size;
  };
  Run run_of(const std::string& text, std::size_t most);

  tests::Random random_;
};

}  // namespace rankcheck::fuzz

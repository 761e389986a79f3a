#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/random.hpp"

namespace rankcheck::fuzz {

/// Makes bad input of good input: the same for the same seed.
class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// Flips bits, and cuts, deletes, repeats, exchanges or overwrites bytes.
  [[nodiscard]] std::string bytes(std::string good);

  /// Deletes, repeats or exchanges tokens of JSON or plain text, or puts a value of another type or
  /// an extreme number in the place of one.
  [[nodiscard]] std::string tokens(const std::string& good);

 private:
  /// A run of at most `most` bytes of a text that is not empty.
  struct Run {
    std::size_t at;
    std::size_t size;
  };
  Run run_of(const std::string& text, std::size_t most);

  tests::Random random_;
};

}  // namespace rankcheck::fuzz

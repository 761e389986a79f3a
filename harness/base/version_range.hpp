#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rankcheck::harness {

/// Finds the version of a library in the text that the library has about itself: the first number
/// behind its name, as in "MPICH Version: 4.0.2" or "Open MPI v4.1.4". Upper and lower case are the
/// same. Empty if the text does not have the name as a word, or no number behind it.
[[nodiscard]] std::string_view version_behind(std::string_view name, std::string_view text);

/// The first version in a text: a number, or several with dots between them. May be empty.
[[nodiscard]] std::string_view first_version(std::string_view text);

/// A range of versions. Only numbers are compared, so 4.1rc1 counts as 4.1, and 4.0 is 4.0.0.
class VersionRange {
 public:
  /// Reads conditions with blanks between them, such as ">=4.0 <4.1". All of them must hold. A
  /// condition is one of >=, >, <=, < and = before a version. A version alone means =, and may end
  /// with .* for any further numbers. Throws BadInput.
  explicit VersionRange(std::string_view text);

  [[nodiscard]] bool contains(std::string_view version) const;

 private:
  enum class Relation : std::uint8_t { at_least, above, at_most, below, equal, begins_with };

  struct Condition {
    Relation relation = Relation::equal;
    std::vector<std::int64_t> numbers;
  };

  [[nodiscard]] static Condition condition_from(std::string_view word);

  std::vector<Condition> conditions_;
};

}  // namespace rankcheck::harness

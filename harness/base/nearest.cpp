#include "harness/base/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankcheck::harness {

namespace {

/// Number of letters to insert, delete, replace or swap with their neighbours to turn a into b.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_before(b.size() + 1);
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  std::iota(now.begin(), now.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(two_before, before);
    std::swap(before, now);
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t other = a[i - 1] == b[j - 1] ? 0 : 1;
      now[j] = std::min({before[j] + 1, now[j - 1] + 1, before[j - 1] + other});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], two_before[j - 2] + 1);
      }
    }
  }
  return now[b.size()];
}

}  // namespace

std::string did_you_mean(std::string_view unknown, const std::vector<std::string>& names) {
  constexpr std::size_t letters_max = 64;
  constexpr std::size_t guesses_max = 3;
  if (unknown.empty() || unknown.size() > letters_max) return {};
  std::set<std::pair<std::size_t, std::string>> close;
  for (const std::string& name : names) {
    const std::size_t letters = name.starts_with(unknown) ? 1 : distance(unknown, name);
    if (letters <= std::max<std::size_t>(1, unknown.size() / 3)) close.emplace(letters, name);
  }
  std::vector<std::string> guesses;
  for (const auto& [letters, name] : close) {
    if (guesses.size() < guesses_max) guesses.push_back(name);
  }
  return guesses.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(guesses, ", "));
}

}  // namespace rankcheck::harness

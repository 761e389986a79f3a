#pragma once

#include <string>
#include <string_view>

namespace rankcheck::harness {

/// The path of an algorithm that chose one of several ways: "staged: ring".
[[nodiscard]] inline std::string path_of(std::string_view algorithm, std::string_view way) {
  return std::string(algorithm).append(": ").append(way);
}

/// The algorithm of a path, without its way.
[[nodiscard]] inline std::string_view algorithm_of(std::string_view path) {
  return path.substr(0, path.find(": "));
}

/// Whether a path is that of the algorithm, with or without a way.
[[nodiscard]] inline bool is_path_of(std::string_view path, std::string_view algorithm) {
  if (!path.starts_with(algorithm)) return false;
  path.remove_prefix(algorithm.size());
  return path.empty() || path.starts_with(": ");
}

/// The way of an algorithm that was asked for where nobody saw which algorithm ran.
inline constexpr std::string_view unseen_way = "not seen to run";

/// Whether a path says so. Every case asks this, so nothing is allocated.
[[nodiscard]] inline bool is_unseen(std::string_view path) {
  if (!path.ends_with(unseen_way)) return false;
  path.remove_suffix(unseen_way.size());
  return path.ends_with(": ");
}

}  // namespace rankcheck::harness

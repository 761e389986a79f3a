#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// The words for MPICH's algorithms, which only the descriptions of its control variables name.
namespace rankcheck::gpu::mpi {

/// MPICH's words for the algorithms of blocking calls. Those of nonblocking calls begin with
/// "sched_" or "tsp_".
inline constexpr std::array<std::string_view, 21> blocking_words{
    "auto",
    "binomial",
    "brucks",
    "dissemination",
    "k_brucks",
    "k_dissemination",
    "linear",
    "nb",
    "noncommutative",
    "pairwise",
    "pairwise_sendrecv_replace",
    "recexch",
    "recursive_doubling",
    "recursive_halving",
    "reduce_scatter_allgather",
    "reduce_scatter_gather",
    "ring",
    "scatter_recursive_doubling_allgather",
    "scatter_ring_allgather",
    "scattered",
    "smp"};

/// The word of MPICH at the end of a text. Nothing separates it from the words before. Empty if it
/// is not known.
[[nodiscard]] inline std::string last_word_of(std::string_view text) {
  for (const std::string_view beginning : {"sched_", "tsp_"}) {
    const std::size_t found = text.rfind(beginning);
    if (found != std::string_view::npos) return std::string(text.substr(found));
  }
  std::string_view longest;
  for (const std::string_view each : blocking_words) {
    if (text.ends_with(each) && each.size() > longest.size()) longest = each;
  }
  // A longer word that is not known may end like a word that is.
  const std::size_t before = text.size() - longest.size();
  const bool goes_on = !longest.empty() && before > 0 && text[before - 1] == '_';
  return goes_on ? std::string() : std::string(longest);
}

/// The algorithms that the description of a variable of MPICH names: "auto - Internal selection",
/// "brucks - Force …" and so on, without anything between two entries. Returns the words in the
/// order of their values, which begin with 0. A word that is not known is empty.
[[nodiscard]] inline std::vector<std::string> words_of_description(std::string_view description) {
  std::vector<std::string> words;
  constexpr std::string_view dash = " - ";
  std::size_t begin = 0;
  for (std::size_t at = description.find(dash); at != std::string_view::npos;
       at = description.find(dash, begin)) {
    std::string_view text = description.substr(begin, at - begin);
    while (text.ends_with(' ')) text.remove_suffix(1);
    words.push_back(last_word_of(text));
    begin = at + dash.size();
  }
  return words;
}

}  // namespace rankcheck::gpu::mpi

#include "gpu/device/mpi/selected_algorithm.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <functional>
#include <optional>

#include "gpu/device/mpi/mpich_words.hpp"

namespace rankcheck::gpu::mpi {

namespace {

std::string in_capitals(std::string_view word) {
  std::string text(word);
  std::transform(text.begin(), text.end(), text.begin(), [](char each) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
  });
  return text;
}

/// Adds the algorithms of a collective of MPICH, whose name is in capitals: "BCAST" or "IBCAST".
void add_of_mpich(const std::string& collective,
                  bool nonblocking,
                  std::vector<SelectedAlgorithm>& all) {
  const std::string name = "MPIR_CVAR_" + collective + "_INTRA_ALGORITHM";
  const auto variable = Variable::find(name);
  if (!variable || !variable->writable()) return;
  const std::vector<std::string> words = words_of_description(variable->description());
  for (std::size_t value = 0; value < words.size(); ++value) {
    const std::string& word = words[value];
    // MPICH itself chooses the algorithms for calls in place.
    const bool is_in_place = word.ends_with("inplace") || word == "pairwise_sendrecv_replace";
    // On communicators of a part of the world, MPICH 4.0.2 says that smp is not usable, or fails.
    const bool is_in_steps = word == "smp";
    if (word.empty() || word.ends_with("auto") || is_in_place || is_in_steps) continue;
    all.push_back({.name = "intra_" + word,
                   .word = word,
                   .nonblocking = nonblocking,
                   .settings = {{name, static_cast<int>(value)},
                                // The device has algorithms of its own.
                                {"MPIR_CVAR_" + collective + "_DEVICE_COLLECTIVE", 0},
                                // Returns an error instead of using another algorithm.
                                {"MPIR_CVAR_COLLECTIVE_FALLBACK", 0}}});
  }
}

/// Adds the algorithms of Open MPI's component coll/libnbc.
void add_of_libnbc(const std::string& collective, std::vector<SelectedAlgorithm>& all) {
  const std::string name = "coll_libnbc_i" + collective + "_algorithm";
  const auto variable = Variable::find(name);
  if (!variable || !variable->writable()) return;
  for (const auto& [value, word] : variable->items()) {
    if (value == 0) continue;
    all.push_back(
        {.name = "libnbc_" + word, .word = word, .nonblocking = true, .settings = {{name, value}}});
  }
}

/// Whether this algorithm of a reduction combines in the order of the ranks if the op does not
/// commute. Others are not usable in MPICH, and give wrong results in Open MPI.
bool is_in_order(std::string_view word) {
  constexpr std::array words{std::string_view("binomial"),
                             std::string_view("naive"),
                             std::string_view("nb"),
                             std::string_view("noncommutative"),
                             std::string_view("recursive_doubling")};
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::vector<SelectedAlgorithm> find_selectable(const NamedOperation& operation) {
  std::vector<SelectedAlgorithm> all;
  const std::string collective(operation.operation.tuning.collective);
  if (collective.empty()) return all;
  add_of_mpich(in_capitals(collective), false, all);
  add_of_mpich("I" + in_capitals(collective), true, all);
  add_of_libnbc(collective, all);
  return all;
}

std::vector<SelectedAlgorithm> find_selectable(const Composition& composition) {
  std::vector<SelectedAlgorithm> all;
  if (composition.collective.empty()) return all;
  add_of_mpich((composition.nonblocking ? "I" : "") + in_capitals(composition.collective),
               composition.nonblocking,
               all);
  return all;
}

std::string_view why_unusable(const SelectedAlgorithm& selected,
                              std::string_view collective,
                              const ForcedUse& use) {
  const int n = use.call.ranks;
  if (n == 1) return "ranks: with one rank, the library has nothing to choose";
  std::string_view word = selected.word;
  if (word.starts_with("sched_")) word.remove_prefix(6);
  if (!spec::commutes(use.call.op) && !is_in_order(word)) {
    return "op: the algorithm need not combine in the order of the ranks";
  }
  const bool is_power_of_two = std::has_single_bit(static_cast<unsigned>(n));
  const bool gathers = collective == "allgather" || collective == "allgatherv";
  if (!is_power_of_two &&
      ((gathers && word == "recursive_doubling") ||
       word == "scatter_recursive_doubling_allgather" || word == "noncommutative")) {
    return "ranks: the algorithm needs a power of two";
  }
  // The ops of 16-bit floats are our own.
  const bool scatters = word == "reduce_scatter_allgather" || word == "reduce_scatter_gather";
  if (scatters && (use.call.type == spec::Type::f16 || use.call.type == spec::Type::bf16)) {
    return "type: the algorithm takes the library's own ops only";
  }
  if ((scatters || word == "rabenseifner") && use.call.count < use.power_of_two()) {
    return "count: the algorithm needs an element for each rank";
  }
  const std::vector<std::int64_t>& counts = use.call.counts;
  const bool is_even =
      std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
  if (collective == "allgatherv" && word.starts_with("tsp_recexch") && use.call.gap > 0) {
    return "gap: the algorithm takes none";
  }
  // MPICH 4.0.2 ends the processes.
  if (word == "noncommutative" && !is_even) return "counts: the algorithm needs equal ones";
  const bool exchanges = collective.starts_with("alltoall");
  if (exchanges && use.in_place && word != "nb")
    return "in_place: the library has other algorithms";
  return {};
}

bool says_unusable(std::string_view message) {
  return message.find("collective algorithm is not usable") != std::string_view::npos;
}

}  // namespace rankcheck::gpu::mpi

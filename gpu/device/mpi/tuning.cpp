#include "gpu/device/mpi/tuning.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include <mpi.h>

#include "gpu/device/mpi/error.hpp"
#include "gpu/device/mpi/interposer.hpp"
#include "gpu/device/mpi/variable.hpp"

namespace rankcheck::gpu::mpi {

namespace {

/// An algorithm whose function's name differs from the word of the control variable, for every
/// operation.
struct Renamed {
  std::string_view word;
  std::string_view function;
};

constexpr std::array renamed{
    Renamed{"recursive_halving", "recursivehalving"},
    Renamed{"recursive_doubling", "recursivedoubling"},
    Renamed{"linear", "basic_linear"},
    Renamed{"default", "basic_default"},
    Renamed{"segmented_ring", "ring_segmented"},
    Renamed{"double_ring", "doublering"},
    Renamed{"modified_bruck", "bruck"},
    Renamed{"neighbor", "neighborexchange"},
    Renamed{"two_proc", "two_procs"},
    Renamed{"split_binary_tree", "split_bintree"},
    Renamed{"binary_tree", "bintree"},
    Renamed{"in-order_binary", "in_order_binary"},
    Renamed{"non-overlapping", "nonoverlapping"},
};

/// Collectives in steps: within each host, and between one rank of each host. Open MPI 4.1 leaves
/// barriers to the next component.
Component han() {
  return {.name = "han",
          .library = "mca_coll_han",
          .variable = "coll_han_priority",
          .needs_hosts = true,
          .collectives = {"allgather", "allreduce", "bcast", "gather", "reduce", "scatter"},
          .even_collectives = {"allgather", "bcast", "gather", "reduce", "scatter"}};
}

/// Trees whose ranks pass on each segment as soon as it arrives.
Component adapt(std::string_view name, int choice) {
  return {.name = name,
          .library = "mca_coll_adapt",
          .variable = "coll_adapt_priority",
          .choices = {"coll_adapt_bcast_algorithm", "coll_adapt_reduce_algorithm"},
          .choice = choice,
          .adds_on_arrival = true,
          .collectives = {"bcast", "reduce"}};
}

const std::vector<Component>& all_components() {
  static const std::vector<Component> all{han(),
                                          adapt("adapt_binomial", 1),
                                          adapt("adapt_in_order_binomial", 2),
                                          adapt("adapt_binary", 3),
                                          adapt("adapt_pipeline", 4),
                                          adapt("adapt_chain", 5),
                                          adapt("adapt_linear", 6)};
  return all;
}

bool has(const std::vector<std::string_view>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

ToolInterface::ToolInterface() {
  int provided = 0;
  check(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), "MPI_T_init_thread");
}

ToolInterface::~ToolInterface() {
  MPI_T_finalize();
}

std::string Forcing::name() const {
  std::string text = "tuned_" + word;
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::map<std::string, std::string> Forcing::environment() const {
  if (writable) return {};
  return {{"OMPI_MCA_" + variable(), std::to_string(value)}};
}

std::string Forcing::function() const {
  for (const auto& [each, function] : tuning->functions) {
    if (each == word) return std::string(function);
  }
  const auto* const found = std::find_if(
      renamed.begin(), renamed.end(), [&](const Renamed& each) { return each.word == word; });
  const std::string_view name = found == renamed.end() ? word : found->function;
  return std::string(tuning->collective) + "_intra_" + std::string(name);
}

std::string_view why_unforceable(const Forcing& forcing, const ForcedUse& use) {
  const int n = use.call.ranks;
  if (n == 1) return "ranks: with one rank, Open MPI uses coll/self, which has one algorithm";
  if (forcing.word == "two_proc" && n != 2) return "ranks: two_proc needs two ranks";
  if (forcing.word == "neighbor" && n % 2 != 0) {
    return "ranks: with an odd number, Open MPI falls back to ring";
  }
  if (!spec::commutes(use.call.op) && !has(forcing.tuning->in_order, forcing.word)) {
    return "op: the algorithm does not combine in the order of the ranks";
  }
  const auto& why = forcing.tuning->why_unforceable;
  return why == nullptr ? "" : why(forcing.word, use);
}

std::vector<Forcing> find_forcings(const NamedOperation& named) {
  std::vector<Forcing> forcings;
  const Tuning& tuning = named.operation.tuning;
  const auto enabled = Variable::find("coll_tuned_use_dynamic_rules");
  if (tuning.collective.empty() || !enabled || enabled->read() == 0) return forcings;
  Forcing forcing{.operation = std::string(named.name), .tuning = &tuning, .word = {}};
  const auto variable = Variable::find(forcing.variable());
  if (!variable) return forcings;
  forcing.writable = variable->writable();
  for (const auto& [value, word] : variable->items()) {
    if (value == 0) continue;
    forcing.value = value;
    forcing.word = word;
    forcings.push_back(forcing);
  }
  return forcings;
}

std::vector<const Component*> find_components(const NamedOperation& operation) {
  std::vector<const Component*> found;
  if (!are_uses_watched()) return found;
  for (const Component& each : all_components()) {
    const bool performs = has(each.collectives, operation.operation.tuning.collective);
    if (performs && Variable::find(std::string(each.variable))) found.push_back(&each);
  }
  return found;
}

bool was_started_for_component() {
  const std::vector<Component>& all = all_components();
  return std::any_of(all.begin(), all.end(), [](const Component& each) {
    return std::getenv(("OMPI_MCA_" + std::string(each.variable)).c_str()) != nullptr;
  });
}

std::string_view why_component_refuses(const Component& component,
                                       std::string_view collective,
                                       const std::vector<int>& hosts) {
  if (!component.needs_hosts) return {};
  std::map<int, int> members;
  for (const int host : hosts) ++members[host];
  if (members.size() < 2) return "hosts: han needs members on several hosts";
  const auto [least, most] =
      std::minmax_element(members.begin(), members.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      });
  if (most->second == 1) return "hosts: han needs a host with two members or more";
  if (!has(component.even_collectives, collective)) return {};
  if (least->second != most->second) return "hosts: han needs as many members on each host";
  for (std::size_t i = 1; i < hosts.size(); ++i) {
    const bool is_first = i % static_cast<std::size_t>(most->second) == 0;
    if (!is_first && hosts[i] != hosts[i - 1])
      return "hosts: han needs the members of a host one behind another";
  }
  return {};
}

std::vector<Setting> settings_of(const Forcing& forcing, int segment_bytes) {
  const auto variable = Variable::find(forcing.variable());
  if (!variable) throw std::runtime_error(forcing.variable() + ": no such control variable");
  if (!forcing.writable && variable->read() != forcing.value) {
    throw std::runtime_error(forcing.variable() + ": could not be set to " + forcing.word);
  }
  if (!forcing.writable) return {};
  std::vector<Setting> settings{{forcing.variable(), forcing.value}};
  const std::string segment = forcing.variable() + "_segmentsize";
  const auto of_segment = Variable::find(segment);
  if (of_segment && of_segment->writable()) {
    settings.push_back({segment, segment_bytes == 0 ? default_segment_bytes : segment_bytes});
  }
  return settings;
}

}  // namespace rankcheck::gpu::mpi

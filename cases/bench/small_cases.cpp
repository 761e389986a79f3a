#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "harness/search/engine.hpp"
#include "harness/search/generator.hpp"

#include "cases/bench/bench.hpp"
#include "cases/suites/catalogue.hpp"

namespace rankcheck::cases::bench {

namespace {

using harness::Case;

constexpr std::int64_t elements_max = 64;
constexpr int cases_per_unit = 16;
/// The most cases to draw for one unit. After that, the unit gets fewer cases.
constexpr int tries_max = 1000;

void add_cases_of(const harness::Catalogue& catalogue,
                  harness::Backend& backend,
                  const harness::Unit& unit,
                  std::vector<Case>& cases) {
  harness::Generator generator(catalogue, backend, unit, 1);
  harness::RandomSource words(1);
  for (int made = 0, tries = 0; made < cases_per_unit && tries < tries_max; ++tries) {
    Case c;
    if (!generator.next(words.next(), 50, c)) break;
    const std::int64_t longest = std::accumulate(
        c.counts.begin(), c.counts.end(), c.count, [](auto a, auto b) { return std::max(a, b); });
    if (longest > elements_max) continue;
    cases.push_back(std::move(c));
    ++made;
  }
}

/// Returns small legal cases of every operation of a family. On sim they cover all algorithms.
/// Elsewhere they cover only the first algorithm of each operation, because a change of algorithm
/// may start new processes.
std::vector<Case> small_cases(const harness::Catalogue& catalogue,
                              harness::Backend& backend,
                              const std::string& backend_name,
                              std::string_view of_family) {
  std::vector<Case> cases;
  std::string last;
  for (const harness::AlgorithmInfo& each : backend.algorithms()) {
    if (backend_name != "sim" && each.operation == last) continue;
    last = each.operation;
    harness::Unit unit;
    unit.operation = each.operation;
    unit.algorithm = each.name;
    unit.backend = backend_name;
    unit.property = "agrees_with_reference";
    unit.ranks_max = ranks_of(backend_name);
    if (family(catalogue.find(unit.operation)->contract) != of_family) continue;
    if (catalogue.find_property(unit.operation, unit.property) == nullptr) continue;
    add_cases_of(catalogue, backend, unit, cases);
  }
  if (cases.empty()) throw std::runtime_error(backend_name + " supports no small case");
  return cases;
}

/// The state for verifying one case after another.
struct Cases {
  Cases(harness::Backend& backend, const std::string& backend_name, std::string_view of_family)
      : catalogue(make_catalogue()),
        cases(small_cases(catalogue, backend, backend_name, of_family)),
        examiner(catalogue, backend) {}

  harness::Catalogue catalogue;
  std::vector<Case> cases;
  harness::Examiner examiner;
  harness::Judgement judgement;
  std::size_t next = 0;

  double verify_next() {
    const Case& c = cases[next++ % cases.size()];
    const auto start = std::chrono::steady_clock::now();
    examiner.examine(c, judgement);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    // A sum can cancel so strongly that its bound is too wide to check anything. Such a case counts
    // too.
    const bool is_blind = !judgement.blind_output.empty();
    if (judgement.verdict == harness::Verdict::passed || is_blind) return took.count();
    throw std::runtime_error(to_text(c) + ": " + judgement.reason);
  }
};

}  // namespace

void add_small_cases(Bench& bench, const std::string& backend) {
  const auto add = [&](std::string_view name, std::string_view of_family) {
    bench.add({.name = std::string(name) + "/" + backend,
               .backend = backend,
               .prepare = [&bench, backend, of_family]() -> Run {
                 const auto all =
                     std::make_shared<Cases>(bench.backend(backend), backend, of_family);
                 return [all] { return all->verify_next(); };
               }});
  };
  add("cases", "collectives");
  // NCCL has no operators.
  if (backend != "nccl") add("operators", "ptycho");
}

}  // namespace rankcheck::cases::bench

#pragma once

#include <string_view>
#include <vector>

#include "harness/backend.hpp"
#include "harness/engine.hpp"
#include "harness/finding.hpp"
#include "harness/operation.hpp"

#include "cases/backends/sim.hpp"
#include "cases/planted/bug.hpp"

namespace rankcheck::cases::planted {

/// Appends the bugs of collectives: wrong plans, wrong arithmetic, other wrong results, and faults
/// of the machine.
void add_bugs_in_plans(std::vector<Bug>& out);
void add_bugs_in_values(std::vector<Bug>& out);
void add_bugs_in_results(std::vector<Bug>& out);
void add_bugs_in_machines(std::vector<Bug>& out);
/// Appends the bugs of operators: between the ranks, in what one rank computes, in the probe's
/// modes, in transforms, in slices, in partitions of scan positions, in halos, and in steps of
/// PIE, of the difference map and of other solvers.
void add_bugs_in_sums(std::vector<Bug>& out);
void add_bugs_in_operators(std::vector<Bug>& out);
void add_bugs_in_modes(std::vector<Bug>& out);
void add_bugs_in_spectra(std::vector<Bug>& out);
void add_bugs_in_slices(std::vector<Bug>& out);
void add_bugs_in_partitions(std::vector<Bug>& out);
void add_bugs_in_halos(std::vector<Bug>& out);
void add_bugs_in_pie(std::vector<Bug>& out);
void add_bugs_in_difference_maps(std::vector<Bug>& out);
void add_bugs_in_steps(std::vector<Bug>& out);

/// All bugs.
[[nodiscard]] std::vector<Bug> catalogue();

/// The simulator with one bug in it; every other algorithm is as it should be.
class Planted : public harness::Backend {
 public:
  /// `sound`: everything but the mistake is there, so that nothing may be found.
  explicit Planted(const Bug& bug, bool sound = false);
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;

  [[nodiscard]] const harness::BackendTraits& traits() const override { return sim_.traits(); }
  [[nodiscard]] std::vector<harness::AlgorithmInfo> algorithms() const override {
    return sim_.algorithms();
  }
  [[nodiscard]] std::string refuses(const harness::Case& c) const override {
    return sim_.refuses(c);
  }
  void run(std::span<const harness::Case> stages, harness::Observation& observation) override;
  void restart() override;

  /// From now on, operators run a second time without the mistake, to see what it changes.
  void watch() { watches_ = true; }
  /// Whether the mistake changed anything in the last run: a plan, a result, or a step of the
  /// machine. Of operators, see watch().
  [[nodiscard]] bool had_effect() const { return had_effect_; }

 private:
  [[nodiscard]] bool is_hit(const harness::Case& c) const;
  void edit(const harness::Case& c, gpu::plan::Plan& plan);
  void spoil(std::span<const harness::Case> stages,
             std::size_t stage,
             harness::Observation& observation);
  void attempt(const harness::Case& c, const OperatorCall& call);

  Bug bug_;
  bool sound_;
  std::vector<gpu::Implementation> implementations_;
  SimBackend sim_;
  std::int64_t runs_ = 0;
  std::int64_t attempts_ = 0;
  std::vector<harness::Image> kept_;
  std::vector<harness::Case> stages_;
  bool watches_ = false;
  bool had_effect_ = false;
};

/// What one property makes of a planted bug.
struct Hunt {
  harness::Finding finding;
  /// The bug had an effect on the minimal case.
  bool had_effect = false;
};

/// Elements of a case's blocks, all together.
[[nodiscard]] std::int64_t elements_of(const harness::Case& c);

struct HuntOptions {
  std::uint64_t seed = 1;
  /// Cases in which the bug has to show.
  int cases = 600;
  /// See Planted.
  bool sound = false;
};

/// Looks for the bug with one of the properties of its operation.
[[nodiscard]] Hunt hunt(const harness::Catalogue& catalogue,
                        const Bug& bug,
                        std::string_view property,
                        const HuntOptions& options = {});

/// What is wrong with the way in which the bug was caught by its property, in words; empty where
/// nothing is.
[[nodiscard]] std::string why_not_caught(const Bug& bug, const Hunt& hunt);

}  // namespace rankcheck::cases::planted

#pragma once

#include <string_view>
#include <vector>

#include "harness/backend/backend.hpp"
#include "harness/check/finding.hpp"
#include "harness/check/operation.hpp"
#include "harness/search/engine.hpp"

#include "cases/audit/bug.hpp"
#include "cases/backends/sim.hpp"

namespace rankcheck::cases::audit {

/// Appends the bugs of collectives: wrong plans, wrong arithmetic, other wrong results, machine
/// faults, mistakes with lists of arrays, along an axis, between groups and between repeated calls.
void add_bugs_in_plans(std::vector<Bug>& out);
void add_bugs_in_values(std::vector<Bug>& out);
void add_bugs_in_results(std::vector<Bug>& out);
void add_bugs_in_machines(std::vector<Bug>& out);
void add_bugs_in_lists(std::vector<Bug>& out);
void add_bugs_along_axis(std::vector<Bug>& out);
void add_bugs_in_calls(std::vector<Bug>& out);
/// Appends bugs that only calls after other calls have.
void add_bugs_in_histories(std::vector<Bug>& out);
/// Appends bugs of collectives that behave as published defects, see published.hpp.
void add_published_bugs(std::vector<Bug>& out);
/// Appends bugs that need several hosts, or elements that lie apart.
void add_host_bugs(std::vector<Bug>& out);
void add_stride_bugs(std::vector<Bug>& out);
/// Appends the bugs of operators. In the order of the functions below, the mistakes are:
/// - between the ranks,
/// - in the computation of one rank,
/// - in the probe's modes,
/// - in transforms,
/// - in slices,
/// - in partitions of scan positions,
/// - in halos,
/// - in steps of PIE and momentum, of the difference map and of other solvers.
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

/// Returns all bugs but those of huge buffers.
[[nodiscard]] std::vector<Bug> catalogue();
/// Returns the bugs that only buffers of more than 2^31 bytes show. Each takes 17 GB and minutes.
[[nodiscard]] std::vector<Bug> huge_bugs();

/// The simulator with one bug in it. All other algorithms are unchanged.
class Planted : public harness::Backend {
 public:
  /// `sound`: uses everything except the mistake, so no property may find anything.
  explicit Planted(const Bug& bug, bool sound = false);
  Planted(const Planted&) = delete;
  Planted& operator=(const Planted&) = delete;

  [[nodiscard]] const harness::BackendTraits& traits() const override { return traits_; }
  [[nodiscard]] std::vector<harness::AlgorithmInfo> algorithms() const override {
    return sim_.algorithms();
  }
  [[nodiscard]] std::string why_refused(const harness::Case& c) const override {
    return sim_.why_refused(c);
  }
  void run(std::span<const harness::Case> stages, harness::Observation& observation) override;
  void restart(int ranks) override;

  /// From now on, every operator also runs once without the mistake, so that had_effect() can
  /// compare the results.
  void watch() { watches_ = true; }
  /// Returns whether the mistake changed anything in the last run: a plan, a result, or a step of
  /// the machine. For bugs in operators, this is known only after watch().
  [[nodiscard]] bool had_effect() const { return had_effect_; }

 private:
  [[nodiscard]] bool is_hit(const harness::Case& c) const;
  void edit_plan(const harness::Case& c, gpu::plan::Plan& plan);
  void edit_groups(std::span<const harness::Case> stages, gpu::plan::Plan& merged);
  void edit_result(std::span<const harness::Case> stages,
                   std::size_t stage,
                   harness::Observation& observation);
  void replace_call(const harness::Case& c, const OperatorCall& call);

  Bug bug_;
  bool sound_;
  std::vector<gpu::Implementation> implementations_;
  SimBackend sim_;
  /// Only bugs of strides get cases with strides. Other bugs change buffers as if they were dense.
  harness::BackendTraits traits_;
  std::int64_t runs_ = 0;
  std::int64_t replaced_calls_ = 0;
  std::vector<harness::Image> kept_;
  std::vector<harness::Case> stages_;
  bool watches_ = false;
  bool had_effect_ = false;
};

/// The outcome of looking for a planted bug with one property.
struct Hunt {
  harness::Finding finding;
  /// The bug had an effect on the minimal case.
  bool had_effect = false;
};

/// Total number of elements in all blocks of a case.
[[nodiscard]] std::int64_t elements_of(const harness::Case& c);

struct HuntOptions {
  std::uint64_t seed = 1;
  /// The most cases to try. The bug must show in one of them.
  int cases = 600;
  /// See the constructor of Planted.
  bool sound = false;
  /// Whether the fields that the bug needs are switched off, see Bug::without.
  bool without = false;
};

/// Looks for the bug with one of the properties of its operation.
[[nodiscard]] Hunt hunt(const harness::Catalogue& catalogue,
                        const Bug& bug,
                        std::string_view property,
                        const HuntOptions& options = {});

/// Says in words what the search found although the fields that the bug needs were switched off.
/// Empty if it found nothing.
[[nodiscard]] std::string why_not_needed(const Bug& bug, const Hunt& without);

/// Says in words how the finding differs from what the bug requires (verdict, size of the minimal
/// case, text). Empty if nothing differs.
[[nodiscard]] std::string why_not_caught(const Bug& bug, const Hunt& hunt);

}  // namespace rankcheck::cases::audit

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/backend/backend.hpp"
#include "harness/base/random_source.hpp"
#include "harness/case/call_class.hpp"
#include "harness/case/case.hpp"
#include "harness/case/drawing.hpp"
#include "harness/case/family.hpp"
#include "harness/case/strata.hpp"
#include "harness/check/finding.hpp"
#include "harness/check/operation.hpp"

namespace rankcheck::harness {

/// One call class that a unit has to cover.
struct SiteCell {
  CallClass site;
  /// Number of cases that were drawn for the class.
  std::int64_t visits = 0;
  std::int64_t covered = 0;
  bool is_open = true;
  /// Whether a case of the class failed as a known defect says.
  bool is_known = false;
};

/// Number of cases that covered a cell, by the cell's name.
using Coverage = std::map<std::string, std::int64_t>;

/// Makes the cases of one unit, using only the operation's contract. Every case is legal, the
/// property applies to it, and the backend takes every stage of it. Cells are visited in turns,
/// each turn in a new order. Until a cell is covered, its cases have data to compare. Until all
/// call classes are covered, each case is drawn for a class that is not covered yet.
class Generator {
 public:
  /// Finds out which cells and call classes the backend takes. Cells in `covered`, from earlier
  /// rounds, are not open any more. Catalogue and backend must outlive the generator. Throws
  /// BadInput if the catalogue lacks the unit's operation or property.
  Generator(const Catalogue& catalogue,
            const Backend& backend,
            const Unit& unit,
            std::uint64_t seed,
            const Coverage& covered = {});

  /// The names of all cells that an operation has, and the names of the call classes that its
  /// contract admits.
  [[nodiscard]] static std::vector<std::string> cells_of(const spec::Contract& contract);

  /// Whether a unit has any case, taken by the backend or not. False if the contract, the property,
  /// the types and the ranks exclude all cases.
  [[nodiscard]] static bool has_cases(const Catalogue& catalogue,
                                      const Backend& backend,
                                      const Unit& unit);

  /// Writes the next case. `word` decides all random choices, and `size` (0 … 100) the case's
  /// size. Returns false if no legal case was found.
  bool next(std::uint64_t word, int size, Case& out);

  /// Counts a case that was run and holds. `compared`: an output, or what replaces it, was
  /// compared; false if the case has no output.
  void cover(const Case& c, bool compared);
  /// Notes a case that failed as a known defect says. It covers nothing.
  void note_known(const Case& c);

  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
  /// The cell of a case. Null if the unit has no such cell.
  [[nodiscard]] Cell* cell_of(const Case& c);
  [[nodiscard]] const std::vector<SiteCell>& sites() const { return sites_; }
  /// The names of cells and call classes whose legal cases are all refused by the backend.
  [[nodiscard]] const std::vector<std::string>& refused_cells() const { return refused_cells_; }
  /// Whether a case is legal, the property applies to it, and the backend takes every stage of it.
  [[nodiscard]] bool takes(const Case& c) { return can_run(c); }
  /// Number of draws that the backend refused, including those during construction.
  [[nodiscard]] std::int64_t refused() const { return refused_; }
  /// What the backend said of the first of them. Empty if it was not asked, because it has too few
  /// ranks or its declaration says enough.
  [[nodiscard]] const std::string& first_refusal() const { return first_refusal_; }

 private:
  /// Constructs a generator without cells.
  Generator(const Catalogue& catalogue, const Backend& backend, const Unit& unit);

  /// All cells of the operation with these types; with all types if `types` is empty.
  [[nodiscard]] static std::vector<Cell> all_cells(const spec::Contract& contract,
                                                   const std::vector<spec::Type>& types);
  /// Whether the declaration of the backend has the cell's type and variant.
  [[nodiscard]] bool is_offered(const Cell& cell) const;
  /// Whether some case of the cell can be run.
  bool can_cover(std::size_t cell);
  void find_cells();
  /// Leaves the cells of the first of these types that has any.
  void keep_first_type(const std::vector<spec::Type>& types);
  void find_sites();
  [[nodiscard]] static FeatureWeights choose_weights(RandomSource& random);
  /// Whether the cell is not covered yet, or can have inputs of an open call class that few cells
  /// can have.
  [[nodiscard]] bool is_wanted(const Cell& cell) const;
  /// Returns the index of the next cell.
  std::size_t next_cell();
  /// The next open call class that a case of `cell` may have. Null if there is none.
  const CallClass* next_goal(const Cell& cell);

  /// Draws a bounded number of times until a case can be run and, if there is a goal, belongs to
  /// it.
  bool draw_legal(
      RandomSource& random, std::size_t cell, int size, const CallClass* goal, Case& out);
  void draw_case(const Drawing& drawing, Case& out) const;
  /// Makes one case in many large. The decision takes no number from the case's own source, so that
  /// all other cases stay what they would be without large ones.
  void enlarge_some(Case& c) const;
  /// Gives a part of the case a size at a stratum. A case whose images would be too large gets
  /// fewer members. Returns false if it cannot be enlarged.
  bool enlarge(RandomSource& random, const Stratum& stratum, Case& c) const;
  /// Gives a case of the goal what the goal needs.
  void strive(const CallClass& goal, RandomSource& random, Case& c) const;
  /// Gives the case the unit's hosts. If there are none, gives hosts to one case in several, and
  /// takes no number from the case's own source.
  void spread_over_hosts(Case& c) const;
  /// Draws the calls that the case's ranks make before it, if the property has any.
  void draw_earlier(int size, Case& c);
  /// Makes a call of a smaller or larger world one of the case's ranks.
  [[nodiscard]] Case in_world_of(const Case& c, RandomSource& random, const Case& call) const;
  /// A source of earlier calls: of any operation of the family that the backend has.
  [[nodiscard]] Generator& source_of_earlier(RandomSource& random);
  /// Decides when, how often and with which strides the call is made, and gives the fields of
  /// Unit::fixed their values.
  void vary_manner(Case& c) const;
  /// Gives the case the unit's count, and nothing else that takes memory or time.
  void make_huge(Case& c) const;
  /// Changes the case until the declaration of the backend has it. Returns false if it then misses
  /// the goal.
  [[nodiscard]] bool fit(const CallClass* goal, Case& c);
  [[nodiscard]] int draw_ranks(RandomSource& random) const;
  void draw_group(RandomSource& random, Case& out) const;
  void draw_site(const Drawing& drawing, Case& out) const;

  /// Whether the case is legal, the property applies to it, and the backend takes every stage.
  [[nodiscard]] bool can_run(const Case& c);
  /// Whether the last refusal was about what all cases of the unit have.
  [[nodiscard]] bool is_about_unit() const;
  /// Whether the last refusal was about what no repair changes. To ask a worker in vain takes time.
  [[nodiscard]] bool is_beyond_repair() const;
  /// Changes the case until it can be run. Returns false if this fails or if the case then misses
  /// the goal.
  [[nodiscard]] bool adapt(const CallClass* goal, Case& c);

  const Catalogue& catalogue_;
  const Backend& backend_;
  const Operation& operation_;
  const Family& family_;
  const Property& property_;
  /// What the backend declared about the unit's algorithm. May be null.
  const Capabilities* capabilities_;
  Case base_;
  int ranks_min_;
  int ranks_max_;
  /// If above 0: the count of every case.
  std::int64_t count_;
  /// See Unit::blocks.
  std::vector<std::int64_t> blocks_;
  /// The hosts of every case. Empty: see spread_over_hosts().
  std::vector<int> hosts_;
  /// See Unit::fixed.
  nlohmann::json fixed_;
  std::uint64_t seed_ = 0;
  /// Whether cases may have chunks. Becomes false if no case of the call class site/chunked was
  /// found.
  bool in_chunks_ = true;
  FeatureWeights weights_{};
  std::vector<Cell> cells_;
  std::vector<SiteCell> sites_;
  std::size_t next_site_ = 0;
  std::vector<std::size_t> order_;
  std::uint64_t drawn_ = 0;
  std::int64_t refused_ = 0;
  std::vector<std::string> refused_cells_;
  /// The first cases have at least this many members and have data, as far as the property and the
  /// backend allow. This ends when such a case was compared, or after a few cases.
  int ranks_required_ = 1;
  bool needs_ranks_ = false;
  std::vector<Case> stages_;
  /// Where earlier calls of each operation are drawn from, by its name. Null until the first one is
  /// drawn, and empty until the first one of any operation is.
  std::map<std::string, std::unique_ptr<Generator>> earlier_;
  /// What the backend last said of a case that it refused: "op: NCCL has no ...".
  std::string refusal_;
  std::string first_refusal_;
};

}  // namespace rankcheck::harness

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/backend.hpp"
#include "harness/case.hpp"
#include "harness/finding.hpp"
#include "harness/operation.hpp"
#include "harness/site_class.hpp"

namespace rankcheck::harness {

/// A 64-bit hash of both arguments, the same on every machine.
[[nodiscard]] std::uint64_t mix(std::uint64_t a, std::uint64_t b);

/// Random choices from a 64-bit seed (SplitMix64 and integer arithmetic): the same everywhere.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : state_(seed) {}

  /// Any 64 bits.
  std::uint64_t next();
  /// A number in 0 … limit-1; limit > 0.
  std::int64_t below(std::int64_t limit);
  /// A number in least … most.
  std::int64_t between(std::int64_t least, std::int64_t most);
  /// True in `weight` of 256 cases.
  bool chance(int weight) { return below(256) < weight; }
  /// A number in least … most whose logarithm is spread evenly; least > 0.
  std::int64_t log_between(std::int64_t least, std::int64_t most);

 private:
  std::uint64_t state_;
};

/// One (type, op) that a unit has to cover.
struct Cell {
  spec::Type type = spec::Type::f32;
  spec::ReduceOp op = spec::ReduceOp::none;
  /// The kinds of input that are defined for the pair; every visit takes the next one.
  std::vector<InputKind> kinds;
  std::int64_t visits = 0;
  /// Cases that were run and compared.
  std::int64_t covered = 0;
  /// No case of any round has covered it yet.
  bool is_open = true;

  /// "<type>/<op>".
  [[nodiscard]] std::string name() const;
};

/// One class of call sites that a unit has to cover.
struct SiteCell {
  SiteClass site;
  /// Cases that were drawn for it.
  std::int64_t visits = 0;
  std::int64_t covered = 0;
  bool is_open = true;
};

/// Cell -> cases that covered it.
using Coverage = std::map<std::string, std::int64_t>;

/// Makes the cases of one unit, by the operation's contract alone. Every case is legal, the
/// property says something about it, and the backend takes every stage of it. Cells are visited in
/// turns, each turn in a new order; until a cell is covered, its cases have data to compare. Until
/// all site classes are covered, each case is drawn for one that is not.
class Generator {
 public:
  /// Finds out which cells and site classes the backend takes; what earlier rounds `covered` is not
  /// open any more. Catalogue and backend must outlive the generator, and the catalogue must have
  /// the unit's operation and property.
  Generator(const Catalogue& catalogue,
            const Backend& backend,
            const Unit& unit,
            std::uint64_t seed,
            const Coverage& covered = {});

  /// The names of all cells that an operation has: "<type>/<op>", and those of the classes that its
  /// contract admits.
  [[nodiscard]] static std::vector<std::string> cells_of(const spec::Contract& contract);

  /// Whether a unit has any case, taken by the backend or not: false where the contract, the
  /// property, the types and the ranks exclude all.
  [[nodiscard]] static bool has_cases(const Catalogue& catalogue,
                                      const Backend& backend,
                                      const Unit& unit);

  /// Writes the next case; `word` decides what is left open, `size` 0 … 100 how large it gets.
  /// False where no legal case was found.
  bool next(std::uint64_t word, int size, Case& out);

  /// Counts a case that was run and holds. `compared`: an output, or what stands for it, was; else
  /// the case has none.
  void cover(const Case& c, bool compared);

  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
  [[nodiscard]] const std::vector<SiteCell>& sites() const { return sites_; }
  /// The names of cells and site classes that have legal cases, all of which the backend refuses.
  [[nodiscard]] const std::vector<std::string>& refused_cells() const { return refused_cells_; }
  /// Whether a case is legal, the property says something about it, and the backend takes every
  /// stage of it.
  [[nodiscard]] bool takes(const Case& c) { return can_run(c); }
  /// Draws that the backend did not take, also while the cells were looked for.
  [[nodiscard]] std::int64_t refused() const { return refused_; }

  /// Cases with this many elements in a block are made now and then.
  static constexpr std::int64_t elements_max = 4096;

 private:
  /// What a case may have beyond ranks, sizes and inputs. A batch of cases enables a random part of
  /// it, with very different weights (swarm testing).
  enum class Feature : std::uint8_t { group, in_place, offset, gap, chunk, empty, large, schedule };
  static constexpr std::size_t features = 8;
  using Weights = std::array<int, features>;

  /// What one draw has to respect.
  struct Draw {
    int size = 0;
    /// Above 0: so many, all of the world.
    int ranks = 0;
    bool has_data = false;
    /// Up to elements_max whatever the features: some implementations take nothing small.
    bool large = false;
    /// A scene beyond what a kernel takes at a time.
    bool large_scene = false;
    Weights weights{};
  };

  /// Without any cells.
  Generator(const Catalogue& catalogue, const Backend& backend, const Unit& unit);

  /// All cells that the operation has with these types, with all where there are none.
  [[nodiscard]] static std::vector<Cell> all_cells(const spec::Contract& contract,
                                                   const std::vector<spec::Type>& types);
  /// Whether a case of the cell can be run.
  bool can_cover(std::size_t cell);
  void find_cells();
  void find_sites();
  [[nodiscard]] static Weights choose_weights(Choices& choices);
  [[nodiscard]] static bool enabled(Feature feature, const Draw& draw, Choices& choices);
  /// Whether cases of the cell are still missing, or an input that only few cells can have.
  [[nodiscard]] bool is_wanted(const Cell& cell) const;
  /// The index of the cell whose turn it is.
  std::size_t next_cell();
  /// The open site class whose turn it is and that a case of `cell` may have; null where none is.
  const SiteClass* next_goal(const Cell& cell);

  /// Draws until a case can be run, and has the goal where there is one, a bounded number of times.
  bool draw_legal(Choices& choices, std::size_t cell, int size, const SiteClass* goal, Case& out);
  void draw_case(Choices& choices, const Draw& draw, Case& out) const;
  [[nodiscard]] int draw_ranks(Choices& choices) const;
  void draw_group(Choices& choices, Case& out) const;
  [[nodiscard]] std::int64_t draw_limit(Choices& choices, const Draw& draw) const;
  [[nodiscard]] std::int64_t draw_count(Choices& choices,
                                        const Draw& draw,
                                        std::int64_t ranks,
                                        std::int64_t limit) const;
  void draw_counts(Choices& choices, const Draw& draw, Case& out) const;
  void draw_scene(Choices& choices, const Draw& draw, Case& out) const;
  void draw_large_scene(Choices& choices, Case& out) const;
  void draw_tiles(Choices& choices, Case& out) const;
  void draw_site(Choices& choices, const Draw& draw, Case& out) const;

  /// Whether the case is legal, the property applies and the backend takes every stage.
  [[nodiscard]] bool can_run(const Case& c);
  /// Bends the case until it can be run; false where that fails, or where it then lacks the goal.
  [[nodiscard]] bool adapt(const SiteClass* goal, Case& c);

  const Catalogue& catalogue_;
  const Backend& backend_;
  const Operation& operation_;
  const Property& property_;
  Case base_;
  int ranks_min_;
  int ranks_max_;
  std::uint64_t seed_ = 0;
  /// Cases may have chunks: until their site class was looked for in vain.
  bool in_chunks_ = true;
  Weights weights_{};
  std::vector<Cell> cells_;
  std::vector<SiteCell> sites_;
  std::size_t next_site_ = 0;
  std::vector<std::size_t> order_;
  std::uint64_t drawn_ = 0;
  std::int64_t refused_ = 0;
  std::vector<std::string> refused_cells_;
  /// The first cases have so many members and data, until one of them was compared, as far as the
  /// property and the backend let them.
  int ranks_required_ = 1;
  bool needs_ranks_ = false;
  std::vector<Case> stages_;
};

}  // namespace rankcheck::harness

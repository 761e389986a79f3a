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

/// Random choices from a 64-bit seed, with SplitMix64 and integer arithmetic. They are the same on
/// every machine.
class Choices {
 public:
  explicit Choices(std::uint64_t seed) : state_(seed) {}

  /// Returns 64 random bits.
  std::uint64_t next();
  /// A number in 0 … limit-1; limit > 0.
  std::int64_t below(std::int64_t limit);
  /// A number in least … most.
  std::int64_t between(std::int64_t least, std::int64_t most);
  /// Returns true with a probability of `weight` / 256.
  bool chance(int weight) { return below(256) < weight; }
  /// A number in least … most, with an evenly distributed logarithm; least > 0.
  std::int64_t log_between(std::int64_t least, std::int64_t most);

 private:
  std::uint64_t state_;
};

/// One pair (type, op) that a unit has to cover.
struct Cell {
  spec::Type type = spec::Type::f32;
  spec::ReduceOp op = spec::ReduceOp::none;
  /// The kinds of input that are defined for the pair. Every visit takes the next kind.
  std::vector<InputKind> kinds;
  std::int64_t visits = 0;
  /// Number of cases that were run and compared.
  std::int64_t covered = 0;
  /// Whether no case of any round has covered the cell yet.
  bool is_open = true;

  /// "<type>/<op>".
  [[nodiscard]] std::string name() const;
};

/// One class of call sites that a unit has to cover.
struct SiteCell {
  SiteClass site;
  /// Number of cases that were drawn for the class.
  std::int64_t visits = 0;
  std::int64_t covered = 0;
  bool is_open = true;
};

/// Number of cases that covered a cell, by the cell's name.
using Coverage = std::map<std::string, std::int64_t>;

/// Makes the cases of one unit, using only the operation's contract. Every case is legal, the
/// property applies to it, and the backend takes every stage of it. Cells are visited in turns,
/// each turn in a new order. Until a cell is covered, its cases have data to compare. Until all
/// site classes are covered, each case is drawn for a class that is not covered yet.
class Generator {
 public:
  /// Finds out which cells and site classes the backend takes. Cells in `covered`, from earlier
  /// rounds, are not open any more. Catalogue and backend must outlive the generator. Throws
  /// BadInput if the catalogue lacks the unit's operation or property.
  Generator(const Catalogue& catalogue,
            const Backend& backend,
            const Unit& unit,
            std::uint64_t seed,
            const Coverage& covered = {});

  /// The names of all cells that an operation has: "<type>/<op>", and the names of the site classes
  /// that its contract admits.
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

  [[nodiscard]] const std::vector<Cell>& cells() const { return cells_; }
  [[nodiscard]] const std::vector<SiteCell>& sites() const { return sites_; }
  /// The names of cells and site classes whose legal cases are all refused by the backend.
  [[nodiscard]] const std::vector<std::string>& refused_cells() const { return refused_cells_; }
  /// Whether a case is legal, the property applies to it, and the backend takes every stage of it.
  [[nodiscard]] bool takes(const Case& c) { return can_run(c); }
  /// Number of draws that the backend refused, including those during construction.
  [[nodiscard]] std::int64_t refused() const { return refused_; }

  /// Some cases have up to this many elements in a block.
  static constexpr std::int64_t elements_max = 4096;

 private:
  /// Features that a case may have beyond ranks, sizes and inputs. A batch of cases enables a
  /// random part of them, with very different weights (swarm testing).
  enum class Feature : std::uint8_t { group, in_place, offset, gap, chunk, empty, large, schedule };
  static constexpr std::size_t features = 8;
  using Weights = std::array<int, features>;

  /// Conditions for one draw.
  struct Draw {
    int size = 0;
    /// If above 0: the number of ranks; the group is the whole world.
    int ranks = 0;
    bool has_data = false;
    /// Allows up to elements_max elements whatever the weights say: some implementations take no
    /// small calls.
    bool large = false;
    /// Makes a scene that is larger than a kernel handles at a time.
    bool large_scene = false;
    Weights weights{};
  };

  /// Constructs a generator without cells.
  Generator(const Catalogue& catalogue, const Backend& backend, const Unit& unit);

  /// All cells of the operation with these types; with all types if `types` is empty.
  [[nodiscard]] static std::vector<Cell> all_cells(const spec::Contract& contract,
                                                   const std::vector<spec::Type>& types);
  /// Whether some case of the cell can be run.
  bool can_cover(std::size_t cell);
  void find_cells();
  void find_sites();
  [[nodiscard]] static Weights choose_weights(Choices& choices);
  [[nodiscard]] static bool enabled(Feature feature, const Draw& draw, Choices& choices);
  /// Whether the cell is not covered yet, or can have inputs of an open site class that few cells
  /// can have.
  [[nodiscard]] bool is_wanted(const Cell& cell) const;
  /// Returns the index of the next cell.
  std::size_t next_cell();
  /// The next open site class that a case of `cell` may have. Null if there is none.
  const SiteClass* next_goal(const Cell& cell);

  /// Draws a bounded number of times until a case can be run and, if there is a goal, belongs to
  /// it.
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

  /// Whether the case is legal, the property applies to it, and the backend takes every stage.
  [[nodiscard]] bool can_run(const Case& c);
  /// Changes the case until it can be run. Returns false if this fails or if the case then misses
  /// the goal.
  [[nodiscard]] bool adapt(const SiteClass* goal, Case& c);

  const Catalogue& catalogue_;
  const Backend& backend_;
  const Operation& operation_;
  const Property& property_;
  Case base_;
  int ranks_min_;
  int ranks_max_;
  std::uint64_t seed_ = 0;
  /// Whether cases may have chunks. Becomes false if no case of the site class site/chunked was
  /// found.
  bool in_chunks_ = true;
  Weights weights_{};
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
};

}  // namespace rankcheck::harness

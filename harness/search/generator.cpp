#include "harness/search/generator.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "reference/spec/to_size.hpp"

#include "harness/backend/call_classes.hpp"
#include "harness/backend/capabilities.hpp"
#include "harness/base/hash.hpp"
#include "harness/base/shuffle.hpp"
#include "harness/case/case_field.hpp"

namespace rankcheck::harness {

namespace {

using spec::Type;

/// Number of consecutive cases that share one choice of weights.
constexpr std::uint64_t batch_cases = 16;
/// Maximum number of draws for one case of a cell.
constexpr int attempts_max = 256;
/// Number of these draws after which large calls are tried too.
constexpr int small_attempts = 32;
/// Maximum number of draws for one case of a call class; then the class has to wait. Every class
/// that can occur does so in any draw with a chance of at least one in ten.
constexpr int goal_attempts = 64;
/// Number of cases for a call class after which it may get only every eighth case.
constexpr int patience = 8;
/// Size of the cases that test what a backend takes.
constexpr int trial_size = 50;

/// The weights, out of 256, from which a batch chooses one for each feature.
constexpr std::array<std::array<int, 4>, 8> swarm_weights{{
    {0, 32, 128, 240},   // group
    {0, 64, 128, 255},   // in_place
    {0, 16, 64, 255},    // offset
    {0, 0, 32, 160},     // gap
    {0, 64, 128, 255},   // chunk
    {0, 8, 48, 160},     // empty
    {0, 2, 6, 24},       // large
    {0, 128, 255, 255},  // schedule
}};

/// Returns the operation of a unit. Throws BadInput if the catalogue lacks it or its property.
const Operation& operation_of(const Catalogue& catalogue, const Unit& unit) {
  const std::string why = why_unknown(catalogue, unit.operation, unit.property);
  if (!why.empty()) throw BadInput(why);
  return *catalogue.find(unit.operation);
}

/// After so many refusals that no repair helps, a cell is given up for this time.
constexpr int hopeless_max = 8;

/// Whether the backend refused the cell itself.
bool is_about_cell(const std::string& refusal) {
  return refusal.starts_with("op:") || refusal.starts_with("type:");
}

/// Whether the backend refused what all cases of the unit have, or all cases of the goal.
bool is_final(const std::string& refusal, const CallClass* goal) {
  if (refusal.starts_with("property:")) return true;
  return goal != nullptr && !goal->field.empty() && refusal.starts_with(goal->field);
}

/// The most chunks of a block. Each one is a step of every rank, and the simulator compares steps.
constexpr std::int64_t chunks_max = 512;

/// The fields that a refusal names before its colon, as in "chunk: NCCL chooses its own". Empty if
/// it names anything else.
std::vector<const Field<Case>*> named_fields(std::string_view refusal, const Family& family) {
  std::vector<const Field<Case>*> fields;
  std::string_view rest = refusal.substr(0, std::min(refusal.find(':'), refusal.size()));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(", "), rest.size());
    fields.push_back(find_field(rest.substr(0, end), &family));
    if (fields.back() == nullptr) return {};
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return fields;
}

/// Whether a change of the case may undo the refusal.
bool may_mend(std::string_view refusal, const Family& family, const Case& c, const Case& changed) {
  const std::vector<const Field<Case>*> fields = named_fields(refusal, family);
  return fields.empty() || std::ranges::any_of(fields, [&](const auto* field) {
           return field->value(c) != field->value(changed);
         });
}

/// Changes that remove something that a backend may not take, the smallest loss first.
constexpr std::array<void (*)(const Family&, Case&), 9> repairs{
    [](const Family& family, Case& c) { family.make_dense(c); },
    [](const Family&, Case& c) { c.late = -1; },
    [](const Family&, Case& c) { c.chunk = 0; },
    [](const Family&, Case& c) { c.schedule = "in_order"; },
    [](const Family& family, Case& c) { family.simplify(c); },
    [](const Family&, Case& c) { c.offset = 0; },
    [](const Family&, Case& c) {
      if (!c.counts.empty()) std::ranges::fill(c.counts, std::ranges::max(c.counts));
    },
    [](const Family&, Case& c) { c.in_place = false; },
    [](const Family&, Case& c) {
      if (!c.group.empty()) c.ranks = group_size(c);
      c.group.clear();
    },
};

}  // namespace

Generator::Generator(const Catalogue& catalogue, const Backend& backend, const Unit& unit)
    : catalogue_(catalogue),
      backend_(backend),
      operation_(operation_of(catalogue, unit)),
      family_(family_of(operation_.contract)),
      property_(*catalogue.find_property(unit.operation, unit.property)),
      capabilities_(backend.capabilities(unit.operation, unit.algorithm)),
      ranks_min_(std::max(unit.ranks_min, 1)),
      ranks_max_(std::min(unit.ranks_max, backend.traits().ranks_max)),
      count_(unit.count),
      blocks_(unit.blocks),
      hosts_(unit.hosts),
      fixed_(nlohmann::json::parse(unit.fixed)) {
  base_.operation = unit.operation;
  base_.property = unit.property;
  base_.backend = unit.backend;
  base_.algorithm = unit.algorithm;
  if (capabilities_ != nullptr) {
    // Worlds may be larger than the group that makes the call, but hardly need to be.
    ranks_max_ = std::min(ranks_max_, capabilities_->ranks_max());
    ranks_min_ = std::max(ranks_min_, capabilities_->ranks_min());
  }
  if (ranks_min_ > ranks_max_) ++refused_;
}

Generator::Generator(const Catalogue& catalogue,
                     const Backend& backend,
                     const Unit& unit,
                     std::uint64_t seed,
                     const Coverage& covered)
    : Generator(catalogue, backend, unit) {
  seed_ = seed;
  if (ranks_min_ <= ranks_max_) cells_ = all_cells(operation_.contract, unit.types);
  find_cells();
  if (count_ > 0) keep_first_type(unit.types);
  find_sites();
  for (Cell& cell : cells_) cell.is_open = !covered.contains(cell.name());
  for (SiteCell& cell : sites_) cell.is_open = !covered.contains(cell.site.name);
  ranks_required_ = std::min(unit.ranks_required, ranks_max_);
  needs_ranks_ = ranks_required_ > 1;
}

bool Generator::has_cases(const Catalogue& catalogue, const Backend& backend, const Unit& unit) {
  Generator generator(catalogue, backend, unit);
  if (generator.refused_ > 0) return true;
  generator.cells_ = all_cells(generator.operation_.contract, unit.types);
  for (std::size_t i = 0; i < generator.cells_.size(); ++i) {
    if (generator.can_cover(i) || generator.refused_ > 0) return true;
  }
  return false;
}

std::vector<std::string> Generator::cells_of(const spec::Contract& contract) {
  std::vector<std::string> names;
  for (const Cell& each : all_cells(contract, {})) names.push_back(each.name());
  BackendTraits any;
  any.has_schedules = true;
  any.has_streams = true;
  any.has_strides = true;
  any.has_delays = true;
  any.draws_hosts = true;
  for (const CallClass& each : call_classes(contract, any, 1, counted_ranks_max)) {
    names.push_back(each.name);
  }
  return names;
}

std::vector<Cell> Generator::all_cells(const spec::Contract& contract,
                                       const std::vector<Type>& types) {
  std::vector<Cell> all = family_of(contract).cells(contract);
  std::erase_if(all, [&](const Cell& each) {
    return !types.empty() && std::ranges::count(types, each.type) == 0;
  });
  // If there are no buffers, the type makes no difference.
  if (!contract.has_buffers && all.size() > 1) all.erase(all.begin() + 1, all.end());
  return all;
}

bool Generator::is_offered(const Cell& cell) const {
  if (capabilities_ == nullptr) return true;
  Case trial = base_;
  trial.type = cell.type;
  family_.set_variant(cell.variant, trial);
  capabilities_->fit(trial);
  return trial.type == cell.type && family_.variant(trial) == cell.variant;
}

bool Generator::can_cover(std::size_t cell) {
  constexpr int rounds = 4;
  Case trial;
  // Tries plain cases first, then any cases.
  weights_ = {};
  if (!is_offered(cells_[cell])) {
    ++refused_;
    return false;
  }
  for (int round = 0; round < rounds; ++round) {
    RandomSource random(mix(mix(seed_, cell), static_cast<std::uint64_t>(round)));
    if (draw_legal(random, cell, trial_size, nullptr, trial)) return true;
    if (is_about_cell(refusal_)) return false;
    weights_ = choose_weights(random);
  }
  return false;
}

void Generator::find_cells() {
  // What all cases of the unit have is refused for all cells, if it is refused for so many of them
  // and taken for none.
  constexpr int refusals_max = 4;
  int refusals = 0;
  std::vector<Cell> kept;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const bool is_given_up = kept.empty() && refusals >= refusals_max;
    const std::int64_t refused = refused_;
    refusal_.clear();
    if (!is_given_up && can_cover(i)) {
      kept.push_back(cells_[i]);
      continue;
    }
    if (is_given_up || refused_ > refused) refused_cells_.push_back(cells_[i].name());
    refusals += is_about_unit() ? 1 : 0;
  }
  cells_.swap(kept);
}

void Generator::keep_first_type(const std::vector<Type>& types) {
  const auto has = [&](Type type) {
    return std::ranges::find(cells_, type, &Cell::type) != cells_.end();
  };
  const auto first = std::ranges::find_if(types, has);
  if (first != types.end())
    std::erase_if(cells_, [&](const Cell& each) { return each.type != *first; });
}

void Generator::find_sites() {
  constexpr std::size_t cells_tried = 4;
  Case trial;
  BackendTraits traits = backend_.traits();
  traits.draws_hosts |= !hosts_.empty();
  for (const CallClass& site : call_classes(operation_.contract, traits, ranks_min_, ranks_max_)) {
    if (site.bytes > 0 && std::ranges::count(blocks_, site.bytes) == 0) continue;
    std::vector<std::size_t> cells;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      if (site.may_have(cells_[i])) cells.push_back(i);
    }
    RandomSource random(mix(seed_, hash_of(site.name)));
    const std::int64_t refused = refused_;
    bool is_taken = false;
    const std::size_t tries = std::min(cells_tried, cells.size());
    for (std::size_t i = 0; i < tries; ++i) {
      const std::size_t cell = cells[i * cells.size() / tries];
      if (!draw_legal(random, cell, trial_size, &site, trial)) continue;
      sites_.push_back({.site = site});
      is_taken = true;
      break;
    }
    if (!is_taken && refused_ > refused) refused_cells_.push_back(site.name);
  }
  in_chunks_ = std::ranges::any_of(
      sites_, [](const SiteCell& each) { return each.site.name == "site/chunked"; });
}

FeatureWeights Generator::choose_weights(RandomSource& random) {
  FeatureWeights weights{};
  for (std::size_t f = 0; f < features; ++f) {
    weights[f] = swarm_weights[f][spec::to_size(random.below(4))];
  }
  return weights;
}

bool Generator::is_wanted(const Cell& cell) const {
  return cell.is_open || std::ranges::any_of(sites_, [&](const SiteCell& each) {
           return each.is_open && each.site.input && each.site.may_have(cell);
         });
}

std::size_t Generator::next_cell() {
  if (order_.empty()) {
    order_.resize(cells_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    RandomSource random(mix(seed_, ~drawn_));
    shuffle(random, order_);
    // The last cell is taken first. Cells that no round has covered yet go to the end, and so do
    // cells whose inputs can reach an open call class.
    std::stable_partition(
        order_.begin(), order_.end(), [&](std::size_t cell) { return !is_wanted(cells_[cell]); });
  }
  const std::size_t cell = order_.back();
  order_.pop_back();
  return cell;
}

const CallClass* Generator::next_goal(const Cell& cell) {
  const auto may_be_goal = [&](const SiteCell& each) {
    if (!each.is_open || !each.site.may_have(cell)) return false;
    // A cell whose cases fail as known may stay open to the end.
    if (each.site.is_empty() && cell.is_open && !cell.is_known) return false;
    // Limits a class whose cases cover nothing: it must not starve the other classes and the cells.
    // A class whose cases fail as known is not missed.
    return each.visits < (each.is_known ? 1 : patience) ||
           drawn_ % static_cast<std::uint64_t>(patience) == 0;
  };
  // Classes of a type's inputs come first, because few cells can have them.
  const auto of_type = std::ranges::find_if(
      sites_, [&](const SiteCell& each) { return each.site.input && may_be_goal(each); });
  SiteCell* found = of_type == sites_.end() ? nullptr : &*of_type;
  for (std::size_t tried = 0; found == nullptr && tried < sites_.size(); ++tried) {
    SiteCell& each = sites_[next_site_++ % sites_.size()];
    if (may_be_goal(each)) found = &each;
  }
  if (found == nullptr) return nullptr;
  ++found->visits;
  return &found->site;
}

bool Generator::next(std::uint64_t word, int size, Case& out) {
  if (drawn_ % batch_cases == 0) {
    RandomSource random(mix(seed_, drawn_ / batch_cases));
    weights_ = choose_weights(random);
  }
  ++drawn_;
  RandomSource random(word);
  needs_ranks_ = needs_ranks_ && drawn_ <= static_cast<std::uint64_t>(patience);
  for (std::size_t tried = 0; tried < cells_.size(); ++tried) {
    const std::size_t cell = next_cell();
    const CallClass* goal = needs_ranks_ ? nullptr : next_goal(cells_[cell]);
    const bool reached = goal != nullptr && draw_legal(random, cell, size, goal, out);
    if (!reached && !draw_legal(random, cell, size, nullptr, out)) continue;
    ++cells_[cell].visits;
    return true;
  }
  return false;
}

Cell* Generator::cell_of(const Case& c) {
  const int variant = family_.variant(c);
  const auto found = std::ranges::find_if(
      cells_, [&](const Cell& each) { return each.type == c.type && each.variant == variant; });
  return found == cells_.end() ? nullptr : &*found;
}

void Generator::cover(const Case& c, bool compared) {
  if (compared && group_size(c) >= ranks_required_) needs_ranks_ = false;
  const auto count = [](auto& cell) {
    ++cell.covered;
    cell.is_open = false;
  };
  Cell* const covered = compared ? cell_of(c) : nullptr;
  if (covered != nullptr) count(*covered);
  for (SiteCell& cell : sites_) {
    if ((compared || cell.site.is_empty()) && cell.site.has(c)) count(cell);
  }
}

void Generator::note_known(const Case& c) {
  if (Cell* const cell = cell_of(c)) cell->is_known = true;
  for (SiteCell& cell : sites_) {
    if (cell.site.has(c)) cell.is_known = true;
  }
}

bool Generator::draw_legal(
    RandomSource& random, std::size_t cell, int size, const CallClass* goal, Case& out) {
  const Cell& wanted = cells_[cell];
  const int attempts = goal == nullptr ? attempts_max : goal_attempts;
  const bool may_be_empty =
      !needs_ranks_ && (!wanted.is_open || (goal != nullptr && goal->is_empty()));
  Drawing drawing{.random = random, .size = size, .has_data = !may_be_empty, .weights = weights_};
  int hopeless = 0;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    drawing.large = attempt >= small_attempts;
    if (goal != nullptr) {
      drawing.weights = choose_weights(random);
      drawing.ranks = goal->ranks;
      drawing.goal = goal->name;
      if (goal->input) drawing.size = std::max(size, trial_size);
    }
    draw_case(drawing, out);
    out.type = wanted.type;
    family_.set_variant(wanted.variant, out);
    // The cell's index varies the start between cells, so that their first visits already use every
    // kind. The seed varies it between rounds.
    const std::uint64_t turn =
        static_cast<std::uint64_t>(wanted.visits + attempt) + cell + seed_ % 60;
    out.input = wanted.kinds[turn % wanted.kinds.size()];
    // If an earlier case did not cover the cell, its sum may have had no useful bound. The first
    // kind has the tightest bounds.
    if (wanted.is_open && wanted.visits > 0) out.input = wanted.kinds.front();
    if (goal != nullptr && goal->input) out.input = *goal->input;
    vary_manner(out);
    if (goal == nullptr && attempt == 0) enlarge_some(out);
    if (goal != nullptr) strive(*goal, random, out);
    if (count_ > 0) make_huge(out);
    family_.settle(operation_.contract, out);
    if (goal != nullptr && !goal->has(out)) continue;
    if (!fit(goal, out)) continue;
    // A property may be about a single rank, so only the first half of the attempts demands more
    // ranks.
    if (needs_ranks_ && attempt < attempts / 2 && group_size(out) < ranks_required_) continue;
    spread_over_hosts(out);
    draw_earlier(drawing.size, out);
    refusal_.clear();
    if (adapt(goal, out)) return true;
    hopeless += is_beyond_repair() ? 1 : 0;
    if (hopeless == hopeless_max || is_final(refusal_, goal)) return false;
  }
  return false;
}

bool Generator::fit(const CallClass* goal, Case& c) {
  if (capabilities_ == nullptr) return true;
  capabilities_->fit(c);
  if (goal == nullptr || goal->has(c)) return true;
  ++refused_;
  return false;
}

bool Generator::can_run(const Case& c) {
  if (!why_invalid(catalogue_, c).empty()) return false;
  stages_.clear();
  property_.program(operation_.contract, c, stages_);
  // A property may choose a chunk of its own. In a large block, there would be too many of them:
  // some libraries need 6 ms for each if there are more ranks than cores.
  const bool has_many_chunks = std::ranges::any_of(stages_, [](const Case& stage) {
    return stage.chunk > 0 && longest(stage) / stage.chunk > chunks_max;
  });
  if (has_many_chunks) return false;
  const bool taken = std::ranges::all_of(stages_, [&](const Case& stage) {
    refusal_ = backend_.why_refused(stage);
    return refusal_.empty();
  });
  if (taken) return true;
  ++refused_;
  if (first_refusal_.empty()) first_refusal_ = refusal_;
  return false;
}

bool Generator::is_about_unit() const {
  return refusal_.starts_with("algorithm:") || (!hosts_.empty() && refusal_.starts_with("hosts:"));
}

bool Generator::is_beyond_repair() const {
  return is_about_unit() || is_about_cell(refusal_);
}

bool Generator::adapt(const CallClass* goal, Case& c) {
  const auto cell = std::pair(c.type, family_.variant(c));
  const auto change_ranks = [&](Case& changed) {
    // The hosts of other ranks are not these.
    if (changed.hosts.size() != spec::to_size(changed.ranks)) changed.hosts.clear();
    std::erase_if(changed.earlier, [&](const Case& call) { return call.ranks != changed.ranks; });
    for (Case& call : changed.earlier) call.hosts = changed.hosts;
  };
  if (property_.adapt != nullptr) property_.adapt(operation_.contract, c);
  change_ranks(c);
  if (c.hosts.empty() && !hosts_.empty()) return false;
  if (std::pair(c.type, family_.variant(c)) != cell) return false;
  const auto has_goal = [&] { return goal == nullptr || goal->has(c); };
  if (!has_goal()) return false;
  const std::int64_t refused = refused_;
  if (can_run(c)) return true;
  if (refused_ == refused) return false;
  if (is_beyond_repair() || is_final(refusal_, goal)) return false;
  for (const auto repair : repairs) {
    Case mended = c;
    repair(family_, mended);
    if (mended == c || mended.ranks < ranks_min_) continue;
    if (!may_mend(refusal_, family_, c, mended)) continue;
    change_ranks(mended);
    c = mended;
    if (can_run(c)) return has_goal();
  }
  return false;
}

}  // namespace rankcheck::harness

#include "harness/generator.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "harness/hash.hpp"
#include "harness/input.hpp"
#include "harness/scene_input.hpp"

namespace rankcheck::harness {

namespace {

using spec::InPlace;
using spec::ReduceOp;
using spec::Sizes;
using spec::Type;

/// Cases that share one choice of features.
constexpr std::uint64_t batch_cases = 16;
/// Draws for one case before its cell is given up.
constexpr int attempts_max = 256;
/// Of them, those before large calls are tried too.
constexpr int small_attempts = 32;
/// Draws for one case of a site class before the class has to wait: in any draw, every class that
/// can occur does so with a chance of one in ten at least.
constexpr int goal_attempts = 64;
/// Cases for a site class before it has to do with every so manyth.
constexpr int patience = 8;
/// How large the cases are that show what a backend takes.
constexpr int probe_size = 50;

/// The weights, of 256, among which a batch chooses for each feature.
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

constexpr std::array<std::int64_t, 16> primes{
    2, 3, 5, 7, 11, 13, 17, 19, 23, 31, 37, 61, 127, 251, 509, 1021};

const Operation& operation_of(const Catalogue& catalogue, const Unit& unit) {
  const Operation* operation = catalogue.find(unit.operation);
  if (operation == nullptr) throw BadInput("operation: unknown name \"" + unit.operation + "\"");
  return *operation;
}

const Property& property_of(const Catalogue& catalogue, const Unit& unit) {
  const Property* property = catalogue.find_property(unit.operation, unit.property);
  if (property == nullptr) {
    throw BadInput("property: " + unit.operation + " claims no property \"" + unit.property + "\"");
  }
  return *property;
}

bool is_uneven(const spec::Contract& contract) {
  return contract.sizes == Sizes::counts_per_rank || contract.sizes == Sizes::counts_per_pair;
}

std::vector<InputKind> kinds_of(const spec::Contract& contract, Type type, ReduceOp op) {
  const bool of_scene = contract.sizes == Sizes::scene;
  std::vector<InputKind> kinds;
  for (const InputKind kind : {InputKind::coded,
                               InputKind::general,
                               InputKind::exact,
                               InputKind::special,
                               InputKind::cancelling,
                               InputKind::wide_range}) {
    if (of_scene ? is_defined(kind, contract) : is_defined(kind, type, op)) kinds.push_back(kind);
  }
  return kinds;
}

void shuffle(Choices& choices, auto& values) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1],
              values[static_cast<std::size_t>(choices.below(static_cast<std::int64_t>(i)))]);
  }
}

/// Bits of a positive number.
std::int64_t width(std::int64_t number) {
  return static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(number)));
}

std::int64_t power_and_neighbours(Choices& choices, std::int64_t limit) {
  return (std::int64_t{1} << choices.below(width(limit))) + choices.between(-1, 1);
}

/// Ways to do without something that a backend may not take, the least loss first.
constexpr std::array<void (*)(Case&), 6> repairs{
    [](Case& c) { c.chunk = 0; },
    [](Case& c) { c.schedule = "in_order"; },
    [](Case& c) { c.gap = 0; },
    [](Case& c) { c.offset = 0; },
    [](Case& c) { c.in_place = false; },
    [](Case& c) {
      if (!c.group.empty()) c.ranks = group_size(c);
      c.group.clear();
    },
};

}  // namespace

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  Choices choices(a);
  return Choices(choices.next() ^ b).next();
}

std::uint64_t Choices::next() {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

std::int64_t Choices::below(std::int64_t limit) {
  return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(limit));
}

std::int64_t Choices::between(std::int64_t least, std::int64_t most) {
  return least + below(most - least + 1);
}

std::int64_t Choices::log_between(std::int64_t least, std::int64_t most) {
  const std::int64_t first = std::int64_t{1} << (between(width(least), width(most)) - 1);
  return between(std::max(first, least), std::min(2 * first - 1, most));
}

std::string Cell::name() const {
  return std::string(spec::name(type)) + "/" + std::string(spec::name(op));
}

Generator::Generator(const Catalogue& catalogue, const Backend& backend, const Unit& unit)
    : catalogue_(catalogue),
      backend_(backend),
      operation_(operation_of(catalogue, unit)),
      property_(property_of(catalogue, unit)),
      ranks_min_(std::max(unit.ranks_min, 1)),
      ranks_max_(std::min(unit.ranks_max, backend.traits().ranks_max)) {
  base_.operation = unit.operation;
  base_.property = unit.property;
  base_.backend = unit.backend;
  base_.algorithm = unit.algorithm;
  if (ranks_min_ > ranks_max_) ++refused_;
  in_chunks_ = operation_.contract.sizes != Sizes::scene;
}

Generator::Generator(const Catalogue& catalogue,
                     const Backend& backend,
                     const Unit& unit,
                     std::uint64_t seed,
                     const Coverage& covered)
    : Generator(catalogue, backend, unit) {
  seed_ = seed;
  cells_ = all_cells(unit);
  find_cells();
  find_sites();
  for (Cell& cell : cells_) cell.is_open = !covered.contains(cell.name());
  for (SiteCell& cell : sites_) cell.is_open = !covered.contains(cell.site.cell());
}

bool Generator::has_cases(const Catalogue& catalogue, const Backend& backend, const Unit& unit) {
  Generator generator(catalogue, backend, unit);
  generator.cells_ = generator.all_cells(unit);
  if (generator.refused_ > 0) return true;
  for (std::size_t i = 0; i < generator.cells_.size(); ++i) {
    if (generator.can_cover(i) || generator.refused_ > 0) return true;
  }
  return false;
}

std::vector<Cell> Generator::all_cells(const Unit& unit) const {
  std::vector<Cell> all;
  if (ranks_min_ > ranks_max_) return all;
  for (const spec::TypeInfo& type : spec::type_table) {
    if (!unit.types.empty() && std::count(unit.types.begin(), unit.types.end(), type.type) == 0) {
      continue;
    }
    for (std::size_t i = 0; i < spec::reduce_op_names.size(); ++i) {
      const auto op = static_cast<ReduceOp>(i);
      if ((op != ReduceOp::none) != operation_.contract.reduces) continue;
      if (!spec::is_defined(op, type.type)) continue;
      const bool is_real = type.type == Type::f32 || type.type == Type::f64;
      if (operation_.contract.sizes == Sizes::scene && !is_real) continue;
      all.push_back(
          {.type = type.type, .op = op, .kinds = kinds_of(operation_.contract, type.type, op)});
    }
  }
  // Without buffers, types make no difference.
  if (operation_.contract.sizes == Sizes::none && all.size() > 1)
    all.erase(all.begin() + 1, all.end());
  return all;
}

bool Generator::can_cover(std::size_t cell) {
  constexpr int rounds = 4;
  Case probe;
  // Plain cases are tried first, then any.
  weights_ = {};
  for (int round = 0; round < rounds; ++round) {
    Choices choices(mix(mix(seed_, cell), static_cast<std::uint64_t>(round)));
    if (draw_legal(choices, cell, probe_size, nullptr, probe)) return true;
    weights_ = choose_weights(choices);
  }
  return false;
}

void Generator::find_cells() {
  std::vector<Cell> kept;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (can_cover(i)) kept.push_back(cells_[i]);
  }
  cells_.swap(kept);
}

void Generator::find_sites() {
  constexpr std::size_t cells_tried = 4;
  Case probe;
  for (const SiteClass& site : site_classes()) {
    if (!may_occur(site, operation_.contract, backend_.traits())) continue;
    Choices choices(mix(seed_, hash_of(site.name)));
    for (std::size_t i = 0; i < std::min(cells_tried, cells_.size()); ++i) {
      const std::size_t cell = i * cells_.size() / std::min(cells_tried, cells_.size());
      if (!draw_legal(choices, cell, probe_size, &site, probe)) continue;
      sites_.push_back({.site = site});
      break;
    }
  }
  in_chunks_ = std::any_of(sites_.begin(), sites_.end(), [](const SiteCell& each) {
    return each.site.name == "chunked";
  });
}

Generator::Weights Generator::choose_weights(Choices& choices) {
  Weights weights{};
  for (std::size_t f = 0; f < features; ++f) {
    weights[f] = swarm_weights[f][static_cast<std::size_t>(choices.below(4))];
  }
  return weights;
}

bool Generator::enabled(Feature feature, const Draw& draw, Choices& choices) {
  return choices.chance(draw.weights[static_cast<std::size_t>(feature)]);
}

std::size_t Generator::next_cell() {
  if (order_.empty()) {
    order_.resize(cells_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    Choices choices(mix(seed_, ~drawn_));
    shuffle(choices, order_);
    // The last comes first: cells that no round has covered yet do.
    std::stable_partition(
        order_.begin(), order_.end(), [&](std::size_t cell) { return !cells_[cell].is_open; });
  }
  const std::size_t cell = order_.back();
  order_.pop_back();
  return cell;
}

const SiteClass* Generator::next_goal(const Cell& cell) {
  for (std::size_t tried = 0; tried < sites_.size(); ++tried) {
    SiteCell& each = sites_[next_site_++ % sites_.size()];
    if (!each.is_open || (each.site.is_empty() && cell.is_open)) continue;
    // A class whose cases cover nothing must not starve the others and the cells.
    if (each.visits >= patience && drawn_ % static_cast<std::uint64_t>(patience) != 0) continue;
    ++each.visits;
    return &each.site;
  }
  return nullptr;
}

bool Generator::next(std::uint64_t word, int size, Case& out) {
  if (drawn_ % batch_cases == 0) {
    Choices choices(mix(seed_, drawn_ / batch_cases));
    weights_ = choose_weights(choices);
  }
  ++drawn_;
  Choices choices(word);
  for (std::size_t tried = 0; tried < cells_.size(); ++tried) {
    const std::size_t cell = next_cell();
    const SiteClass* goal = next_goal(cells_[cell]);
    const bool reached = goal != nullptr && draw_legal(choices, cell, size, goal, out);
    if (!reached && !draw_legal(choices, cell, size, nullptr, out)) continue;
    ++cells_[cell].visits;
    return true;
  }
  return false;
}

void Generator::cover(const Case& c, bool compared) {
  const auto count = [](auto& cell) {
    ++cell.covered;
    cell.is_open = false;
  };
  for (Cell& cell : cells_) {
    if (compared && cell.type == c.type && cell.op == c.op) count(cell);
  }
  for (SiteCell& cell : sites_) {
    if ((compared || cell.site.is_empty()) && cell.site.has(c)) count(cell);
  }
}

bool Generator::draw_legal(
    Choices& choices, std::size_t cell, int size, const SiteClass* goal, Case& out) {
  const Cell& wanted = cells_[cell];
  const int attempts = goal == nullptr ? attempts_max : goal_attempts;
  const bool may_be_empty = !wanted.is_open || (goal != nullptr && goal->is_empty());
  Draw draw{.size = size, .has_data = !may_be_empty, .weights = weights_};
  for (int attempt = 0; attempt < attempts; ++attempt) {
    draw.large = attempt >= small_attempts;
    if (goal != nullptr) draw.weights = choose_weights(choices);
    draw_case(choices, draw, out);
    out.type = wanted.type;
    out.op = wanted.op;
    // The index sets cells apart, so that already their first visits see every kind; the seed sets
    // rounds apart.
    const std::uint64_t turn =
        static_cast<std::uint64_t>(wanted.visits + attempt) + cell + seed_ % 60;
    out.input = wanted.kinds[turn % wanted.kinds.size()];
    if (goal != nullptr && !goal->has(out)) continue;
    if (!adapt(out)) continue;
    if (goal == nullptr || goal->has(out)) return true;
  }
  return false;
}

void Generator::draw_case(Choices& choices, const Draw& draw, Case& out) const {
  const spec::Contract& contract = operation_.contract;
  out = base_;
  out.ranks = draw_ranks(choices);
  if (enabled(Feature::group, draw, choices)) draw_group(choices, out);
  const int n = group_size(out);
  if (contract.rooted) out.root = static_cast<int>(choices.below(n));
  if (contract.sizes == Sizes::count) {
    out.count = draw_count(choices, draw, n, draw_limit(choices, draw));
  }
  if (is_uneven(contract)) draw_counts(choices, draw, out);
  if (contract.sizes == Sizes::scene) draw_scene(choices, draw, out);
  if (contract.patterned) {
    out.pattern = static_cast<spec::Pattern>(choices.below(3));
    if (out.pattern == spec::Pattern::ring) out.shift = static_cast<int>(choices.between(-n, n));
  }
  draw_site(choices, draw, out);
  out.data_seed = static_cast<std::uint64_t>(choices.between(1, 99999));
}

int Generator::draw_ranks(Choices& choices) const {
  std::int64_t ranks = 0;
  switch (choices.below(8)) {
    case 0:
    case 1:
    case 2:
      ranks = choices.between(1, 3);
      break;
    case 3:
      ranks = power_and_neighbours(choices, ranks_max_);
      break;
    case 4:
      ranks = ranks_max_;
      break;
    default:
      ranks = choices.between(ranks_min_, ranks_max_);
  }
  return static_cast<int>(std::clamp<std::int64_t>(ranks, ranks_min_, ranks_max_));
}

void Generator::draw_group(Choices& choices, Case& out) const {
  out.group.resize(static_cast<std::size_t>(out.ranks));
  std::iota(out.group.begin(), out.group.end(), 0);
  shuffle(choices, out.group);
  switch (choices.below(4)) {
    case 0:
      out.group.resize(1);
      break;
    case 1:
      break;
    default:
      out.group.resize(static_cast<std::size_t>(choices.between(1, out.ranks)));
      if (choices.chance(128)) std::sort(out.group.begin(), out.group.end());
  }
  const bool whole = static_cast<int>(out.group.size()) == out.ranks;
  if (whole && std::is_sorted(out.group.begin(), out.group.end())) out.group.clear();
}

std::int64_t Generator::draw_limit(Choices& choices, const Draw& draw) const {
  if (enabled(Feature::large, draw, choices) || draw.large) return elements_max;
  return 1 + std::int64_t{63} * std::clamp(draw.size, 0, 100) / 100;
}

std::int64_t Generator::draw_count(Choices& choices,
                                   const Draw& draw,
                                   std::int64_t ranks,
                                   std::int64_t limit) const {
  if (!draw.has_data && enabled(Feature::empty, draw, choices)) return 0;
  std::int64_t count = 1;
  switch (choices.below(8)) {
    case 0:
      break;
    case 1:
      count = choices.between(ranks - 1, ranks + 1);
      break;
    case 2:
      count = ranks * choices.between(1, 3) + choices.between(-1, 1);
      break;
    case 3:
      count = power_and_neighbours(choices, limit);
      break;
    case 4: {
      const auto end = std::upper_bound(primes.begin(), primes.end(), limit);
      if (end != primes.begin()) {
        count = primes[static_cast<std::size_t>(choices.below(end - primes.begin()))];
      }
      break;
    }
    default:
      count = choices.log_between(1, limit);
  }
  return std::clamp<std::int64_t>(count, 1, elements_max);
}

void Generator::draw_counts(Choices& choices, const Draw& draw, Case& out) const {
  const std::int64_t n = group_size(out);
  const bool pairs = operation_.contract.sizes == Sizes::counts_per_pair;
  const std::int64_t limit = std::max<std::int64_t>(1, draw_limit(choices, draw) / (pairs ? n : 1));
  Draw with_data = draw;
  with_data.has_data = true;
  Draw without = draw;
  without.has_data = false;
  const std::int64_t base = draw_count(choices, with_data, n, limit);
  const std::int64_t size = pairs ? n * n : n;
  const auto chosen = static_cast<std::size_t>(choices.below(size));
  const std::int64_t shape = choices.below(6);
  out.counts.assign(static_cast<std::size_t>(size), 0);
  for (std::size_t i = 0; i < out.counts.size(); ++i) {
    std::int64_t& count = out.counts[i];
    if (shape == 0) count = base;                                        // equal
    if (shape == 1) count = i == chosen ? 0 : base;                      // one empty
    if (shape == 2) count = i == chosen ? 16 * base : choices.below(2);  // one huge
    if (shape == 3) count = base - 1 + static_cast<std::int64_t>(i);     // increasing
    if (shape == 4) count = choices.chance(64) ? base : 0;               // sparse
    if (shape == 5) count = draw_count(choices, without, n, limit);      // random
  }
  if (!draw.has_data && enabled(Feature::empty, draw, choices)) {
    std::fill(out.counts.begin(), out.counts.end(), 0);
  }
  if (draw.has_data && std::count(out.counts.begin(), out.counts.end(), 0) == size) {
    out.counts[chosen] = base;
  }
  if (enabled(Feature::gap, draw, choices)) out.gap = choices.between(1, 3);
}

void Generator::draw_scene(Choices& choices, const Draw& draw, Case& out) const {
  // Cases stay small: what a large one shows, a small one shows faster.
  constexpr std::int64_t width_max = 12;
  constexpr std::int64_t positions_max = 24;
  const std::int64_t width = 1 + (width_max - 1) * std::clamp(draw.size, 0, 100) / 100;
  spec::Scene& scene = out.scene;
  scene.window = static_cast<int>(choices.between(1, width));
  const auto room = [&] { return choices.chance(64) ? 0 : choices.below(width + 1); };
  scene.rows = static_cast<int>(scene.window + room());
  scene.cols = static_cast<int>(scene.window + room());
  scene.detector = static_cast<int>(scene.window + (choices.chance(128) ? 0 : choices.below(4)));
  scene.modes = choices.chance(128) ? 1 : static_cast<int>(choices.between(1, 3));
  scene.varying_probe = choices.chance(64) && !operation_.contract.shares_probe;
  if (operation_.contract.multislice && choices.chance(128)) {
    scene.slices = static_cast<int>(choices.between(1, 3));
  }
  if (operation_.contract.in_free_space || scene.slices > 1) {
    // Sixteenths, so that a case's text is exact. Waves of more than two pixels do not reach all
    // frequencies.
    scene.wavelength = static_cast<double>(choices.log_between(4, 127)) / 16;
    if (!choices.chance(32)) scene.distance = static_cast<double>(choices.between(-128, 128)) / 16;
    if (choices.chance(64)) scene.distance *= 64;
  }
  out.scan = static_cast<Scan>(choices.below(5));
  if (operation_.contract.tiled) return draw_tiles(choices, out);
  Draw few = draw;
  few.size = std::min(draw.size, 30);
  draw_counts(choices, few, out);
  out.gap = 0;
  for (std::int64_t& count : out.counts) count = std::min(count, positions_max);
}

void Generator::draw_tiles(Choices& choices, Case& out) const {
  const int n = group_size(out);
  spec::Scene& scene = out.scene;
  scene.halo = static_cast<int>(choices.chance(32) ? 0 : choices.log_between(1, 8));
  scene.tile_cols = static_cast<int>(choices.chance(128) ? 1 : choices.between(1, n));
  const std::int64_t length = scene.tile_cols == n ? scene.cols : scene.rows;
  const std::int64_t even = 1 + length * scene.tile_cols / n;
  // Some tiles are empty, some narrower than the halo, some end with the object.
  out.counts.assign(static_cast<std::size_t>(n), 0);
  for (std::int64_t& count : out.counts) count = choices.below(2 * even);
}

void Generator::draw_site(Choices& choices, const Draw& draw, Case& out) const {
  if (operation_.contract.in_place != InPlace::none) {
    out.in_place = enabled(Feature::in_place, draw, choices);
  }
  if (enabled(Feature::offset, draw, choices)) out.offset = choices.between(1, 15);
  if (in_chunks_ && enabled(Feature::chunk, draw, choices)) out.chunk = choices.log_between(1, 8);
  if (backend_.traits().has_schedules && enabled(Feature::schedule, draw, choices)) {
    out.schedule = choices.chance(128) ? "random:" : "pct:";
    out.schedule += std::to_string(choices.between(1, 999));
  }
}

bool Generator::can_run(const Case& c) {
  if (!why_invalid(catalogue_, c).empty()) return false;
  stages_.clear();
  property_.program(operation_.contract, c, stages_);
  const bool taken = std::all_of(stages_.begin(), stages_.end(), [&](const Case& stage) {
    return backend_.refuses(stage).empty();
  });
  if (!taken) ++refused_;
  return taken;
}

bool Generator::adapt(Case& c) {
  const auto cell = std::pair(c.type, c.op);
  if (property_.adapt != nullptr) property_.adapt(operation_.contract, c);
  if (std::pair(c.type, c.op) != cell) return false;
  const std::int64_t refused = refused_;
  if (can_run(c)) return true;
  if (refused_ == refused) return false;
  for (const auto repair : repairs) {
    Case mended = c;
    repair(mended);
    if (mended == c || mended.ranks < ranks_min_) continue;
    c = mended;
    if (can_run(c)) return true;
  }
  return false;
}

}  // namespace rankcheck::harness

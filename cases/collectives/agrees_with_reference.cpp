#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <optional>
#include <tuple>
#include <utility>

#include "reference/spec/to_size.hpp"

#include "harness/backend/stages.hpp"
#include "harness/case/family.hpp"
#include "harness/case/input.hpp"

#include "cases/collectives/oracle.hpp"
#include "cases/collectives/properties.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Evidence;
using harness::Judgement;
using harness::Verdict;
using reference::Piece;

/// Number of elements that are folded at a time, so that the expected values stay in the cache.
constexpr std::int64_t chunk_elements = 2048;

/// Whether the elements of the piece are results of a reduction.
bool is_reduced(const Piece& piece) {
  return piece.source == reference::every_rank || piece.source == reference::listed_terms;
}

/// A piece of one rank's output.
struct ExpectedPiece {
  Piece piece;
  int rank;
};

auto source_of(const ExpectedPiece& wanted) {
  const Piece& piece = wanted.piece;
  return std::tuple<int, std::int64_t, std::int64_t, const std::vector<reference::Term>&>(
      piece.source, piece.send_offset, piece.count, piece.terms);
}

/// Judges one stage.
class StageJudge {
 public:
  StageJudge(const Evidence& evidence, std::size_t stage, Judgement& judgement)
      : evidence_(evidence),
        judgement_(judgement),
        case_(evidence.stages[stage]),
        stage_(stage),
        oracle_(evidence, stage),
        bytes_(spec::info(case_.type).bytes) {}

  void judge() {
    if (!collect_pieces()) return;
    for (auto first = wanted_.begin(); first != wanted_.end();) {
      const auto last = std::find_if(first, wanted_.end(), [&](const ExpectedPiece& each) {
        return source_of(each) != source_of(*first);
      });
      for (std::int64_t begin = 0; begin < first->piece.count; begin += chunk_elements) {
        const std::int64_t count = std::min(chunk_elements, first->piece.count - begin);
        oracle_.expect(first->piece, begin, count, expected_);
        measure(count);
        for (auto each = first; each != last; ++each) compare(*each, begin, count);
      }
      first = last;
    }
    judgement_.see(meter_, "the output");
  }

 private:
  /// Adds the expected values to the power meter. Every rank with a copy of these values has the
  /// same power.
  void measure(std::int64_t count) {
    if (expected_.as_bits) return meter_.add_exact(count);
    for (std::size_t i = 0; i < expected_.bound.size(); ++i) {
      const bool is_open = !numerics::has_power(oracle_.rule(), expected_, i);
      meter_.add(std::abs(expected_.high[i]),
                 is_open ? std::numeric_limits<double>::infinity() : expected_.bound[i]);
    }
  }

  bool collect_pieces() {
    std::vector<Piece> pieces;
    for (int r = 0; r < oracle_.call().ranks; ++r) {
      pieces.clear();
      oracle_.collect(r, pieces);
      std::int64_t defined = 0;
      for (const Piece& piece : pieces) {
        defined += piece.count;
        if (piece.count > 0) wanted_.push_back({piece, r});
      }
      for (const spec::Block& block : oracle_.view(r).layout.extents.recv) {
        defined -= block.count;
      }
      if (defined != 0) {
        judgement_.fail(Verdict::errored, "the reference does not define every output");
        return false;
      }
    }
    std::stable_sort(
        wanted_.begin(), wanted_.end(), [](const ExpectedPiece& a, const ExpectedPiece& b) {
          return source_of(a) < source_of(b);
        });
    return true;
  }

  void compare(const ExpectedPiece& wanted, std::int64_t begin, std::int64_t count) {
    const harness::BufferView& out = oracle_.view(wanted.rank);
    const std::int64_t first = wanted.piece.recv_offset + begin;
    const std::byte* got = out.recv() + first * bytes_;
    comparison_ = {};
    numerics::compare(oracle_.rule(), expected_, got, count, comparison_);
    judgement_.count(wanted.rank, comparison_.compared_bytes);
    judgement_.ratio_max = std::max(judgement_.ratio_max, comparison_.ratio_max);
    judgement_.power.any_input += comparison_.any_input;
    if (comparison_.wrong == 0) return;
    judgement_.fail(Verdict::falsified, "differs from the reference");
    judgement_.wrong_count += comparison_.wrong;
    for (const numerics::Difference& each : comparison_.differences) {
      const std::byte* const element = got + each.index * bytes_;
      const bool is_listed = judgement_.wrong.size() < harness::wrong_elements_max;
      // To find where an element of moved data came from takes a search in all inputs.
      const bool is_sum = wanted.piece.source == reference::every_rank;
      std::string decoded;
      if (is_listed || (is_sum && harness::has_mark(row_of(wanted.rank), first + each.index))) {
        decoded = name_origin(wanted, begin + each.index, element);
      }
      const bool is_missing = decoded.find(" missing") != std::string::npos;
      judgement_.mark(row_of(wanted.rank),
                      first + each.index,
                      is_missing ? harness::Mark::missing : harness::Mark::wrong);
      if (!is_listed) continue;
      if (decoded.empty() || decoded == harness::no_input) {
        if (each.loss == numerics::Loss::nan) decoded = harness::nan_dropped;
        if (each.loss == numerics::Loss::subnormal) decoded = harness::subnormal_flushed;
      }
      list_wrong({case_, stage_},
                 {.rank = wanted.rank,
                  .index = first + each.index,
                  .expected = each.expected,
                  .got = each.got,
                  .error = each.error,
                  .bound = each.bound,
                  .decoded = decoded},
                 judgement_);
    }
    mark_unlisted(wanted.rank, first, count);
  }

  /// Only the first differences are listed. What lies behind them may be right or wrong.
  void mark_unlisted(int rank, std::int64_t first, std::int64_t count) {
    const auto& listed = comparison_.differences;
    if (listed.empty() || comparison_.wrong == std::ssize(listed)) return;
    const std::int64_t end =
        std::min(count, static_cast<std::int64_t>(harness::marked_elements_max) - first);
    for (std::int64_t i = listed.back().index + 1; i < end; ++i) {
      judgement_.mark(row_of(rank), first + i, harness::Mark::unknown);
    }
  }

  /// The row of the picture for a rank of this stage. The picture has the ranks of the last stage,
  /// which in all properties are those of the case. -1 if the rank is none of these.
  [[nodiscard]] int row_of(int rank) const {
    return place_in_group(evidence_.stages.back(), members(case_)[spec::to_size(rank)]);
  }

  /// A call of the same shape, with its own data.
  struct OtherCall {
    std::size_t stage;
    Oracle oracle;
  };

  /// Says where a wrong element came from. Empty if nothing is known of it.
  std::string name_origin(const ExpectedPiece& wanted, std::int64_t index, const std::byte* got) {
    std::string text = name_other_call(wanted, index, got);
    if (text.empty()) text = name_stale_term(wanted.piece, index, got);
    if (text.empty()) text = name_input(wanted.piece, got);
    if (text.empty()) text = decode(wanted.piece, index, got);
    return text;
  }

  /// Names the only other call of the same shape that gives the rank this element. Empty if there
  /// is no such call, or several.
  std::string name_other_call(const ExpectedPiece& wanted,
                              std::int64_t index,
                              const std::byte* got) {
    std::string text;
    for (OtherCall& other : others()) {
      numerics::Expected expected;
      other.oracle.expect(wanted.piece, index, 1, expected);
      numerics::Comparison comparison;
      numerics::compare(oracle_.rule(), expected, got, 1, comparison);
      if (comparison.wrong > 0) continue;
      if (!text.empty()) return {};
      text = "result of call " + std::to_string(other.stage + 1) + " of rank " +
             std::to_string(wanted.rank);
    }
    return text;
  }

  /// Names the only rank whose term of a sum is that of another call. Empty if there is none, or
  /// several.
  std::string name_stale_term(const Piece& piece, std::int64_t index, const std::byte* got) {
    if (piece.source != reference::every_rank || others().empty()) return {};
    const std::int64_t at = (piece.send_offset + index) * bytes_;
    std::vector<const std::byte*> terms;
    for (int r = 0; r < oracle_.call().ranks; ++r) terms.push_back(oracle_.input(r).data() + at);
    std::string text;
    for (OtherCall& other : others()) {
      for (int r = 0; r < oracle_.call().ranks; ++r) {
        const std::byte* const own =
            std::exchange(terms[spec::to_size(r)], other.oracle.input(r).data() + at);
        numerics::Expected sum;
        numerics::fold(oracle_.rule(), terms, oracle_.scalars(), 1, sum);
        terms[spec::to_size(r)] = own;
        numerics::Comparison comparison;
        numerics::compare(oracle_.rule(), sum, got, 1, comparison);
        if (comparison.wrong > 0) continue;
        if (!text.empty()) return {};
        text = "term of call " + std::to_string(other.stage + 1) + " of rank " + std::to_string(r);
      }
    }
    return text;
  }

  /// Names the only input of this call, or else of another one, that is this element of moved data.
  /// Empty if there is none, or several. Coded inputs are the same in all calls, so that they name
  /// none.
  std::string name_input(const Piece& piece, const std::byte* got) {
    const bool is_coded = case_.input == harness::InputKind::coded;
    if (is_coded || is_reduced(piece) || bytes_ < distinct_bytes_min || others().empty()) return {};
    if (const std::optional<std::string> own = find_input(oracle_, got)) return *own;
    std::string text;
    for (OtherCall& other : others()) {
      const std::optional<std::string> origin = find_input(other.oracle, got);
      if (!origin) continue;
      if (!text.empty() || origin->empty()) return {};
      text = *origin + " in call " + std::to_string(other.stage + 1);
    }
    return text;
  }

  std::list<OtherCall>& others() {
    if (others_) return *others_;
    others_.emplace();
    for (std::size_t k = 0; k < evidence_.stages.size(); ++k) {
      if (k == stage_ || !is_repeated(evidence_.stages[k], case_)) continue;
      others_->push_back({k, Oracle(evidence_, k)});
    }
    return *others_;
  }

  /// Describes where a wrong element came from. Only for coded inputs; otherwise empty.
  std::string decode(const Piece& piece, std::int64_t index, const std::byte* got) const {
    if (case_.input != harness::InputKind::coded) return {};
    // A rank may have several rows in one sum, so its digit does not say which one is wrong.
    if (piece.source == reference::listed_terms) return {};
    if (!is_reduced(piece)) return find_origin(got);
    const std::int64_t send_index = piece.send_offset + index;
    const spec::Extents& extents = oracle_.view(0).layout.extents;
    for (std::size_t b = 0; b < extents.send.size(); ++b) {
      const spec::Block& block = extents.send[b];
      if (send_index < block.offset || send_index >= block.offset + block.count) continue;
      const std::uint64_t at =
          input_index(case_, static_cast<int>(b), block, send_index - block.offset);
      std::vector<const std::byte*> one;
      for (int r = 0; r < oracle_.call().ranks; ++r) {
        one.push_back(oracle_.input(r).data() + send_index * bytes_);
      }
      numerics::Expected sum;
      numerics::fold(oracle_.rule(), one, oracle_.scalars(), 1, sum);
      std::vector<std::byte> bits(spec::to_size(bytes_));
      if (sum.as_bits) {
        bits = sum.bits;
      } else {
        numerics::from_double(case_.type, sum.high[0], bits.data());
      }
      return decode_sum(case_, at, bits.data(), got);
    }
    return {};
  }

  /// Names the only input element with these bits, says that there is none, or returns an empty
  /// text if there are several.
  std::string find_origin(const std::byte* got) const {
    if (std::optional<std::string> origin = find_input(oracle_, got)) return *std::move(origin);
    if (bytes_ < distinct_bytes_min) return harness::no_input;
    // Outside the call, workers invert the data: in another start, in another call under way,
    // before it arrives and after the call has returned.
    std::vector<std::byte> inverted(got, got + bytes_);
    for (std::byte& each : inverted) each = ~each;
    const std::string origin = find_input(oracle_, inverted.data()).value_or("");
    if (origin.empty()) return harness::no_input;
    const auto& path = evidence_.observation.path;
    const bool has_starts = stage_ < path.size() && path[stage_] == "persistent";
    return origin + (has_starts ? " in another start" : " with inverted bits, as outside the call");
  }

  /// The same in the inputs of one call, without a value if there is none. The text is also empty
  /// if there are too many inputs for a search.
  std::optional<std::string> find_input(const Oracle& oracle, const std::byte* got) const {
    std::size_t bytes = 0;
    for (int r = 0; r < oracle.call().ranks; ++r) bytes += oracle.input(r).size();
    if (bytes > searched_bytes_max) return "";
    std::optional<std::string> text;
    for (int r = 0; r < oracle.call().ranks; ++r) {
      const std::span<const std::byte> input = oracle.input(r);
      const auto size = static_cast<std::int64_t>(input.size()) / bytes_;
      for (std::int64_t i = 0; i < size; ++i) {
        if (!std::equal(got, got + bytes_, input.data() + i * bytes_)) continue;
        if (text) return "";
        text = "element " + std::to_string(i) + " of rank " + std::to_string(r);
      }
    }
    return text;
  }

  /// Elements of fewer bytes are equal by chance.
  static constexpr std::int64_t distinct_bytes_min = 4;
  /// A search in more inputs takes seconds.
  static constexpr std::size_t searched_bytes_max = std::size_t{64} << 20;

  const Evidence& evidence_;
  Judgement& judgement_;
  const Case& case_;
  std::size_t stage_;
  Oracle oracle_;
  /// The other calls of the same shape, once they are needed. A rank may be ahead of a late one, so
  /// that these may be later calls, too.
  std::optional<std::list<OtherCall>> others_;
  std::int64_t bytes_;
  std::vector<ExpectedPiece> wanted_;
  harness::PowerMeter meter_;
  numerics::Expected expected_;
  numerics::Comparison comparison_;
};

bool has_buffers(const spec::Contract& contract, const Case&) {
  return collective(contract).sizes != spec::Sizes::none;
}

/// Coded data that is only moved is the same for every seed, and so is a minimum or maximum of
/// coded data of the whole world. A stale result would look right.
void vary_results(const spec::Contract& contract, Case& c) {
  const spec::ReduceOp op = collective(c).op;
  const bool varies =
      collective(contract).reduces && op != spec::ReduceOp::min && op != spec::ReduceOp::max;
  if (!varies && c.input == harness::InputKind::coded) c.input = harness::InputKind::general;
}

/// Returns the case in a group whose members are the next ranks. The next member is its root. The
/// next group of an ascending group is ascending too, because some libraries take no other groups.
/// So the next group of a list of all ranks is the world without rank 0. The world itself, without
/// a list, changes its order, and so does the list if nobody can make the other call.
Case in_next_group(const spec::Contract& contract, const Case& c) {
  Case next = c;
  next.group = members(c);
  const bool ascends = std::is_sorted(next.group.begin(), next.group.end());
  const bool is_world = group_size(c) == c.ranks;
  if (ascends && is_world && !c.group.empty()) {
    const std::vector<int> kept(next.group.begin() + 1, next.group.end());
    next.group = kept;
    const harness::Family& family = harness::family_of(contract);
    family.keep_members(contract, c, kept, next);
    if (next.late >= group_size(next)) next.late = -1;
    if (family.why_invalid(contract, next).empty()) return next;
    next = c;
    next.group = members(c);
  }
  for (int& member : next.group) member = (member + 1) % c.ranks;
  if (ascends && !is_world) std::sort(next.group.begin(), next.group.end());
  if (collective(contract).rooted) collective(next).root = (collective(c).root + 1) % group_size(c);
  return next;
}

/// Some libraries take only ascending groups, and some algorithms take only some numbers of ranks.
/// So a part of the cases of the whole world has a list of all ranks, see in_next_group().
void vary_groups(const spec::Contract& contract, Case& c) {
  vary_results(contract, c);
  if (c.group.empty() && c.ranks > 1 && c.data_seed % 2 == 1) c.group = members(c);
}

}  // namespace

void expect_reference_in_every_stage(const Evidence& evidence, Judgement& judgement) {
  for (std::size_t k = 0; k < evidence.stages.size(); ++k) {
    const double ratio = judgement.ratio_max;
    StageJudge(evidence, k, judgement).judge();
    // The error of a unit is that of its own operation.
    if (evidence.stages[k].operation != evidence.stages.back().operation)
      judgement.ratio_max = ratio;
  }
}

harness::Property agrees_with_reference() {
  return {
      .name = "agrees_with_reference",
      .summary = "Every output equals the reference, bit by bit or within the bound.",
      .applies = has_buffers,
      .adapt = nullptr,
      .program = [](const spec::Contract&,
                    const Case& c,
                    std::vector<Case>& stages) { stages.assign(1, c); },
      .check = expect_reference_in_every_stage,
  };
}

harness::Property repeats_with_other_data() {
  return {
      .name = repeating_property,
      .summary = "Calls of one shape, each with other data, all agree with the reference.",
      .applies = has_buffers,
      .adapt = vary_results,
      .program =
          [](const spec::Contract&, const Case& c, std::vector<Case>& stages) {
            Case call = c;
            collective(call).repeat = CollectiveCase().repeat;
            stages.assign(spec::to_size(collective(c).repeat), call);
            for (std::size_t k = 0; k < stages.size(); ++k) stages[k].data_seed += k;
          },
      .check = expect_reference_in_every_stage,
  };
}

harness::Property keeps_groups_apart() {
  return {
      .name = "keeps_groups_apart",
      .summary =
          "Calls of one group, of another group and of the first group again all agree with the "
          "reference.",
      .applies = [](const spec::Contract& contract,
                    const Case& c) { return has_buffers(contract, c) && c.ranks > 1; },
      .adapt = vary_groups,
      .program =
          [](const spec::Contract& contract, const Case& c, std::vector<Case>& stages) {
            stages = {c, in_next_group(contract, c), c};
            for (std::size_t k = 0; k < stages.size(); ++k) stages[k].data_seed += k;
          },
      .check = expect_reference_in_every_stage,
  };
}

}  // namespace rankcheck::cases

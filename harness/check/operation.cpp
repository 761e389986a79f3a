#include "harness/check/operation.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "reference/spec/assert.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/backend/stage_images.hpp"
#include "harness/base/nearest.hpp"
#include "harness/base/path.hpp"
#include "harness/case/family.hpp"
#include "harness/case/hosts.hpp"

namespace rankcheck::harness {

namespace {

std::string why_group_invalid(const Case& c) {
  if (c.ranks < 1) return fmt::format("ranks: got {}, expected at least 1", c.ranks);
  if (c.group.empty()) return {};
  std::vector<bool> seen(spec::to_size(c.ranks), false);
  for (const int rank : c.group) {
    if (rank < 0 || rank >= c.ranks) {
      return fmt::format("group: got {}, expected ranks in 0..{}", rank, c.ranks - 1);
    }
    if (seen[spec::to_size(rank)]) {
      return "group: rank " + std::to_string(rank) + " appears twice";
    }
    seen[spec::to_size(rank)] = true;
  }
  return {};
}

/// Why a field that all families have is out of its range. Empty if all are in range.
std::string why_common_invalid(const Case& c) {
  if (c.input == InputKind::previous)
    return "input: previous is for the later stages of a property";
  if ((c.input == InputKind::given) != (c.given != nullptr))
    return "input: given is for rankcheck evaluate, which reads the inputs from files";
  if (c.scale < -2 || c.scale > 2) return fmt::format("scale: got {}, expected -2..2", c.scale);
  if (c.late < -1 || c.late >= group_size(c))
    return fmt::format("late: got {}, expected -1..{}", c.late, group_size(c) - 1);
  if (c.offset < 0 || c.offset > 4096)
    return fmt::format("offset: got {}, expected 0..4096", c.offset);
  if (c.chunk < 0) return fmt::format("chunk: got {}, expected 0 or more", c.chunk);
  if (c.rotate < 0 || c.rotate >= c.ranks) {
    return fmt::format("rotate: got {}, expected 0..{}", c.rotate, c.ranks - 1);
  }
  return {};
}

/// The marks of an output whose elements are all right. Elements between its blocks are gaps.
std::string row_of(const spec::Extents& extents) {
  const auto size = std::min(marked_elements_max, spec::to_size(extents.recv_size));
  std::string row(size, static_cast<char>(Mark::gap));
  for (const spec::Block& block : extents.recv) {
    const std::size_t first = std::min(size, spec::to_size(block.offset));
    const std::size_t end = std::min(size, spec::to_size(block.offset + block.count));
    std::fill(row.begin() + static_cast<std::ptrdiff_t>(first),
              row.begin() + static_cast<std::ptrdiff_t>(end),
              static_cast<char>(Mark::right));
  }
  return row;
}

/// The verdict on a run, in the order of RunStatus. A worker may refuse any run.
constexpr std::array<Verdict, 6> run_verdicts{Verdict::passed,
                                              Verdict::falsified,
                                              Verdict::hung,
                                              Verdict::crashed,
                                              Verdict::skipped,
                                              Verdict::errored};

/// The symptom of a run that was not completed.
Symptom symptom_of(const Observation& observation) {
  const bool is_unnamed =
      observation.status == RunStatus::failed && observation.symptom == Symptom::none;
  return is_unnamed ? Symptom::error : observation.symptom;
}

/// Adds to the reason of a failure what ran in each stage, if that says more than the algorithm
/// that was asked for: the path that an algorithm chose, as in "staged: ring", or the algorithm of
/// a stage that left it open. Adds nothing if no stage asks for an algorithm.
void name_ways(std::span<const Case> stages, const Observation& observation, Judgement& judgement) {
  if (!is_failure(judgement.verdict)) return;
  const bool names_any =
      std::ranges::any_of(stages, [](const Case& each) { return !each.algorithm.empty(); });
  if (!names_any) return;
  for (std::size_t s = 0; s < std::min(stages.size(), observation.path.size()); ++s) {
    const std::string& ran = observation.path[s];
    if (ran.empty() || ran == stages[s].algorithm) continue;
    judgement.reason += fmt::format("; stage {} ran {}", s, ran);
  }
}

}  // namespace

Catalogue::Catalogue(std::vector<Operation> operations) : operations_(std::move(operations)) {
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    index_.emplace(operations_[i].contract.name, i);
  }
}

const Operation* Catalogue::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &operations_[found->second];
}

const Property* Catalogue::find_property(std::string_view operation,
                                         std::string_view property) const {
  const Operation* found = find(operation);
  if (found == nullptr) return nullptr;
  for (const Property& each : found->properties) {
    if (each.name == property) return &each;
  }
  return nullptr;
}

BufferView view(const Evidence& evidence, std::size_t stage, int rank) {
  BufferView result;
  const Case& c = evidence.stages[stage];
  lay_out(evidence.catalogue.find(c.operation)->contract,
          c,
          rank,
          evidence.traits.result_place,
          result.layout);
  result.image = evidence.observation.stages[stage].images[spec::to_size(rank)].data();
  const ImageLayout& layout = result.layout;
  if (layout.send >= 0 && layout.extents.send_stride != 1)
    result.dense_send = gather_elements(send_elements(c, layout), result.image + layout.send);
  if (layout.recv >= 0 && layout.extents.recv_stride != 1)
    result.dense_recv = gather_elements(recv_elements(c, layout), result.image + layout.recv);
  return result;
}

void list_wrong(const StagedCase& at, WrongElement wrong, Judgement& judgement) {
  wrong.stage = at.stage;
  if (at.stage > 0) wrong.group = members(at.c);
  wrong.compared_with = at.compared_with;
  judgement.wrong.push_back(std::move(wrong));
}

void expect_same_bits(const StagedCase& at,
                      int rank,
                      std::int64_t got_first,
                      std::int64_t count,
                      const std::byte* got,
                      const std::byte* expected,
                      std::string_view what,
                      Judgement& judgement) {
  const Case& c = at.c;
  const auto bytes = spec::to_size(spec::info(c.type).bytes);
  judgement.count(rank, count * static_cast<std::int64_t>(bytes));
  judgement.power.add({.elements = count, .useful = count});
  if (count == 0 || std::memcmp(got, expected, spec::to_size(count) * bytes) == 0) return;
  const Family& family = *find_family(c.operation);
  for (std::int64_t i = 0; i < count; ++i, got += bytes, expected += bytes) {
    if (std::memcmp(got, expected, bytes) == 0) continue;
    if (at.compared_with == rank_0 && family.is_same(c, got, expected)) continue;
    if (judgement.verdict == Verdict::passed) {
      judgement.fail(Verdict::falsified, std::string(what));
    }
    ++judgement.wrong_count;
    judgement.mark(rank, got_first + i, Mark::wrong);
    if (judgement.wrong.size() >= wrong_elements_max) continue;
    WrongElement wrong{.rank = rank,
                       .index = got_first + i,
                       .expected = family.text_of(c.type, expected),
                       .got = family.text_of(c.type, got)};
    if (wrong.expected == wrong.got) {
      wrong.expected += fmt::format(" ({})", hexadecimal({expected, bytes}));
      wrong.got += fmt::format(" ({})", hexadecimal({got, bytes}));
    }
    list_wrong(at, std::move(wrong), judgement);
  }
}

void expect_same_output(const Evidence& evidence,
                        std::size_t got_stage,
                        int rank,
                        std::string_view what,
                        Judgement& judgement) {
  const BufferView expected = view(evidence, 0, rank);
  const BufferView got = view(evidence, got_stage, rank);
  const Case& c = evidence.stages[got_stage];
  const std::int64_t bytes = spec::info(c.type).bytes;
  for (std::size_t b = 0; b < got.layout.extents.recv.size(); ++b) {
    const spec::Block& block = got.layout.extents.recv[b];
    const spec::Block& other = expected.layout.extents.recv[b];
    expect_same_bits({c, got_stage, first_call},
                     rank,
                     block.offset,
                     block.count,
                     got.recv() + block.offset * bytes,
                     expected.recv() + other.offset * bytes,
                     what,
                     judgement);
  }
}

void expect_ranks_agree(const Evidence& evidence, std::size_t stage, Judgement& judgement) {
  const Case& c = evidence.stages[stage];
  if (group_size(c) < 2) return;
  const std::int64_t bytes = spec::info(c.type).bytes;
  const BufferView first = view(evidence, stage, 0);
  const spec::Contract& contract = evidence.catalogue.find(c.operation)->contract;
  const Family& family = family_of(contract);
  const auto is_common = [&](const spec::Block& block) {
    return family.is_common(contract, c, block);
  };
  const std::vector<spec::Block>& blocks = first.layout.extents.recv;
  // Most operations leave nothing in common, so that no other rank needs to be looked at.
  if (std::ranges::none_of(blocks, is_common)) return;
  for (const spec::Block& block : blocks) {
    if (is_common(block)) judgement.count(0, block.count * bytes);
  }
  for (int r = 1; r < group_size(c); ++r) {
    const BufferView other = view(evidence, stage, r);
    for (std::size_t b = 0; b < other.layout.extents.recv.size(); ++b) {
      const spec::Block& block = other.layout.extents.recv[b];
      if (!is_common(block)) continue;
      expect_same_bits({c, stage, rank_0},
                       r,
                       block.offset,
                       block.count,
                       other.recv() + block.offset * bytes,
                       first.recv() + blocks[b].offset * bytes,
                       "differs from rank 0",
                       judgement);
    }
  }
}

std::string unknown_operation(const Catalogue& catalogue, const std::string& name) {
  std::vector<std::string> names;
  for (const Operation& each : catalogue.operations()) names.emplace_back(each.contract.name);
  return "unknown name \"" + name.substr(0, 60) + '"' + did_you_mean(name, names);
}

std::string why_unknown(const Catalogue& catalogue,
                        const std::string& operation,
                        const std::string& property) {
  if (catalogue.find(operation) == nullptr) {
    return "operation: " + unknown_operation(catalogue, operation);
  }
  if (catalogue.find_property(operation, property) != nullptr) return {};
  return "property: " + operation + " claims no property \"" + property + "\"";
}

namespace {

/// Why nobody can make a call, whatever is claimed of it. Empty if it is valid.
std::string why_call_invalid(const Operation& operation, const Case& c) {
  if (std::string why = why_group_invalid(c); !why.empty()) return why;
  if (std::string why = why_hosts_invalid(c.hosts, c.ranks); !why.empty()) return why;
  if (c.in_place && operation.contract.in_place == spec::InPlace::none) {
    return "in_place: " + c.operation + " has no such call";
  }
  if (c.pending && !operation.contract.has_buffers) {
    return "pending: " + c.operation + " has no inputs";
  }
  if (std::string why = why_common_invalid(c); !why.empty()) return why;
  return family_of(operation.contract).why_invalid(operation.contract, c);
}

/// Why a call is no earlier call of a case. Empty if it is valid.
std::string why_earlier_invalid(const Catalogue& catalogue, const Case& c, const Case& call) {
  const Operation* const operation = catalogue.find(call.operation);
  if (operation == nullptr) return "operation: " + unknown_operation(catalogue, call.operation);
  if (find_family(call.operation) != find_family(c.operation)) {
    return "operation: " + call.operation + " is of another family than " + c.operation;
  }
  if (!call.earlier.empty()) return "earlier: expected none in an earlier call";
  return why_call_invalid(*operation, call);
}

/// Why the earlier calls of a case are none. Empty if they are valid.
std::string why_earlier_invalid(const Catalogue& catalogue, const Case& c, bool has_earlier) {
  if (!c.earlier.empty() && !has_earlier) {
    return "earlier: the property " + c.property + " has no earlier calls";
  }
  if (std::ssize(c.earlier) > earlier_max) {
    return fmt::format("earlier: got {} calls, expected at most {}", c.earlier.size(), earlier_max);
  }
  bool overlap = false;
  for (std::size_t k = 0; k < c.earlier.size(); ++k) {
    const Case& call = c.earlier[k];
    RANKCHECK_ASSERT(call.ranks == c.ranks && call.hosts == c.hosts && call.backend == c.backend);
    overlap = overlap || call.overlaps;
    const std::string why = call.frees && overlap ? "frees: expected false while calls overlap"
                                                  : why_earlier_invalid(catalogue, c, call);
    if (!why.empty()) return fmt::format("earlier: call {}: {}", k, why);
  }
  return {};
}

}  // namespace

std::string why_invalid(const Catalogue& catalogue, const Case& c) {
  const Property* property = catalogue.find_property(c.operation, c.property);
  if (property == nullptr) return why_unknown(catalogue, c.operation, c.property);
  const Operation* operation = catalogue.find(c.operation);
  if (std::string why = why_call_invalid(*operation, c); !why.empty()) return why;
  if (c.overlaps) return "overlaps: expected true in earlier calls only";
  if (c.frees) return "frees: expected true in earlier calls only";
  if (std::string why = why_earlier_invalid(catalogue, c, property->has_earlier); !why.empty()) {
    return why;
  }
  if (property->applies != nullptr && !property->applies(operation->contract, c)) {
    return "property: " + c.property + " says nothing about this case";
  }
  return {};
}

std::vector<Case> program_of(const Catalogue& catalogue, const Case& c) {
  std::vector<Case> stages;
  catalogue.find_property(c.operation, c.property)
      ->program(catalogue.find(c.operation)->contract, c, stages);
  return stages;
}

bool fits_into_memory(const Catalogue& catalogue, const Case& c, std::int64_t memory_bytes) {
  const std::vector<Case> stages = program_of(catalogue, c);
  const std::int64_t share = memory_bytes / std::ssize(stages);
  return std::ranges::all_of(stages, [&](const Case& stage) {
    return fits_into_memory(catalogue.find(stage.operation)->contract, stage, share);
  });
}

void Examiner::prepare_before(std::size_t stage, int rank) {
  const auto contract_of = [&](std::string_view operation) -> const spec::Contract& {
    return catalogue_.find(operation)->contract;
  };
  const Hosting all{.contract_of = contract_of, .result_place = backend_.traits().result_place};
  prepare_after(all, stages_, stage, rank, observation_.stages, layout_, before_);
}

void Examiner::check_memory(std::size_t stage, Judgement& judgement) {
  const Case& c = stages_[stage];
  for (int r = 0; r < group_size(c); ++r) {
    prepare_before(stage, r);
    const auto clobbered =
        find_clobbered(c, layout_, before_, observation_.stages[stage].images[spec::to_size(r)]);
    if (clobbered) {
      judgement.fail(
          Verdict::falsified, "rank " + std::to_string(r) + ": " + *clobbered, Symptom::outside);
      return;
    }
  }
}

void Examiner::check_agreement(Judgement& judgement) {
  for (std::size_t s = 0; s < stages_.size() && judgement.verdict == Verdict::passed; ++s) {
    // A separate judgement: comparing ranks with each other does not count as comparing with
    // expected values.
    Judgement agreement;
    expect_ranks_agree(evidence(), s, agreement);
    if (agreement.verdict == Verdict::passed) continue;
    judgement.fail(agreement.verdict, std::move(agreement.reason));
    judgement.wrong_count = agreement.wrong_count;
    judgement.wrong = std::move(agreement.wrong);
    const bool has_all_ranks = members(stages_[s]) == members(stages_.back());
    if (has_all_ranks) judgement.marks = std::move(agreement.marks);
  }
}

void Examiner::complete_marks(Judgement& judgement) {
  if (judgement.marks.empty()) return;
  const ResultPlace place = backend_.traits().result_place;
  std::vector<std::string>& marks = judgement.marks;
  // The last stage has the ranks of the case. The first one may be the call of a smaller group.
  marks.resize(std::min(marked_ranks_max, spec::to_size(group_size(stages_.back()))));
  for (std::size_t r = 0; r < marks.size(); ++r) {
    // Properties compare outputs of the first or of the last stage. The larger one has room for all
    // marks.
    const auto rank = static_cast<int>(r);
    std::string row;
    for (const Case* each : {&stages_.front(), &stages_.back()}) {
      if (rank >= group_size(*each)) continue;
      lay_out(catalogue_.find(each->operation)->contract, *each, rank, place, layout_);
      row = std::max(row, row_of(layout_.extents), [](const auto& a, const auto& b) {
        return a.size() < b.size();
      });
    }
    if (row.size() < marks[r].size()) row.resize(marks[r].size(), static_cast<char>(Mark::gap));
    for (std::size_t i = 0; i < marks[r].size(); ++i) {
      if (marks[r][i] != static_cast<char>(Mark::right)) row[i] = marks[r][i];
    }
    marks[r] = std::move(row);
  }
}

bool Examiner::has_result_apart() const {
  const bool is_in_place = layout_.send >= 0 && layout_.recv < layout_.send + layout_.send_size &&
                           layout_.send < layout_.recv + layout_.recv_size;
  return layout_.recv >= 0 && !is_in_place;
}

std::optional<std::ptrdiff_t> Examiner::place_of_result(std::size_t stage,
                                                        std::int64_t index) const {
  const auto& blocks = layout_.extents.recv;
  const bool is_result = std::ranges::any_of(blocks, [&](const spec::Block& block) {
    return index >= block.offset && index < block.offset + block.count;
  });
  if (layout_.recv < 0 || !is_result) return std::nullopt;
  return layout_.recv + index * layout_.extents.recv_stride * spec::info(stages_[stage].type).bytes;
}

bool Examiner::is_as_before(std::size_t stage, int rank, std::int64_t index) const {
  const std::int64_t bytes = spec::info(stages_[stage].type).bytes;
  const std::optional<std::ptrdiff_t> at = place_of_result(stage, index);
  if (!at) return false;
  const std::byte* after = observation_.stages[stage].images[spec::to_size(rank)].data();
  return std::equal(after + *at, after + *at + bytes, before_.data() + *at);
}

std::string Examiner::find_before(const WrongElement& wrong) {
  const auto bytes = std::ptrdiff_t{spec::info(stages_[wrong.stage].type).bytes};
  // Elements of fewer bytes are equal by chance, and a search in large images takes too long.
  constexpr std::ptrdiff_t bytes_min = 4;
  constexpr std::int64_t image_bytes_max = 1 << 20;
  const Image& image = observation_.stages[wrong.stage].images[spec::to_size(wrong.rank)];
  const std::optional<std::ptrdiff_t> place = place_of_result(wrong.stage, wrong.index);
  if (bytes < bytes_min || layout_.size > image_bytes_max || !place) return no_input;
  const auto got = image.begin() + *place;
  std::string found = no_input;
  for (int r = 0; r < group_size(stages_[wrong.stage]); ++r) {
    if (r == wrong.rank) continue;
    prepare_before(wrong.stage, r);
    for (const spec::Block& block : layout_.extents.recv) {
      for (std::int64_t i = block.offset; i < block.offset + block.count; ++i) {
        const auto before = before_.begin() + *place_of_result(wrong.stage, i);
        if (!std::equal(got, got + bytes, before)) continue;
        if (found != no_input) return no_input;
        found = fmt::format("element {} of rank {} before the call", i, r);
      }
    }
  }
  return found;
}

void Examiner::tell_who_is_wrong(Judgement& judgement) {
  const Property* const against =
      catalogue_.find_property(stages_.front().operation, Case().property);
  // With several stages, a mark does not say which stage it is about.
  const bool is_of_ranks =
      !judgement.wrong.empty() && judgement.wrong.front().compared_with == rank_0;
  if (!is_of_ranks || stages_.size() > 1 || against == nullptr) return;
  Judgement reference;
  against->check(evidence(), reference);
  complete_marks(reference);
  for (WrongElement& each : judgement.wrong) {
    const bool is_marked = !reference.marks.empty() && has_mark(each.rank, each.index);
    const auto mark_of = [&](int rank) {
      if (!is_marked) return reference.wrong_count == 0 ? Mark::right : Mark::unknown;
      return static_cast<Mark>(reference.marks[spec::to_size(rank)][spec::to_size(each.index)]);
    };
    const Mark first = mark_of(0);
    const Mark own = mark_of(each.rank);
    if (!each.decoded.empty() || first == Mark::unknown || own == Mark::unknown) continue;
    if (own == Mark::right) {
      each.decoded = first == Mark::right ? "the reference admits both" : "rank 0 is wrong";
    } else {
      each.decoded = first == Mark::right ? "this rank is wrong" : "both are wrong";
    }
  }
}

void Examiner::mark_unwritten(Judgement& judgement) {
  for (std::size_t r = 0; r < judgement.marks.size(); ++r) {
    const auto rank = static_cast<int>(r);
    prepare_before(0, rank);
    const bool is_apart = has_result_apart();
    std::string& row = judgement.marks[r];
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_wrong = row[i] == static_cast<char>(Mark::wrong) ||
                            (row[i] == static_cast<char>(Mark::missing) && is_apart);
      if (is_wrong && is_as_before(0, rank, static_cast<std::int64_t>(i))) {
        row[i] = static_cast<char>(Mark::unwritten);
      }
    }
  }
}

void Examiner::tell_unwritten(Judgement& judgement) {
  // With several stages, a mark does not say which stage it is about.
  if (stages_.size() == 1) mark_unwritten(judgement);
  for (WrongElement& each : judgement.wrong) {
    const bool has_origin = !each.decoded.empty() && each.decoded != no_input &&
                            each.decoded != nan_dropped && each.decoded != subnormal_flushed;
    if (has_origin || each.stage >= observation_.stages.size()) continue;
    if (each.rank < 0 || each.rank >= group_size(stages_[each.stage])) continue;
    prepare_before(each.stage, each.rank);
    if (has_result_apart() && is_as_before(each.stage, each.rank, each.index)) {
      each.decoded = not_written;
    } else if (each.decoded == no_input) {
      each.decoded = find_before(each);
    }
  }
}

void Examiner::check_power(const spec::Contract& contract, const Case& c, Judgement& judgement) {
  if (judgement.verdict != Verdict::passed) return;
  const auto has_output = [&](const Case& stage, int rank) {
    if (rank >= group_size(stage)) return false;
    lay_out(catalogue_.find(stage.operation)->contract,
            stage,
            rank,
            backend_.traits().result_place,
            layout_);
    const auto& blocks = layout_.extents.recv;
    return std::ranges::any_of(blocks, [](const spec::Block& block) { return block.count > 0; });
  };
  if (!contract.has_buffers) return;
  bool has_any = false;
  for (int r = 0; r < group_size(c); ++r) {
    if (judgement.has_compared(r)) continue;
    has_any = has_any || has_output(c, r);
    // A property may look at the first stage, the last stage, or both. Only a rank that has an
    // output in both must have been compared.
    if (!has_output(stages_.front(), r) || !has_output(stages_.back(), r)) continue;
    judgement.fail(Verdict::vacuous,
                   "nothing was compared of the output of rank " + std::to_string(r));
    return;
  }
  if (judgement.compared_bytes == 0 && has_any) {
    judgement.fail(Verdict::vacuous, "nothing was compared of any output");
  }
  if (!judgement.blind_output.empty()) {
    judgement.fail(Verdict::vacuous,
                   fmt::format("no bound of {} is under {:.0f} % of its largest magnitude",
                               judgement.blind_output,
                               100 * useful_share));
  }
}

std::vector<Case> Examiner::stages_as_they_ran() const {
  std::vector<Case> stages = stages_;
  for (std::size_t s = 0; s < std::min(stages.size(), observation_.path.size()); ++s) {
    if (stages[s].algorithm.empty()) stages[s].algorithm = algorithm_of(observation_.path[s]);
  }
  return stages;
}

void Examiner::restart(int ranks) {
  if (history_ != nullptr) history_->clear();
  backend_.restart(ranks);
}

void Examiner::note_calls(const Judgement& judgement) {
  if (history_ == nullptr) return;
  if (is_failure(judgement.verdict)) calls_before_ = history_->calls();
  if (judgement.verdict == Verdict::skipped) return;
  // New ranks may take the place of those that failed, and do if they hang or have crashed.
  if (observation_.status != RunStatus::completed) return history_->clear();
  for (const Case& call : stages_) history_->add(call);
}

void Examiner::examine(const Case& c, Judgement& judgement) {
  judge(c, judgement);
  note_calls(judgement);
}

void Examiner::judge(const Case& c, Judgement& judgement) {
  judgement = {};
  if (std::string why = why_invalid(catalogue_, c); !why.empty()) {
    judgement.fail(Verdict::errored, why);
    return;
  }
  const Operation& operation = *catalogue_.find(c.operation);
  const Property& property = *catalogue_.find_property(c.operation, c.property);
  stages_.clear();
  property.program(operation.contract, c, stages_);
  backend_.run(stages_, observation_);
  if (observation_.status != RunStatus::completed) {
    const Verdict verdict = run_verdicts[spec::to_size(observation_.status)];
    judgement.fail(verdict, observation_.reason, symptom_of(observation_));
    name_ways(stages_, observation_, judgement);
    return;
  }
  for (std::size_t s = 0; s < stages_.size(); ++s) {
    const std::string& asked = stages_[s].algorithm;
    if (!asked.empty() && !is_path_of(observation_.path[s], asked)) {
      judgement.fail(Verdict::falsified,
                     "asked for algorithm " + asked + ", ran " + observation_.path[s],
                     Symptom::path);
      return;
    }
    check_memory(s, judgement);
  }
  property.check(evidence(), judgement);
  check_agreement(judgement);
  complete_marks(judgement);
  tell_unwritten(judgement);
  tell_who_is_wrong(judgement);
  check_power(operation.contract, c, judgement);
  for (const std::string& path : observation_.path) {
    if (is_unseen(path)) judgement.fail(Verdict::vacuous, "asked for algorithm " + path);
  }
  if (!c.fault.empty() && !observation_.fault_changed) {
    judgement.fail(Verdict::vacuous,
                   "the fault " + c.fault +
                       (observation_.fault_fired ? " fired and changed nothing" : " did not fire"));
  }
  name_ways(stages_, observation_, judgement);
}

}  // namespace rankcheck::harness

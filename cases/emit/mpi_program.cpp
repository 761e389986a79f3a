#include "cases/emit/mpi_program.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/backend/stage_images.hpp"
#include "harness/backend/stages.hpp"
#include "harness/case/family.hpp"

#include "cases/collectives/oracle.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases::emit {

namespace {

using harness::BadInput;
using harness::Case;
using spec::ReduceOp;
using spec::Type;

/// More elements of a rank would make tables that nobody reads.
constexpr std::int64_t elements_max = 128;

[[noreturn]] void refuse(std::string_view field, std::string_view why) {
  throw BadInput(fmt::format("--emit c: {}: {}", field, why));
}

/// A type in C: of a component, in MPI, in MPI if C's own names are asked for, and how to print it.
struct CType {
  std::string_view component;
  std::string_view mpi;
  std::string_view mpi_of_c;
  std::string_view format;
  std::string_view printed = "double";
};

const CType& c_type(Type type) {
  static const std::map<Type, CType> types{
      {Type::int8, {"int8_t", "MPI_INT8_T", "MPI_SIGNED_CHAR", "%lld", "long long"}},
      {Type::uint8, {"uint8_t", "MPI_UINT8_T", "MPI_UNSIGNED_CHAR", "%lld", "long long"}},
      {Type::int32, {"int32_t", "MPI_INT32_T", "MPI_INT", "%lld", "long long"}},
      {Type::uint32, {"uint32_t", "MPI_UINT32_T", "MPI_UNSIGNED", "%lld", "long long"}},
      {Type::int64, {"int64_t", "MPI_INT64_T", "MPI_LONG", "%lld", "long long"}},
      {Type::uint64,
       {"uint64_t", "MPI_UINT64_T", "MPI_UNSIGNED_LONG", "%llu", "unsigned long long"}},
      {Type::f16, {"uint16_t", "MPI_UINT16_T", "", "0x%llx", "unsigned long long"}},
      {Type::bf16, {"uint16_t", "MPI_UINT16_T", "", "0x%llx", "unsigned long long"}},
      {Type::f32, {"float", "MPI_FLOAT", "", "%.9g"}},
      {Type::f64, {"double", "MPI_DOUBLE", "", "%.17g"}},
      {Type::complex64, {"float", "MPI_C_FLOAT_COMPLEX", "", "%.9g"}},
      {Type::complex128, {"double", "MPI_C_DOUBLE_COMPLEX", "", "%.17g"}},
      {Type::f8e4m3, {"uint8_t", "MPI_BYTE", "", "0x%llx", "unsigned long long"}},
      {Type::f8e5m2, {"uint8_t", "MPI_BYTE", "", "0x%llx", "unsigned long long"}},
  };
  return types.at(type);
}

/// How C calls an operation. Words in braces are replaced; see Emitter::call_text().
struct Function {
  std::string_view name;
  std::string_view arguments;
};

const Function* find_function(std::string_view operation) {
  constexpr std::string_view even = "send, {count}, send_type, recv, {count}, recv_type";
  constexpr std::string_view reduction = "send, recv, {count}, {type}, {op}";
  static const std::map<std::string_view, Function> functions{
      {"all_gather", {"Allgather", even}},
      {"all_gather_v",
       {"Allgatherv", "send, {send_count}, send_type, recv, {recv_blocks}, recv_type"}},
      {"all_reduce", {"Allreduce", reduction}},
      {"all_to_all", {"Alltoall", even}},
      {"all_to_all_v",
       {"Alltoallv", "send, {send_blocks}, send_type, recv, {recv_blocks}, recv_type"}},
      {"barrier", {"Barrier", ""}},
      {"broadcast", {"Bcast", "recv, {count}, recv_type, {root}"}},
      {"gather", {"Gather", "send, {count}, send_type, recv, {count}, recv_type, {root}"}},
      {"gather_v",
       {"Gatherv", "send, {send_count}, send_type, recv, {recv_blocks}, recv_type, {root}"}},
      {"reduce", {"Reduce", "send, recv, {count}, {type}, {op}, {root}"}},
      {"reduce_scatter", {"Reduce_scatter_block", reduction}},
      {"reduce_scatter_v", {"Reduce_scatter", "send, recv, {send_counts}, {type}, {op}"}},
      {"scatter", {"Scatter", "send, {count}, send_type, recv, {count}, recv_type, {root}"}},
      {"scatter_v",
       {"Scatterv", "send, {send_blocks}, send_type, recv, {recv_count}, recv_type, {root}"}},
  };
  const auto found = functions.find(operation);
  return found == functions.end() ? nullptr : &found->second;
}

std::string_view op_name(ReduceOp op) {
  static const std::map<ReduceOp, std::string_view> names{{ReduceOp::none, ""},
                                                          {ReduceOp::sum, "MPI_SUM"},
                                                          {ReduceOp::prod, "MPI_PROD"},
                                                          {ReduceOp::min, "MPI_MIN"},
                                                          {ReduceOp::max, "MPI_MAX"},
                                                          {ReduceOp::band, "MPI_BAND"},
                                                          {ReduceOp::bor, "MPI_BOR"},
                                                          {ReduceOp::bxor, "MPI_BXOR"}};
  const auto found = names.find(op);
  if (found == names.end()) refuse("op", "expected an op that MPI has for this type");
  return found->second;
}

/// The way in which a call is made.
enum class Manner : std::uint8_t { blocking, nonblocking, persistent };

/// The value of one component, as C writes it. Types that C lacks are written as bits.
std::string literal(Type component, const std::byte* at) {
  if (component == Type::f16 || component == Type::bf16 || spec::is_f8(component)) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, spec::to_size(spec::info(component).bytes));
    return fmt::format("{:#x}", bits);
  }
  const std::string text = numerics::to_text(component, at);
  if (text.find("nan") != std::string::npos) return "NAN";
  if (text.find("inf") != std::string::npos) return text.front() == '-' ? "-INFINITY" : "INFINITY";
  // The least number has no literal of its own.
  if (component == Type::int64 && text == "-9223372036854775808") return "INT64_MIN";
  return component == Type::uint64 ? text + 'u' : text;
}

/// One call of the program: what each member has before it, and must have after it.
struct Stage {
  const Case& c;
  spec::Call call;
  std::vector<int> members;
  Function function;
  Manner manner = Manner::blocking;
  Type component = Type::f32;
  std::int64_t components = 1;
  /// By group rank. Offsets are in elements of the member's memory, and -1 if it has no buffer.
  struct Member {
    spec::Extents extents;
    std::int64_t send = -1;
    std::int64_t recv = -1;
    std::int64_t recv_elements = 0;
    bool shares = false;
    std::vector<std::byte> before;
    std::vector<std::byte> after;
    /// The bounds of all components of `after`. Empty if all must be exact.
    std::vector<double> bounds;
  };
  std::vector<Member> of_member;
  std::int64_t memory_elements = 0;

  [[nodiscard]] std::int64_t bytes() const { return spec::info(c.type).bytes; }
};

/// Writes the value that marks memory which nobody may write: -9, or its bits.
void mark(Type type, std::vector<std::byte>& memory) {
  const auto fill = [&](auto value) {
    for (std::size_t at = 0; at + sizeof value <= memory.size(); at += sizeof value) {
      std::memcpy(memory.data() + at, &value, sizeof value);
    }
  };
  const spec::TypeInfo& info = spec::info(spec::component(type));
  if (spec::component(type) == Type::f32) return fill(-9.0F);
  if (spec::component(type) == Type::f64) return fill(-9.0);
  if (info.bytes == 1) return fill(std::int8_t{-9});
  if (info.bytes == 2) return fill(std::int16_t{-9});
  return info.bytes == 4 ? fill(std::int32_t{-9}) : fill(std::int64_t{-9});
}

/// How far a component may be from the expected value. Infinite if several kinds of values are
/// right.
double bound_of(const numerics::Expected& expected, std::size_t component) {
  constexpr unsigned zero_signs = numerics::demands_positive_zero | numerics::demands_negative_zero;
  const unsigned admits = expected.admits[component] & ~zero_signs;
  if (admits == numerics::admits_finite) return expected.bound[component];
  const bool is_one_kind = std::has_single_bit(admits) && admits != numerics::admits_candidates;
  return is_one_kind ? 0 : std::numeric_limits<double>::infinity();
}

/// A table of constants in C, with a row for each member.
std::string table(std::string_view type,
                  std::string_view name,
                  const std::vector<std::vector<std::string>>& rows) {
  std::string text = fmt::format(
      "static const {} {}[{}][{}] = {{\n", type, name, rows.size(), rows.front().size());
  for (const std::vector<std::string>& row : rows) {
    std::string one = fmt::format("    {{{}}},", fmt::join(row, ", "));
    // A long row is broken behind commas.
    constexpr std::size_t width = 98;
    for (std::size_t begin = 0; one.size() - begin > width;) {
      const std::size_t space = one.rfind(' ', begin + width);
      if (space <= begin + 6) break;
      one.replace(space, 1, "\n     ");
      begin = space + 1;
    }
    text += one + '\n';
  }
  return text + "};";
}

class Emitter {
 public:
  Emitter(const harness::Catalogue& catalogue, const harness::Backend& backend, const Case& c)
      : catalogue_(catalogue), backend_(backend), case_(c), cases_(program_of(catalogue, c)) {}

  [[nodiscard]] std::string program();

 private:
  void read_stages();
  [[nodiscard]] Manner manner_of(const Case& c) const;
  void fill_member(const harness::Evidence& evidence, std::size_t stage, int rank, Stage& out);
  void write_head();
  void write_stage(std::size_t k);
  /// Writes the counts and places of the blocks on one side, if the call names them.
  void write_blocks(std::size_t k, const std::string& arguments, std::string_view side);
  void write_buffers(std::size_t k);
  void write_persistent(std::size_t k, const std::string& arguments);
  void write_call(std::size_t k);
  void write_end(std::size_t k);
  void write_split(std::size_t g);
  void write_calls();
  void write_checks();
  void write_main();
  /// Whether the members are the whole world in order.
  [[nodiscard]] bool is_world(const std::vector<int>& members) const {
    return std::ssize(members) == case_.ranks && std::ranges::is_sorted(members);
  }
  [[nodiscard]] std::string call_text(const Stage& stage) const;
  [[nodiscard]] std::string comm_of(const Stage& stage) const;

  template <class... Values>
  void line(fmt::format_string<Values...> text, Values&&... values) {
    text_ += fmt::format(text, std::forward<Values>(values)...) + '\n';
  }

  const harness::Catalogue& catalogue_;
  const harness::Backend& backend_;
  const Case& case_;
  std::vector<Case> cases_;
  std::vector<Stage> stages_;
  std::map<std::string, std::string> variables_;
  /// The groups other than the whole world in order.
  std::vector<std::vector<int>> groups_;
  std::string text_;
};

Manner Emitter::manner_of(const Case& c) const {
  const std::string& name = c.algorithm;
  if (name.empty() || name == "blocking" || name == "c_types") {
    return c.overlaps ? Manner::nonblocking : Manner::blocking;
  }
  if (name == "nonblocking") return Manner::nonblocking;
  if (name == "persistent") return Manner::persistent;
  for (const auto& [variable, value] : variables_) {
    const bool is_nonblocking =
        variable.starts_with("MPIR_CVAR_I") || variable.find("libnbc") != std::string::npos;
    if (is_nonblocking) return Manner::nonblocking;
  }
  return Manner::blocking;
}

void Emitter::read_stages() {
  for (const harness::AlgorithmInfo& each : backend_.algorithms()) {
    if (each.operation != case_.operation || each.name != case_.algorithm) continue;
    variables_ = each.variables;
  }
  constexpr std::array plain{"", "blocking", "nonblocking", "persistent", "c_types"};
  const bool is_plain = std::ranges::count(plain, case_.algorithm) > 0;
  if (!is_plain && variables_.empty()) {
    refuse("algorithm",
           fmt::format("got {}, expected one call of MPI with or without a forced algorithm",
                       case_.algorithm));
  }
  harness::Observation observation;
  observation.stages.resize(cases_.size());
  harness::ImageLayout layout;
  for (std::size_t k = 0; k < cases_.size(); ++k) {
    if (find_function(cases_[k].operation) == nullptr) {
      refuse("operation", cases_[k].operation + " is no single call of MPI");
    }
    if (cases_[k].input == harness::InputKind::previous) {
      refuse("property", "its calls depend on one another");
    }
    prepare_members(
        {.contract_of = reference::contract_named, .result_place = backend_.traits().result_place},
        cases_,
        k,
        layout,
        observation,
        [](const harness::HostedMember&) {});
  }
  const harness::Evidence evidence{catalogue_, backend_.traits(), cases_, observation};
  for (std::size_t k = 0; k < cases_.size(); ++k) {
    const Case& c = cases_[k];
    Stage& stage = stages_.emplace_back(
        Stage{.c = c,
              .call = collective_call(c),
              .members = harness::members(c),
              .function = *find_function(c.operation),
              .manner = manner_of(c),
              .component = spec::component(c.type),
              .components = spec::info(c.type).type_class == spec::TypeClass::complex ? 2 : 1,
              .of_member = {}});
    if (collective(reference::contract_named(c.operation)).reduces &&
        (c.type == Type::f16 || c.type == Type::bf16 || spec::is_f8(c.type))) {
      refuse("type", "MPI has no reductions of it");
    }
    static_cast<void>(op_name(stage.call.op));
    for (int r = 0; r < stage.call.ranks; ++r) fill_member(evidence, k, r, stage);
    for (Stage::Member& each : stage.of_member) {
      std::vector<std::byte> rest(spec::to_size(stage.memory_elements * stage.bytes()) -
                                  each.before.size());
      mark(c.type, rest);
      each.before.insert(each.before.end(), rest.begin(), rest.end());
      each.after.insert(each.after.end(), rest.begin(), rest.end());
    }
    if (!is_world(stage.members) && std::ranges::count(groups_, stage.members) == 0) {
      groups_.push_back(stage.members);
    }
  }
}

void Emitter::fill_member(const harness::Evidence& evidence,
                          std::size_t k,
                          int rank,
                          Stage& stage) {
  const harness::BufferView view = harness::view(evidence, k, rank);
  const harness::ImageLayout& layout = view.layout;
  Stage::Member member;
  member.extents = layout.extents;
  const std::int64_t bytes = stage.bytes();
  const std::int64_t send_elements = layout.send < 0 ? 0 : layout.send_size / bytes;
  member.recv_elements = layout.recv < 0 ? 0 : layout.recv_size / bytes;
  member.shares = stage.c.in_place && !layout.extents.send.empty() && !layout.extents.recv.empty();
  if (layout.send >= 0) member.send = 0;
  if (layout.recv >= 0) member.recv = send_elements;
  if (member.shares) {
    const std::int64_t first = std::min(layout.send, layout.recv);
    member.send = (layout.send - first) / bytes;
    member.recv = (layout.recv - first) / bytes;
  }
  const std::int64_t elements =
      std::max(member.send + send_elements, member.recv + member.recv_elements);
  if (elements > elements_max) {
    refuse("count",
           fmt::format("a rank has {} elements, expected at most {}, which a table has",
                       elements,
                       elements_max));
  }
  member.before.resize(spec::to_size(std::max<std::int64_t>(elements, 0) * bytes));
  mark(stage.c.type, member.before);
  Oracle oracle(evidence, k);
  if (member.send >= 0) {
    const harness::Elements of_send = harness::send_elements(stage.c, layout);
    harness::spread_elements(
        of_send, oracle.input(rank).data(), member.before.data() + member.send * bytes);
  }
  member.after = member.before;
  std::vector<reference::Piece> pieces;
  oracle.collect(rank, pieces);
  numerics::Expected expected;
  for (const reference::Piece& piece : pieces) {
    oracle.expect(piece, 0, piece.count, expected);
    std::vector<std::byte> values(spec::to_size(piece.count * bytes));
    write_expected(stage.c.type, expected, values.data());
    for (std::int64_t i = 0; i < piece.count; ++i) {
      const std::int64_t at = member.recv + (piece.recv_offset + i) * layout.extents.recv_stride;
      std::memcpy(
          member.after.data() + at * bytes, values.data() + i * bytes, spec::to_size(bytes));
      for (std::int64_t p = 0; p < stage.components && !expected.as_bits; ++p) {
        const double bound = bound_of(expected, spec::to_size(i * stage.components + p));
        if (bound == 0) continue;
        member.bounds.resize(spec::to_size(elements * stage.components));
        member.bounds[spec::to_size(at * stage.components + p)] = bound;
      }
    }
  }
  stage.memory_elements = std::max({stage.memory_elements, elements, std::int64_t{1}});
  stage.of_member.push_back(std::move(member));
}

std::string Emitter::comm_of(const Stage& stage) const {
  const auto found = std::ranges::find(groups_, stage.members);
  return found == groups_.end() ? "MPI_COMM_WORLD"
                                : fmt::format("group_{}", found - groups_.begin() + 1);
}

void Emitter::write_head() {
  const spec::Contract& contract = reference::contract_named(case_.operation);
  line("// {}{} of {} ranks{}: {}",
       case_.operation,
       case_.algorithm.empty() ? "" : " (" + case_.algorithm + ")",
       group_size(case_),
       cases_.size() > 1 ? fmt::format(", behind {} other calls", cases_.size() - 1) : "",
       contract.summary);
  line(
      "// The program exits with 1 on every rank if an element is wrong on any rank, and says "
      "which.");
  line("// It exits with 0 if all ranks have what the MPI standard demands.");
  line("//   mpicc -o program program.c -lm");
  line("//   mpiexec -n {} ./program", case_.ranks);
  if (!case_.hosts.empty()) {
    line("// Start it so that the ranks are on these hosts: {}", fmt::join(case_.hosts, ", "));
  }
  const nlohmann::json versions = backend_.versions();
  for (const auto& [name, version] : versions.items()) {
    if (version.is_string()) line("// Found with {}: {}", name, version.get<std::string>());
  }
  line("// The case of rankcheck: {}", harness::to_text(case_));
  line("#include <{}.h>", "mpi");
  text_ += R"(#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;

)";
}

void Emitter::write_stage(std::size_t k) {
  const Stage& stage = stages_[k];
  if (!reference::contract_named(stage.c.operation).has_buffers) return;
  const CType& type = c_type(stage.c.type);
  const auto component_bytes = spec::to_size(spec::info(stage.component).bytes);
  const std::size_t length = spec::to_size(stage.memory_elements * stage.components);
  std::vector<std::vector<std::string>> before;
  std::vector<std::vector<std::string>> after;
  std::vector<std::vector<std::string>> bounds;
  bool has_bounds = false;
  for (const Stage::Member& each : stage.of_member) {
    const auto row = [&](const std::vector<std::byte>& memory) {
      std::vector<std::string> values;
      for (std::size_t i = 0; i < length; ++i) {
        values.push_back(literal(stage.component, memory.data() + i * component_bytes));
      }
      return values;
    };
    before.push_back(row(each.before));
    after.push_back(row(each.after));
    std::vector<std::string>& bound = bounds.emplace_back(length, "0");
    for (std::size_t i = 0; i < each.bounds.size(); ++i) {
      const double up = each.bounds[i] * 1.001;
      bound[i] = std::isinf(up) ? "INFINITY" : fmt::format("{:.3g}", up);
      has_bounds = has_bounds || each.bounds[i] > 0;
    }
  }
  const std::size_t number = k + 1;
  line(
      "// Call {}: what the memory of each member has before the call, and what its output must "
      "be.",
      number);
  line("{}", table(type.component, fmt::format("before_{}", number), before));
  line("{}", table(type.component, fmt::format("after_{}", number), after));
  if (has_bounds) {
    line("// The errors that rounding can make.");
    line("{}", table("double", fmt::format("bound_{}", number), bounds));
  }
  line("static {} memory_{}[{}];", type.component, number, length);
  line("");
  // The comparison.
  line("static int check_{}(int me, int begin, int end) {{", number);
  line("  int wrong = 0;");
  line("  for (int i = begin; i < end; ++i) {{");
  line("    const {} got = memory_{}[i], expected = after_{}[me][i];",
       type.component,
       number,
       number);
  const bool is_floating = stage.component == Type::f32 || stage.component == Type::f64;
  line("    if (got == expected{}{}) continue;",
       is_floating ? " || (isnan(got) && isnan(expected))" : "",
       has_bounds ? fmt::format(
                        " || bound_{0}[me][i] == INFINITY ||\n        fabs((double)got - expected) "
                        "<= bound_{0}[me][i]",
                        number)
                  : "");
  line("    ++wrong;");
  line(R"(    printf("call {}: rank %d, {} %d: expected {}, got {}\n", rank, i - begin,)",
       number,
       stage.components > 1 ? "component" : "element",
       type.format,
       type.format);
  line("           ({})expected, ({})got);", type.printed, type.printed);
  line("  }}");
  line("  return wrong;");
  line("}}");
  line("");
}

std::string Emitter::call_text(const Stage& stage) const {
  std::string text(stage.function.arguments);
  const bool has_c_types = stage.c.algorithm == "c_types";
  const auto replace = [&](std::string_view word, const std::string& value) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word)) {
      text.replace(at, word.size(), value);
    }
  };
  const std::size_t number = spec::to_size(&stage - stages_.data()) + 1;
  replace("{count}", std::to_string(stage.call.count));
  replace("{root}", std::to_string(stage.call.root));
  replace("{op}", std::string(op_name(stage.call.op)));
  replace("{type}",
          std::string(has_c_types ? c_type(stage.c.type).mpi_of_c : c_type(stage.c.type).mpi));
  replace("{send_blocks}", fmt::format("send_counts_{0}[me], send_places_{0}[me]", number));
  replace("{recv_blocks}", fmt::format("recv_counts_{0}[me], recv_places_{0}[me]", number));
  replace("{send_counts}", fmt::format("send_counts_{}[me]", number));
  replace("{send_count}", fmt::format("send_counts_{}[me][0]", number));
  replace("{recv_count}", fmt::format("recv_counts_{}[me][0]", number));
  if (!text.empty()) text += ", ";
  return text + comm_of(stage);
}

/// The distances between the elements of both buffers.
std::array<std::pair<std::string_view, std::int64_t>, 2> strides_of(const Stage& stage) {
  const spec::Extents& extents = stage.of_member.front().extents;
  return {{{"send", extents.send_stride}, {"recv", extents.recv_stride}}};
}

void Emitter::write_blocks(std::size_t k, const std::string& arguments, std::string_view side) {
  const bool sends = side == "send";
  if (arguments.find(fmt::format("{}_counts_", side)) == std::string::npos) return;
  const auto blocks_of = [&](const Stage::Member& each) -> const std::vector<spec::Block>& {
    return sends ? each.extents.send : each.extents.recv;
  };
  std::size_t most = 1;
  for (const Stage::Member& each : stages_[k].of_member) {
    most = std::max(most, blocks_of(each).size());
  }
  std::vector<std::vector<std::string>> counts;
  std::vector<std::vector<std::string>> places;
  for (const Stage::Member& each : stages_[k].of_member) {
    counts.emplace_back(most, "0");
    places.emplace_back(most, "0");
    for (std::size_t b = 0; b < blocks_of(each).size(); ++b) {
      counts.back()[b] = std::to_string(blocks_of(each)[b].count);
      places.back()[b] = std::to_string(blocks_of(each)[b].offset);
    }
  }
  line("    {}", table("int", fmt::format("{}_counts_{}", side, k + 1), counts));
  if (arguments.find(fmt::format("{}_places_", side)) == std::string::npos) return;
  line("    {}", table("int", fmt::format("{}_places_{}", side, k + 1), places));
}

void Emitter::write_buffers(std::size_t k) {
  const Stage& stage = stages_[k];
  const CType& type = c_type(stage.c.type);
  const std::size_t number = k + 1;
  const auto per_member = [&](auto value) {
    std::vector<std::int64_t> values;
    for (const Stage::Member& each : stage.of_member) values.push_back(value(each));
    return fmt::format("{}", fmt::join(values, ", "));
  };
  const std::string scale = stage.components > 1 ? fmt::format("{} * ", stage.components) : "";
  line("    static const int send_at[] = {{{}}};",
       per_member([](auto& each) { return each.send; }));
  line("    static const int recv_at[] = {{{}}};",
       per_member([](auto& each) { return each.recv; }));
  line("    MPI_Datatype send_type = {0}, recv_type = {0};", type.mpi);
  for (const auto& [word, stride] : strides_of(stage)) {
    if (stride == 1) continue;
    line("    // The elements lie {} apart.", stride);
    line("    MPI_Type_create_resized({}, 0, {}, &{}_type);",
         type.mpi,
         stride * stage.bytes(),
         word);
    line("    MPI_Type_commit(&{}_type);", word);
  }
  line("    void* send = send_at[me] < 0 ? NULL : memory_{} + {}send_at[me];", number, scale);
  line("    void* recv = recv_at[me] < 0 ? NULL : memory_{} + {}recv_at[me];", number, scale);
  const bool any_shares = std::ranges::any_of(stage.of_member, &Stage::Member::shares);
  const bool is_broadcast = stage.c.operation == "broadcast";
  if (any_shares && !is_broadcast) {
    line("    static const int in_place[] = {{{}}};",
         per_member([](auto& each) { return std::int64_t{each.shares ? 1 : 0}; }));
    line("    if (in_place[me]) {} = MPI_IN_PLACE;",
         stage.c.operation.starts_with("scatter") ? "recv" : "send");
  }
  line("    memcpy(memory_{0}, before_{0}[me], sizeof memory_{0});", number);
  if (is_broadcast && !any_shares) {
    line("    if (me == {}) memcpy(recv, send, {});",
         stage.call.root,
         stage.call.count * stage.bytes());
  }
  line("    (void)send, (void)recv, (void)send_type, (void)recv_type;");
}

void Emitter::write_persistent(std::size_t k, const std::string& arguments) {
  const std::size_t number = k + 1;
  line("    MPI_{}_init({}, MPI_INFO_NULL, &request_{});",
       stages_[k].function.name,
       arguments,
       number);
  line("    // The first start has other data.");
  line("    for (int start = 0; start < 2; ++start) {{");
  if (reference::contract_named(stages_[k].c.operation).has_buffers) {
    line("      memcpy(memory_{0}, before_{0}[me], sizeof memory_{0});", number);
    line(
        "      for (size_t i = 0; start == 0 && i < sizeof memory_{0}; ++i) "
        "((char*)memory_{0})[i] ^= 1;",
        number);
  }
  line("      MPI_Start(&request_{});", number);
  line("      if (start == 0) MPI_Wait(&request_{}, MPI_STATUS_IGNORE);", number);
  line("    }}");
}

void Emitter::write_call(std::size_t k) {
  const Stage& stage = stages_[k];
  std::string name(stage.function.name);
  const std::string arguments = call_text(stage);
  line("  // Call {}", k + 1);
  line("  me = {};", is_world(stage.members) ? "rank" : "-1");
  for (std::size_t r = 0; r < stage.members.size() && !is_world(stage.members); ++r) {
    line("  if (rank == {}) me = {};", stage.members[r], r);
  }
  line("  if (me >= 0) {{");
  if (reference::contract_named(stage.c.operation).has_buffers) {
    write_blocks(k, arguments, "send");
    write_blocks(k, arguments, "recv");
    write_buffers(k);
  }
  if (stage.c.late >= 0) line("    if (me == {}) usleep(100000);", stage.c.late);
  if (stage.manner == Manner::blocking) {
    line("    MPI_{}({});", name, arguments);
  } else if (stage.manner == Manner::persistent) {
    write_persistent(k, arguments);
  } else {
    name.front() = static_cast<char>(name.front() - 'A' + 'a');
    line("    MPI_I{}({}, &request_{});", name, arguments, k + 1);
  }
  for (const auto& [word, stride] : strides_of(stage)) {
    if (stride != 1) line("    MPI_Type_free(&{}_type);", word);
  }
  line("  }}");
}

void Emitter::write_end(std::size_t k) {
  const Stage& stage = stages_[k];
  const std::size_t number = k + 1;
  if (stage.manner != Manner::blocking) line("  MPI_Wait(&request_{}, MPI_STATUS_IGNORE);", number);
  if (stage.manner == Manner::persistent) {
    line("  if (request_{0} != MPI_REQUEST_NULL) MPI_Request_free(&request_{0});", number);
  }
}

void Emitter::write_main() {
  text_ += R"(// Returns the sum of a number over all ranks, with messages alone.
static int everywhere(int own, int size) {
  int all = own;
  for (int r = 1; r < size; ++r) {
    int other = 0;
    if (rank == r) MPI_Send(&own, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(&other, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    all += other;
  }
  for (int r = 1; r < size; ++r) {
    if (rank == 0) MPI_Send(&all, 1, MPI_INT, r, 0, MPI_COMM_WORLD);
    if (rank == r) MPI_Recv(&all, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return all;
}

int main(int argc, char** argv) {
  int size, me, wrong = 0;
)";
  for (const auto& [name, value] : variables_) line(R"(  setenv("{}", "{}", 1);)", name, value);
  line("  MPI_Init(&argc, &argv);");
  line("  MPI_Comm_rank(MPI_COMM_WORLD, &rank);");
  line("  MPI_Comm_size(MPI_COMM_WORLD, &size);");
  line("  if (size != {}) {{", case_.ranks);
  line(R"(    if (rank == 0) fprintf(stderr, "got %d ranks, expected {}\n", size);)", case_.ranks);
  line("    MPI_Finalize();");
  line("    return 2;");
  line("  }}");
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    std::vector<int> keys(spec::to_size(case_.ranks), -1);
    for (std::size_t r = 0; r < groups_[g].size(); ++r) {
      keys[spec::to_size(groups_[g][r])] = static_cast<int>(r);
    }
    line("  // The place of each rank in the communicator. -1: it is no member.");
    line("  static const int keys_{}[] = {{{}}};", g + 1, fmt::join(keys, ", "));
    line("  MPI_Comm group_{};", g + 1);
    write_split(g);
  }
  for (std::size_t k = 0; k < stages_.size(); ++k) {
    if (stages_[k].manner != Manner::blocking) {
      line("  MPI_Request request_{} = MPI_REQUEST_NULL;", k + 1);
    }
  }
  write_calls();
  write_checks();
  text_ += R"(  wrong = everywhere(wrong, size);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
)";
}

void Emitter::write_split(std::size_t g) {
  line(
      "  MPI_Comm_split(MPI_COMM_WORLD, keys_{0}[rank] < 0 ? MPI_UNDEFINED : 0, keys_{0}[rank], "
      "&group_{0});",
      g + 1);
}

void Emitter::write_calls() {
  std::vector<std::size_t> under_way;
  const auto end_all = [&] {
    while (!under_way.empty()) {
      const bool is_oldest = stages_[under_way.back()].c.data_seed % 2 == 0;
      const auto next = is_oldest ? under_way.begin() : under_way.end() - 1;
      write_end(*next);
      under_way.erase(next);
    }
  };
  for (std::size_t k = 0; k < stages_.size(); ++k) {
    write_call(k);
    if (stages_[k].c.overlaps) {
      under_way.push_back(k);
      continue;
    }
    write_end(k);
    end_all();
    const auto group = std::ranges::find(groups_, stages_[k].members);
    if (!stages_[k].c.frees || group == groups_.end()) continue;
    const auto g = spec::to_size(group - groups_.begin());
    line("  if (group_{0} != MPI_COMM_NULL) MPI_Comm_free(&group_{0});", g + 1);
    write_split(g);
  }
  end_all();
}

void Emitter::write_checks() {
  line("  // All results, when all calls have ended.");
  for (std::size_t k = 0; k < stages_.size(); ++k) {
    const Stage& stage = stages_[k];
    for (std::size_t r = 0; r < stage.of_member.size(); ++r) {
      const Stage::Member& each = stage.of_member[r];
      if (each.extents.recv.empty()) continue;
      line("  if (rank == {}) wrong += check_{}({}, {}, {});",
           stage.members[r],
           k + 1,
           r,
           each.recv * stage.components,
           (each.recv + each.recv_elements) * stage.components);
    }
  }
}

std::string Emitter::program() {
  read_stages();
  write_head();
  for (std::size_t k = 0; k < stages_.size(); ++k) write_stage(k);
  write_main();
  return std::move(text_);
}

}  // namespace

std::string mpi_program(const harness::Catalogue& catalogue,
                        const harness::Backend& backend,
                        const Case& c) {
  return Emitter(catalogue, backend, c).program();
}

}  // namespace rankcheck::cases::emit

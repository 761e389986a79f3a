#include "gpu/plan/print.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::plan {

namespace {

constexpr std::array<std::string_view, 3> buffer_names{"send", "recv", "scratch"};
constexpr std::array<std::string_view, 5> kind_names{"put", "copy", "reduce", "signal", "wait"};

std::string step_text(const Plan& plan, const Step& step, int rank) {
  std::string text(kind_names[spec::to_size(step.kind)]);
  if (!moves_data(step)) {
    if (step.event.id < plan.ranks()) {
      return text + " entry of rank " + std::to_string(step.event.id);
    }
    return text + " event " + std::to_string(step.event.id);
  }
  std::string_view separator = " ";
  for (const Range& source : plan.sources_of(step)) {
    text.append(separator).append(to_text(source, rank));
    separator = " + ";
  }
  text.append(" -> ").append(to_text(step.destination, rank));
  if (step.finish) text += ", finish";
  return text;
}

}  // namespace

std::string to_text(const Range& range, int home) {
  std::string text(buffer_names[spec::to_size(range.buffer)]);
  // The sum is unsigned because a range that is out of bounds may overflow.
  const std::uint64_t end =
      static_cast<std::uint64_t>(range.offset) + static_cast<std::uint64_t>(range.count);
  text += '[' + std::to_string(range.offset) + ".." +
          std::to_string(static_cast<std::int64_t>(end)) + ')';
  if (range.rank != home) text += " of rank " + std::to_string(range.rank);
  return text;
}

std::string to_text(const Plan& plan, const Move& move) {
  const auto& program = plan.steps[spec::to_size(move.rank)];
  std::string text = "rank " + std::to_string(move.rank);
  if (move.step == Move::entry) return text + " (entering)";
  const auto step = spec::to_size(move.step);
  if (step >= program.size()) return text + " (leaving)";
  return text + " step " + std::to_string(move.step) + " (" +
         step_text(plan, program[step], move.rank) + ")";
}

std::string to_text(const Plan& plan) {
  std::string text;
  for (int rank = 0; rank < plan.ranks(); ++rank) {
    const auto r = spec::to_size(rank);
    text += "rank " + std::to_string(rank);
    if (plan.scratch[r] > 0) text += ", scratch " + std::to_string(plan.scratch[r]);
    text += '\n';
    for (std::size_t i = 0; i < plan.steps[r].size(); ++i) {
      text += "  " + std::to_string(i) + " " + step_text(plan, plan.steps[r][i], rank) + '\n';
    }
  }
  return text;
}

}  // namespace rankcheck::gpu::plan

#include "cases/evaluate/evaluate.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "harness/base/files.hpp"
#include "harness/base/table.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/run/outputs.hpp"

#include "cases/commands/options.hpp"
#include "cases/suites/catalogue.hpp"

namespace rankcheck::cases {

namespace {

using evaluate::NamedPath;
using evaluate::Side;
using harness::BadInput;
using harness::Case;
using harness::Judgement;
using harness::Verdict;

struct EvaluateOptions {
  std::string operation;
  std::vector<std::string> inputs;
  std::vector<std::string> expected;
  std::vector<std::string> outputs;
  std::string fields = "{}";
  std::string backend;
  std::string algorithm;
  bool is_description = false;
};

void describe_side(const spec::Contract& contract, Side side) {
  harness::Table table(
      {{side == Side::input ? "--input" : "--expect, --output"}, {"type"}, {"shape"}});
  for (const evaluate::Description& each : evaluate::arrays_of(contract).describe(contract, side)) {
    table.add({each.name, each.type, each.shape});
  }
  if (!table.empty()) fmt::print("\n{}", table.text(terminal_width()));
}

void describe(const spec::Contract& contract) {
  fmt::print("{}: {}\n{}\n", contract.name, contract.summary, contract.formula);
  describe_side(contract, Side::input);
  describe_side(contract, Side::output);
}

void print_judgement(const Judgement& judgement) {
  print_verdict(judgement.verdict, judgement.reason);
  print_compared(judgement);
}

/// Runs the implementation. Returns the worst verdict of the properties that one call can show.
Verdict evaluate_implementation(const harness::Catalogue& catalogue,
                                const Case& c,
                                harness::Backend& backend) {
  harness::Examiner examiner(catalogue, backend);
  Verdict worst = Verdict::passed;
  for (const harness::Property* each : evaluate::properties_of(*catalogue.find(c.operation), c)) {
    Case checked = c;
    checked.property = each->name;
    Judgement judgement;
    examiner.examine(checked, judgement);
    const std::vector<std::string>& path = examiner.observation().path;
    fmt::print("property   {}, on {} by {}\n",
               each->name,
               c.backend,
               path.empty() ? "nothing" : path.front());
    print_judgement(judgement);
    if (worst == Verdict::passed) worst = judgement.verdict;
  }
  return worst;
}

void print_expected(const evaluate::ExpectedOutcome& outcome,
                    const std::vector<evaluate::UserArray>& expected) {
  for (const evaluate::UserArray& each : expected) {
    fmt::print("expected   {} from {}\n", each.name, harness::printable(each.path));
  }
  print_judgement(outcome.judgement);
  for (const auto& [name, worst] : outcome.worst) {
    if (!worst) continue;
    fmt::print("worst      {} {}: expected {}, got {}, error {:.3g}, bound {:.3g}, ratio {:.3g}\n",
               name,
               worst->place,
               worst->expected,
               worst->got,
               worst->error,
               worst->bound,
               worst->ratio);
  }
}

/// Returns the names of the outputs, and of their bounds.
std::vector<std::string> names_to_write(const spec::Contract& contract) {
  std::vector<std::string> names;
  for (const std::string& each : evaluate::names_of(contract, Side::output)) {
    names.push_back(each);
    names.push_back(each + ".bound");
  }
  return names;
}

int status_of(Verdict implementation, Verdict expected) {
  for (const Verdict each : {implementation, expected}) {
    if (is_red(each)) return harness::run::status_failed;
  }
  for (const Verdict each : {implementation, expected}) {
    if (each != Verdict::passed) return harness::run::status_unable;
  }
  return harness::run::status_held;
}

int evaluate_call(const EvaluateOptions& options, const harness::StopRequest& stop) {
  const harness::Catalogue catalogue = make_catalogue();
  const harness::Operation* const operation = catalogue.find(options.operation);
  if (operation == nullptr) {
    throw BadInput("operation: " + harness::unknown_operation(catalogue, options.operation));
  }
  const spec::Contract& contract = operation->contract;
  if (!contract.has_buffers) {
    throw BadInput(fmt::format("operation: {} has no arrays to evaluate", contract.name));
  }
  if (options.is_description) {
    describe(contract);
    return harness::run::status_held;
  }
  const std::vector<std::string> outputs = evaluate::names_of(contract, Side::output);
  const std::vector<NamedPath> inputs = evaluate::read_arguments(
      "--input", options.inputs, evaluate::names_of(contract, Side::input));
  const std::vector<NamedPath> expect =
      evaluate::read_arguments("--expect", options.expected, outputs);
  const std::vector<NamedPath> write =
      evaluate::read_arguments("--output", options.outputs, names_to_write(contract));
  nlohmann::ordered_json fields = evaluate::read_fields(contract, options.fields);
  if (!options.backend.empty()) fields["backend"] = options.backend;
  if (!options.algorithm.empty()) fields["algorithm"] = options.algorithm;
  const std::vector<evaluate::UserArray> own = evaluate::read_arrays("--input", inputs, fields);
  Case c = evaluate::complete_case(contract, own, fields);
  if (catalogue.find_property(c.operation, c.property) == nullptr) {
    c.property = operation->properties.front().name;
  }
  const std::unique_ptr<harness::Backend> backend = open_for(catalogue, c, stop);
  evaluate::give_inputs(contract, own, c);
  fields["ranks"] = c.ranks;
  const std::vector<evaluate::UserArray> expected =
      evaluate::read_arrays("--expect", expect, fields);
  evaluate::ExpectedOutcome outcome;
  std::vector<std::pair<std::filesystem::path, std::string>> files;
  if (!expected.empty() || !write.empty()) {
    const evaluate::ReferenceCall reference(catalogue, c);
    outcome = reference.judge(expected);
    files = reference.write(write);
    for (const auto& [path, content] : files) harness::run::require_writable_file(path);
  }
  fmt::print("case       {}\n", harness::to_text(c));
  fmt::print("operation  {}: {}\n", c.operation, contract.summary);
  const Verdict of_implementation = evaluate_implementation(catalogue, c, *backend);
  // What the user asked about comes after what the implementation makes of it.
  if (!expected.empty()) print_expected(outcome, expected);
  for (const auto& [path, content] : files) {
    harness::write_file(path, content);
    fmt::print("wrote      {}\n", harness::printable(path.string()));
  }
  if (const auto failure = backend->close()) {
    fmt::print("afterwards {}\n", harness::printable(failure->reason));
    return harness::run::status_failed;
  }
  return status_of(of_implementation, outcome.judgement.verdict);
}

}  // namespace

void add_evaluate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "evaluate",
      "Calls an operation on your own arrays, and compares implementation and expected arrays "
      "with the reference.");
  const auto options = std::make_shared<EvaluateOptions>();
  const AddOption add{*command};
  add("operation OPERATION", options->operation, "The name of an operation.")->required();
  add("--input NAME=FILE",
      options->inputs,
      "An input as a .npy file. {rank} in the path stands for each rank.");
  add("--expect NAME=FILE", options->expected, "An output that you expect, as a .npy file.");
  add("--output NAME=FILE",
      options->outputs,
      "Where to write the reference's output, or its bounds: NAME.bound=FILE.");
  add("--case JSON", options->fields, "Fields of the case as JSON text, such as '{\"ranks\":4}'.");
  add("--backend NAME", options->backend, "The backend of the implementation.");
  add("--algorithm NAME", options->algorithm, "The algorithm of the implementation.");
  command->add_flag("--describe",
                    options->is_description,
                    "Prints the names, types and shapes of the operation's arrays, and ends.");
  set_work(*command, context, "there was a result", [options](const auto& interrupt) {
    return evaluate_call(*options, interrupt.stop());
  });
}

}  // namespace rankcheck::cases

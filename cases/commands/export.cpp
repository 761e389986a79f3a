#include <algorithm>
#include <complex>

#include <fmt/format.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/base/files.hpp"
#include "harness/base/npy.hpp"
#include "harness/case/family.hpp"
#include "harness/case/image.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/run/outputs.hpp"

#include "cases/collectives/oracle.hpp"
#include "cases/commands/options.hpp"
#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/shapes.hpp"
#include "cases/ptycho/stage.hpp"
#include "cases/suites/catalogue.hpp"

namespace rankcheck::cases {

namespace {

namespace fs = std::filesystem;
using harness::Case;
using harness::Image;
using nlohmann::ordered_json;

/// One stage of a collective after it ran: each member's input, expected output and actual output.
class CollectiveExport {
 public:
  CollectiveExport(const harness::Evidence& evidence, std::size_t stage)
      : stage_(stage), case_(evidence.stages[stage]), oracle_(evidence, stage) {
    const std::vector<int> ranks = members(case_);
    for (int r = 0; r < oracle_.call().ranks; ++r) {
      const std::byte* previous = nullptr;
      if (case_.input == harness::InputKind::previous) {
        const harness::BufferView before = view(evidence, stage - 1, r);
        previous = before.layout.recv < 0 ? before.image : before.recv();
      }
      befores_.emplace_back();
      prepare(harness::family_of(reference::contract_named(case_.operation)),
              case_,
              ranks[spec::to_size(r)],
              oracle_.view(r).layout,
              previous,
              befores_.back());
    }
  }

  /// Writes the arrays and appends their descriptions to `files`.
  void write(const fs::path& folder, ordered_json& files) {
    for (int r = 0; r < oracle_.call().ranks; ++r) {
      const harness::BufferView& after = oracle_.view(r);
      const harness::ImageLayout& layout = after.layout;
      const Image& before = befores_[spec::to_size(r)];
      if (layout.send >= 0) {
        const auto input =
            gather_elements(send_elements(case_, layout), before.data() + layout.send);
        write(folder, r, "input", input.data(), layout.extents.send_size, files);
      }
      if (layout.recv < 0) continue;
      const std::vector<std::byte> expected = expect(r);
      const std::int64_t size = layout.extents.recv_size;
      write(folder, r, "expected", expected.data(), size, files);
      write(folder, r, "actual", after.recv(), size, files);
    }
  }

 private:
  /// Returns the elements of recv before the call, with every defined output replaced by the
  /// reference's result.
  std::vector<std::byte> expect(int rank) {
    std::vector<reference::Piece> pieces;
    oracle_.collect(rank, pieces);
    const harness::ImageLayout& layout = oracle_.view(rank).layout;
    std::vector<std::byte> recv = gather_elements(
        recv_elements(case_, layout), befores_[spec::to_size(rank)].data() + layout.recv);
    numerics::Expected expected;
    for (const reference::Piece& piece : pieces) {
      oracle_.expect(piece, 0, piece.count, expected);
      write_expected(
          case_.type, expected, recv.data() + piece.recv_offset * spec::info(case_.type).bytes);
    }
    return recv;
  }

  void write(const fs::path& folder,
             int rank,
             std::string_view what,
             const std::byte* elements,
             std::int64_t count,
             ordered_json& files) const {
    const std::string name = fmt::format("stage{}-rank{}-{}.npy", stage_, rank, what);
    harness::write_file(folder / name, harness::to_npy(case_.type, elements, {count}));
    files.push_back({{"file", name},
                     {"stage", stage_},
                     {"rank", rank},
                     {"content", what},
                     {"type", spec::name(case_.type)},
                     {"elements", count}});
  }

  std::size_t stage_;
  const Case& case_;
  Oracle oracle_;
  std::vector<Image> befores_;
};

/// One stage of an operator after it ran, in double precision. The arrays are whole: each rank had
/// a part of each array, or all of it.
class OperatorExport {
 public:
  OperatorExport(OperatorStage stage, std::size_t number)
      : stage_(std::move(stage)), number_(number) {}

  /// Writes the arrays and appends their descriptions to `files`.
  void write(const fs::path& folder, ordered_json& files) const {
    for (const spec::Array array : ptycho(stage_.contract).inputs) {
      write(folder, array, "input", stage_.in[array].values, files);
    }
    for (const spec::Array array : ptycho(stage_.contract).outputs) {
      const reference::BoundedArray& expected = stage_.expected[array];
      write(folder, array, "expected", expected.values, files);
      write(folder,
            array,
            "bound",
            std::vector<std::complex<double>>(expected.errors.begin(), expected.errors.end()),
            files);
      write(folder, array, "actual", stage_.got[array].values, files);
    }
  }

 private:
  void write(const fs::path& folder,
             spec::Array array,
             std::string_view what,
             const std::vector<std::complex<double>>& values,
             ordered_json& files) const {
    const bool is_complex = spec::info(array).is_complex && what != "bound";
    std::vector<double> components;
    for (const std::complex<double>& value : values) {
      components.push_back(value.real());
      if (is_complex) components.push_back(value.imag());
    }
    const spec::Type type = is_complex ? spec::Type::complex128 : spec::Type::f64;
    const std::string name = fmt::format("stage{}-{}-{}.npy", number_, spec::name(array), what);
    const auto* bytes = reinterpret_cast<const std::byte*>(components.data());
    const std::vector<std::int64_t> shape =
        shape_of(ptycho(stage_.c).scene, array, static_cast<std::int64_t>(values.size()));
    harness::write_file(folder / name, harness::to_npy(type, bytes, shape));
    files.push_back({{"file", name},
                     {"stage", number_},
                     {"array", spec::name(array)},
                     {"content", what},
                     {"type", spec::name(type)},
                     {"elements", values.size()},
                     {"shape", shape}});
  }

  OperatorStage stage_;
  std::size_t number_;
};

int export_case(const std::string& text_or_path,
                const fs::path& folder,
                const harness::StopRequest& stop) {
  harness::run::require_writable_folder(folder);
  const harness::Catalogue catalogue = make_catalogue();
  const Case c = read_case(catalogue, text_or_path);
  const std::unique_ptr<harness::Backend> backend = open_for(catalogue, c, stop);
  harness::Examiner examiner(catalogue, *backend);
  harness::Judgement judgement;
  examiner.examine(c, judgement);
  const harness::Observation& observation = examiner.observation();
  if (observation.status != harness::RunStatus::completed) {
    throw harness::BadInput(
        fmt::format("case: has no outputs: {}: {}", name(judgement.verdict), judgement.reason));
  }
  harness::make_folder(folder);
  const harness::Evidence evidence{catalogue, backend->traits(), examiner.stages(), observation};
  ordered_json files = ordered_json::array();
  ordered_json stages = ordered_json::array();
  for (std::size_t s = 0; s < examiner.stages().size(); ++s) {
    stages.push_back(to_json(examiner.stages()[s]));
    const Case& stage = examiner.stages()[s];
    if (family(catalogue.find(stage.operation)->contract) == "ptycho") {
      OperatorExport(read_stage(evidence, s, reference::Follow::results), s).write(folder, files);
    } else {
      CollectiveExport(evidence, s).write(folder, files);
    }
  }
  const ordered_json manifest{
      {"case", to_json(c)},
      {"verdict", name(judgement.verdict)},
      {"reason", judgement.reason},
      {"stages", std::move(stages)},
      {"files", files},
  };
  harness::write_file(folder / "manifest.json", manifest.dump(1) + '\n');
  fmt::print("{}: {}{}{}\n{} arrays and manifest.json in {}\n",
             name(judgement.verdict),
             judgement.reason,
             judgement.reason.empty() ? "" : ": ",
             harness::to_text(c),
             files.size(),
             folder.string());
  return harness::run::status_held;
}

}  // namespace

void add_export(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "export", "Writes a case's inputs, expected outputs and actual outputs as .npy arrays.");
  struct Options {
    std::string text;
    std::string folder = "rankcheck-export";
  };
  const auto options = std::make_shared<Options>();
  const AddOption add{*command, true};
  add("case CASE", options->text, "The case as JSON text, or a file that contains it.")->required();
  add("--output DIR", options->folder, "The folder for the arrays.");
  set_work(*command, context, "there was a result", [options](const auto& interrupt) {
    return export_case(options->text, options->folder, interrupt.stop());
  });
}

}  // namespace rankcheck::cases

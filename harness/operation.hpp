#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/spec/contract.hpp"

#include "harness/backend.hpp"
#include "harness/verdict.hpp"

namespace rankcheck::harness {

class Catalogue;

/// What a property may look at when it judges.
struct Evidence {
  const Catalogue& catalogue;
  const BackendTraits& traits;
  std::span<const Case> stages;
  const Observation& observation;
};

/// An assertion about one or more runs of a case.
struct Property {
  std::string_view name;
  /// One sentence in the present tense.
  std::string_view summary;
  /// Whether the property says something about a case (of an operation that claims it).
  bool (*applies)(const spec::Contract& contract, const Case& c) = nullptr;
  /// Bends a freshly generated case into one that the property can use (exact inputs, say).
  void (*adapt)(const spec::Contract& contract, Case& c) = nullptr;
  /// Appends the runs that the property needs.
  void (*program)(const spec::Contract& contract,
                  const Case& c,
                  std::vector<Case>& stages) = nullptr;
  /// Judges what the stages left; memory contracts were checked on every stage before.
  void (*check)(const Evidence& evidence, Judgement& judgement) = nullptr;
};

/// What the harness knows of one operation; made in cases/.
struct Operation {
  spec::Contract contract;
  std::vector<Property> properties;
};

/// All operations, sorted by name.
class Catalogue {
 public:
  explicit Catalogue(std::vector<Operation> operations) : operations_(std::move(operations)) {}

  [[nodiscard]] const std::vector<Operation>& operations() const { return operations_; }
  /// Null when there is no operation of that name.
  [[nodiscard]] const Operation* find(std::string_view name) const;
  /// Null when the operation does not claim such a property.
  [[nodiscard]] const Property* find_property(std::string_view operation,
                                              std::string_view property) const;

 private:
  std::vector<Operation> operations_;
};

/// What a member holds after a stage: its buffers as laid out, read only.
struct BufferView {
  ImageLayout layout;
  const std::byte* image = nullptr;

  [[nodiscard]] const std::byte* send() const { return image + layout.send; }
  [[nodiscard]] const std::byte* recv() const { return image + layout.recv; }
};

/// The buffers of group rank `rank` after stage `stage`.
[[nodiscard]] BufferView view(const Evidence& evidence, std::size_t stage, int rank);

/// Fails the judgement where two runs of elements of one type differ in a bit: elements
/// `got_first`… of recv of (stage, rank) against `expected`. `what` names the comparison.
void expect_same_bits(const Case& c,
                      int rank,
                      std::int64_t got_first,
                      std::int64_t count,
                      const std::byte* got,
                      const std::byte* expected,
                      std::string_view what,
                      Judgement& judgement);

/// expect_same_bits for every recv block of `rank` in two stages of equal extents.
void expect_same_output(const Evidence& evidence,
                        std::size_t expected_stage,
                        std::size_t got_stage,
                        int rank,
                        std::string_view what,
                        Judgement& judgement);

/// Fails the judgement where a member's output differs in a bit from that of the first member, in a
/// stage that must leave the same on all.
void expect_ranks_agree(const Evidence& evidence, std::size_t stage, Judgement& judgement);

/// What a complaint about the name of an operation that the catalogue lacks ends with.
[[nodiscard]] std::string unknown_operation(const Catalogue& catalogue, const std::string& name);

/// Why a case cannot be run by anyone, in words that name the field: unknown operation or property,
/// bad group, illegal call. Empty when it can.
[[nodiscard]] std::string why_invalid(const Catalogue& catalogue, const Case& c);

/// Runs a case and judges it: refused and invalid cases are errored, memory contracts are checked
/// on every stage, then the property, then that all ranks agree where the contract says so. A case
/// that passes although nothing was compared of a rank with output, or although an output had no
/// useful bound, is vacuous. The buffers inside
/// are reused from case to case.
class Examiner {
 public:
  Examiner(const Catalogue& catalogue, Backend& backend)
      : catalogue_(catalogue), backend_(backend) {}

  /// Never throws for what the subject does.
  void examine(const Case& c, Judgement& judgement);

  [[nodiscard]] Backend& backend() { return backend_; }
  /// The stages and what they left, of the last case: for export and for a verbose replay.
  [[nodiscard]] std::span<const Case> stages() const { return stages_; }
  [[nodiscard]] const Observation& observation() const { return observation_; }

 private:
  void check_memory(std::size_t stage, Judgement& judgement);
  void check_agreement(Judgement& judgement);
  void check_power(const spec::Contract& contract, const Case& c, Judgement& judgement);
  [[nodiscard]] Evidence evidence() const {
    return {catalogue_, backend_.traits(), stages_, observation_};
  }

  const Catalogue& catalogue_;
  Backend& backend_;
  std::vector<Case> stages_;
  Observation observation_;
  ImageLayout layout_;
  Image before_;
};

}  // namespace rankcheck::harness

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "reference/spec/contract.hpp"

#include "harness/backend/backend.hpp"
#include "harness/case/verdict.hpp"
#include "harness/check/call_history.hpp"

namespace rankcheck::harness {

class Catalogue;

/// The data that a property judges.
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
  /// Whether the property applies to a case of an operation that claims the property. Null: always.
  bool (*applies)(const spec::Contract& contract, const Case& c) = nullptr;
  /// Changes a newly generated case so that the property can use it, for example to exact inputs.
  /// May be null.
  void (*adapt)(const spec::Contract& contract, Case& c) = nullptr;
  /// Appends the runs that the property needs.
  void (*program)(const spec::Contract& contract,
                  const Case& c,
                  std::vector<Case>& stages) = nullptr;
  /// Judges the results of the stages. The memory of every stage has been checked before.
  void (*check)(const Evidence& evidence, Judgement& judgement) = nullptr;
  /// Whether cases have earlier calls; see Case::earlier.
  bool has_earlier = false;
};

/// What the harness knows about one operation; defined in cases/.
struct Operation {
  spec::Contract contract;
  std::vector<Property> properties;
};

/// All operations, sorted by name.
class Catalogue {
 public:
  explicit Catalogue(std::vector<Operation> operations);

  [[nodiscard]] const std::vector<Operation>& operations() const { return operations_; }
  /// Returns null if there is no operation with this name.
  [[nodiscard]] const Operation* find(std::string_view name) const;
  /// Returns null if the operation does not claim the property.
  [[nodiscard]] const Property* find_property(std::string_view operation,
                                              std::string_view property) const;

 private:
  std::vector<Operation> operations_;
  /// The index of each operation. Every case looks for its operation several times.
  std::unordered_map<std::string_view, std::size_t> index_;
};

/// A member's buffers after a stage, with their layout; read only.
struct BufferView {
  ImageLayout layout;
  const std::byte* image = nullptr;
  /// The elements of strided buffers, one behind the other. Empty if the buffer in the image is
  /// dense.
  std::vector<std::byte> dense_send = {};
  std::vector<std::byte> dense_recv = {};

  /// The elements of the whole buffers, one behind the other.
  [[nodiscard]] const std::byte* send() const {
    return dense_send.empty() ? image + layout.send : dense_send.data();
  }
  [[nodiscard]] const std::byte* recv() const {
    return dense_recv.empty() ? image + layout.recv : dense_recv.data();
  }
};

/// The buffers of group rank `rank` after stage `stage`.
[[nodiscard]] BufferView view(const Evidence& evidence, std::size_t stage, int rank);

/// A case, its place in the program of a property, and WrongElement::compared_with.
struct StagedCase {
  // NOLINTNEXTLINE(google-explicit-constructor): a case alone is the first stage.
  StagedCase(const Case& its_case, std::size_t its_stage = 0, std::string_view with = {})
      : c(its_case), stage(its_stage), compared_with(with) {}

  const Case& c;
  std::size_t stage = 0;
  std::string_view compared_with;
};

/// Lists a wrong element of a stage, with what StagedCase says. Does not count it.
void list_wrong(const StagedCase& at, WrongElement wrong, Judgement& judgement);

/// Fails the judgement if two runs of elements differ in a bit: `got`, which starts at element
/// `got_first` of rank's recv buffer, and `expected`. `what` is the reason for the failure. If
/// these are of two ranks, elements may differ where Family::is_same says so.
void expect_same_bits(const StagedCase& at,
                      int rank,
                      std::int64_t got_first,
                      std::int64_t count,
                      const std::byte* got,
                      const std::byte* expected,
                      std::string_view what,
                      Judgement& judgement);

/// Calls expect_same_bits for every recv block of `rank` in the first stage and in another one with
/// equal extents.
void expect_same_output(const Evidence& evidence,
                        std::size_t got_stage,
                        int rank,
                        std::string_view what,
                        Judgement& judgement);

/// Fails the judgement if a member's output differs from the first member's output, see
/// expect_same_bits. The family says which blocks must be the same on all members.
void expect_ranks_agree(const Evidence& evidence, std::size_t stage, Judgement& judgement);

/// The end of an error message about an operation that the catalogue lacks.
[[nodiscard]] std::string unknown_operation(const Catalogue& catalogue, const std::string& name);

/// Why the catalogue has no such operation or property. Empty if it has.
[[nodiscard]] std::string why_unknown(const Catalogue& catalogue,
                                      const std::string& operation,
                                      const std::string& property);

/// Why nobody can run the case, in words that name the field: unknown operation or property, bad
/// group, illegal call. Empty if the case is valid.
[[nodiscard]] std::string why_invalid(const Catalogue& catalogue, const Case& c);

/// The stages that a valid case's property runs.
[[nodiscard]] std::vector<Case> program_of(const Catalogue& catalogue, const Case& c);

/// Whether all copies of the images of all members, and of the lists of their blocks, fit into so
/// many bytes, in all stages of a valid case together.
[[nodiscard]] bool fits_into_memory(const Catalogue& catalogue,
                                    const Case& c,
                                    std::int64_t memory_bytes);

/// Runs a case and judges it. An invalid case is errored, and a refused case is skipped. First the
/// memory of every stage is checked, then the property, then that all ranks agree if the contract
/// says so. A case that passes is vacuous if nothing was compared of a rank that has an output, or
/// if an output had no useful bound. The examiner reuses its buffers for every case.
class Examiner {
 public:
  Examiner(const Catalogue& catalogue, Backend& backend)
      : catalogue_(catalogue), backend_(backend) {}

  /// Never throws for a failure of the subject.
  void examine(const Case& c, Judgement& judgement);

  [[nodiscard]] Backend& backend() { return backend_; }
  /// Starts the backend afresh, see Backend::restart().
  void restart(int ranks);
  /// Notes all calls here, which must outlive the examiner. Another examiner of the same backend
  /// may go on with them.
  void keep_history(CallHistory& history) { history_ = &history; }
  /// The calls that the ranks made between their start and the last case.
  [[nodiscard]] const std::vector<Case>& calls_before() const { return calls_before_; }
  /// The stages of the last case and their results, for export and for a verbose replay.
  [[nodiscard]] std::span<const Case> stages() const { return stages_; }
  [[nodiscard]] const Observation& observation() const { return observation_; }
  /// The stages of the last case. A stage that left its algorithm open has the one that ran it, as
  /// far as the backend knows.
  [[nodiscard]] std::vector<Case> stages_as_they_ran() const;

 private:
  void judge(const Case& c, Judgement& judgement);
  void note_calls(const Judgement& judgement);
  void check_memory(std::size_t stage, Judgement& judgement);
  void check_agreement(Judgement& judgement);
  void check_power(const spec::Contract& contract, const Case& c, Judgement& judgement);
  /// Adds the elements that are right to the marks of a failure.
  void complete_marks(Judgement& judgement);
  /// Says of elements that differ from rank 0's which of both the reference calls wrong.
  void tell_who_is_wrong(Judgement& judgement);
  /// Tells wrong elements that hold what they held before the call, in the list of wrong elements
  /// and, if there is only one stage, in the marks.
  void tell_unwritten(Judgement& judgement);
  void mark_unwritten(Judgement& judgement);
  /// Names the element of another member's output that held this wrong value before the call:
  /// "element 1 of rank 0 before the call". no_input if there is none, or more than one. The
  /// wrong element's rank is prepared.
  [[nodiscard]] std::string find_before(const WrongElement& wrong);
  /// Lays out in layout_, and prepares in before_, what a member of the stage held before the call.
  /// The functions below are about this member.
  void prepare_before(std::size_t stage, int rank);
  /// Whether an element that was left alone is unwritten. In place, it is the rank's own
  /// contribution.
  [[nodiscard]] bool has_result_apart() const;
  /// The place of an element of recv in the image. Empty if it is no part of the output.
  [[nodiscard]] std::optional<std::ptrdiff_t> place_of_result(std::size_t stage,
                                                              std::int64_t index) const;
  /// Whether an element of the output holds what it held before.
  [[nodiscard]] bool is_as_before(std::size_t stage, int rank, std::int64_t index) const;
  [[nodiscard]] Evidence evidence() const {
    return {catalogue_, backend_.traits(), stages_, observation_};
  }

  const Catalogue& catalogue_;
  Backend& backend_;
  std::vector<Case> stages_;
  Observation observation_;
  ImageLayout layout_;
  Image before_;
  CallHistory* history_ = nullptr;
  std::vector<Case> calls_before_;
};

}  // namespace rankcheck::harness

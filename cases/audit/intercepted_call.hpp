#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "reference/spec/share.hpp"

#include "cases/audit/wrong_cluster.hpp"
#include "cases/backends/sim.hpp"

namespace rankcheck::cases::audit {

/// One call of an operator into which a bug is planted. The bug can change the inputs before the
/// call, the devices during the call, and the outputs afterwards. The implementation gets copies of
/// the inputs: the caller's inputs stay unchanged.
class InterceptedCall {
 public:
  /// `number`: how many calls this bug replaced before, since the backend's last restart.
  InterceptedCall(const OperatorCall& call, std::int64_t number);

  /// The call as the caller made it.
  [[nodiscard]] const spec::OperatorCall& call() const { return call_.call; }
  [[nodiscard]] int ranks() const { return call_.call.ranks; }
  [[nodiscard]] std::int64_t number() const { return number_; }
  /// Number of scan positions of one rank, and of all ranks.
  [[nodiscard]] std::int64_t positions(int rank) const;
  [[nodiscard]] std::int64_t positions() const;

  /// The scene that the implementation is given. Changes must keep the size of every array.
  [[nodiscard]] spec::Scene& scene() { return told_.scene; }
  /// The devices that the implementation runs on.
  [[nodiscard]] WrongCluster& devices() { return devices_; }

  /// An array as the implementation gets it (input) or has left it (output), in double precision.
  [[nodiscard]] Values input(spec::Array array, int rank) const { return get(array, rank, true); }
  [[nodiscard]] Values output(spec::Array array, int rank) const { return get(array, rank, false); }
  void set_input(spec::Array array, int rank, const Values& values) {
    set(array, rank, true, values);
  }
  void set_output(spec::Array array, int rank, const Values& values) {
    set(array, rank, false, values);
  }
  /// The same for all ranks together. If every rank has the whole array, this is rank 0's copy;
  /// otherwise the ranks' parts follow one another.
  [[nodiscard]] Values all_input(spec::Array array) const;
  void set_all_output(spec::Array array, const Values& values);

  using Change = std::function<void(Values& values, int rank)>;
  /// Calls `by` with the array of every rank and stores the result.
  void change_input(spec::Array array, const Change& by) { change(array, true, by); }
  void change_output(spec::Array array, const Change& by) { change(array, false, by); }

  /// Runs the implementation.
  void run();

 private:
  /// Returns the place of an array in a rank's send buffer (input) or recv buffer (output).
  [[nodiscard]] const spec::Block& block(spec::Array array, int rank, bool is_input) const;
  [[nodiscard]] std::byte* place(spec::Array array, int rank, bool is_input) const;
  [[nodiscard]] Values get(spec::Array array, int rank, bool is_input) const;
  void set(spec::Array array, int rank, bool is_input, const Values& values);
  void change(spec::Array array, bool is_input, const Change& by);

  OperatorCall call_;
  spec::OperatorCall told_;
  std::int64_t number_;
  WrongCluster devices_;
  std::vector<spec::Extents> extents_;
  std::vector<gpu::DeviceBuffers> buffers_;
};

}  // namespace rankcheck::cases::audit

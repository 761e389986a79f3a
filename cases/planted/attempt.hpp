#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "reference/spec/share.hpp"

#include "cases/backends/sim.hpp"
#include "cases/planted/wrong_cluster.hpp"

namespace rankcheck::cases::planted {

/// A call of an operator that a bug has a hand in: before it runs, while it does, and afterwards.
/// The caller's inputs stay as they are; the implementation is given copies.
class Attempt {
 public:
  /// `number`: attempts of this bug before this one.
  Attempt(const OperatorCall& call, std::int64_t number);

  /// What the caller asked for.
  [[nodiscard]] const spec::Call& call() const { return call_.call; }
  [[nodiscard]] int ranks() const { return call_.call.ranks; }
  [[nodiscard]] std::int64_t number() const { return number_; }
  /// Scan positions of a rank and of all.
  [[nodiscard]] std::int64_t positions(int rank) const;
  [[nodiscard]] std::int64_t positions() const;

  /// What the implementation takes for the scene; no array may change its size.
  [[nodiscard]] spec::Scene& scene() { return told_.scene; }
  /// The devices that the implementation runs on.
  [[nodiscard]] WrongCluster& devices() { return devices_; }

  /// What the implementation will get of an array, and what it has left there.
  [[nodiscard]] Values input(spec::Array array, int rank) const;
  [[nodiscard]] Values output(spec::Array array, int rank) const;
  void set_input(spec::Array array, int rank, const Values& values);
  void set_output(spec::Array array, int rank, const Values& values);
  /// The same of all ranks: rank 0's where every rank has the whole array, else one after another.
  [[nodiscard]] Values all_input(spec::Array array) const;
  void set_all_output(spec::Array array, const Values& values);

  using Change = std::function<void(Values& values, int rank)>;
  /// Changes an array of every rank.
  void change_input(spec::Array array, const Change& change);
  void change_output(spec::Array array, const Change& change);

  /// Runs the implementation.
  void run();

 private:
  /// Where an array lies in a rank's send or recv buffer.
  [[nodiscard]] const spec::Block& block(spec::Array array, int rank, bool is_input) const;
  [[nodiscard]] std::byte* place(spec::Array array, int rank, bool is_input) const;
  [[nodiscard]] Values get(spec::Array array, int rank, bool is_input) const;
  void set(spec::Array array, int rank, bool is_input, const Values& values);

  OperatorCall call_;
  spec::Call told_;
  std::int64_t number_;
  WrongCluster devices_;
  std::vector<spec::Extents> extents_;
  std::vector<gpu::DeviceBuffers> buffers_;
};

}  // namespace rankcheck::cases::planted

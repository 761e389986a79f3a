#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/spec/share.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/device/scratch.hpp"

/// Objects of which every rank holds a rectangle, its tile. Tiles may overlap.
namespace rankcheck::gpu {

/// Returns the index in the tile of pixel i of a part.
struct Places {
  spec::Box part;
  spec::Box tile;

  RANKCHECK_HD std::int64_t operator()(std::int64_t i) const {
    const std::int64_t row = part.row + i / part.cols - tile.row;
    return row * tile.cols + part.col + i % part.cols - tile.col;
  }
};

/// Copies a part out of a tile.
template <class Value>
struct TakePart {
  const Value* tile;
  Value* part;
  Places places;

  RANKCHECK_HD void operator()(std::int64_t i) const { part[i] = tile[places(i)]; }
};

/// Copies a part into a tile.
template <class Value>
struct PutPart {
  const Value* part;
  Value* tile;
  Places places;

  RANKCHECK_HD void operator()(std::int64_t i) const { tile[places(i)] = part[i]; }
};

/// Adds a part to a tile.
template <class Value>
struct AddPart {
  const Value* part;
  Value* tile;
  Places places;

  RANKCHECK_HD void operator()(std::int64_t i) const { tile[places(i)] += part[i]; }
};

/// Sends copies of pixels from the ranks that give them to the ranks that hold them.
class TileExchange {
 public:
  /// `held` has the tile of each rank. Rank r gives the pixels of its tile that are in given[r].
  TileExchange(Cluster& cluster, std::vector<spec::Box> given, std::vector<spec::Box> held);

  [[nodiscard]] const spec::Box& held(int rank) const { return held_[spec::to_size(rank)]; }
  /// The box of pixels that one rank gives to another one. A rank also gives a part to itself: then
  /// all ranks that add their parts in rank order add in the same order.
  [[nodiscard]] spec::Box part(int from, int to) const {
    return overlap(given_[spec::to_size(from)], held(to));
  }

  /// Exchanges parts of the local ranks' tiles. Value is T or Complex<T>. Returns for each local
  /// rank an array with a part from each rank, in rank order. The arrays are valid until the next
  /// exchange.
  template <class Value>
  [[nodiscard]] std::vector<const Value*> exchange(const std::vector<const Value*>& tiles);
  /// Calls body(from, box, part) for the part that each rank gave to local rank `rank`, in rank
  /// order. `received` is the rank's array from exchange().
  template <class Value, class Body>
  void for_each_part(int rank, const Value* received, const Body& body) const {
    for (int from = 0; from < cluster_.ranks(); ++from) {
      const spec::Box box = part(from, rank);
      body(from, box, received);
      received += box.pixels();
    }
  }

 private:
  template <class Value>
  void pack(int rank, const Value* tile, Value* parts);

  Cluster& cluster_;
  std::vector<spec::Box> given_;
  std::vector<spec::Box> held_;
  Scratch<std::byte> sent_;
  Scratch<std::byte> received_;
};

/// The pixels of the object that windows at `positions` touch, including bilinear neighbours.
/// `positions` are in host memory: the row and column of each.
template <class T>
[[nodiscard]] spec::Box box_of_windows(const spec::Scene& scene, std::span<const T> positions);

/// The boxes of all ranks, gathered from those of the local ranks.
[[nodiscard]] std::vector<spec::Box> gather_boxes(Cluster& cluster,
                                                  std::span<const spec::Box> local);

/// The boxes of ranks that all hold the whole object.
[[nodiscard]] std::vector<spec::Box> whole_objects(const spec::Scene& scene, int ranks);

/// Writes `count` positions relative to the first pixel of the box. The subtraction is exact: a
/// position lies before the box only if the box begins at the object's edge, where 0 is subtracted.
template <class T>
void move_positions(Cluster& cluster,
                    int rank,
                    std::int64_t count,
                    const spec::Box& box,
                    const T* positions,
                    T* moved);

/// Assembles whole objects from tiles, on every rank. Each pixel comes from the lowest rank that
/// holds it. Pixels that no rank holds keep their values.
template <class T>
void assemble(Cluster& cluster,
              const spec::Scene& scene,
              std::span<const spec::Box> held,
              const std::vector<Complex<T>*>& tiles,
              const std::vector<Complex<T>*>& objects);

}  // namespace rankcheck::gpu

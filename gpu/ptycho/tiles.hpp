#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/spec/share.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/device/scratch.hpp"

/// Objects of which every rank holds a rectangle, its tile; tiles may overlap.
namespace rankcheck::gpu {

/// Where the pixel number i of a part lies in the tile that holds it.
struct Places {
  spec::Box part;
  spec::Box tile;

  RANKCHECK_HD std::int64_t operator()(std::int64_t i) const {
    const std::int64_t row = part.row + i / part.cols - tile.row;
    return row * tile.cols + part.col + i % part.cols - tile.col;
  }
};

/// Takes a part out of a tile.
template <class Value>
struct TakePart {
  const Value* tile;
  Value* part;
  Places places;

  RANKCHECK_HD void operator()(std::int64_t i) const { part[i] = tile[places(i)]; }
};

/// Puts a part into a tile.
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

/// Copies of pixels on their way from the ranks that give them to those that hold them.
class TileExchange {
 public:
  /// The tiles are what the ranks hold; they give what lies in `given` of theirs.
  TileExchange(Cluster& cluster, std::vector<spec::Box> given, std::vector<spec::Box> held);

  [[nodiscard]] const spec::Box& held(int rank) const {
    return held_[static_cast<std::size_t>(rank)];
  }
  /// What one rank gives to another one, or to itself: so whoever adds parts in rank order adds
  /// them in the same order as everybody.
  [[nodiscard]] spec::Box part(int from, int to) const {
    return overlap(given_[static_cast<std::size_t>(from)], held(to));
  }

  /// Exchanges parts of the local ranks' tiles of Complex<T> or T. Returns what each local rank
  /// got, a part from each rank in rank order, valid until the next exchange.
  template <class Value>
  [[nodiscard]] std::vector<const Value*> exchange(const std::vector<const Value*>& tiles);
  /// Calls body(from, box, part) for the part that each rank gave to a local one, in rank order.
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

/// The pixels that windows at `positions` touch, bilinear neighbours included, as far as the object
/// goes. `positions` are host memory: row and column of each.
template <class T>
[[nodiscard]] spec::Box box_of_windows(const spec::Scene& scene, std::span<const T> positions);

/// The boxes of all ranks from those of the local ones.
[[nodiscard]] std::vector<spec::Box> gather_boxes(Cluster& cluster,
                                                  std::span<const spec::Box> local);

/// Every rank holds the whole object.
[[nodiscard]] std::vector<spec::Box> whole_objects(const spec::Scene& scene, int ranks);

/// Writes `count` positions, relative to the first pixel of the box; exactly, because none of them
/// lies before it except where the box begins at the object's edge.
template <class T>
void move_positions(Cluster& cluster,
                    int rank,
                    std::int64_t count,
                    const spec::Box& box,
                    const T* positions,
                    T* moved);

/// Makes whole objects of tiles, on every rank: each pixel from the lowest rank that holds it;
/// pixels that no rank holds stay as they are.
template <class T>
void assemble(Cluster& cluster,
              const spec::Scene& scene,
              std::span<const spec::Box> held,
              const std::vector<Complex<T>*>& tiles,
              const std::vector<Complex<T>*>& objects);

}  // namespace rankcheck::gpu

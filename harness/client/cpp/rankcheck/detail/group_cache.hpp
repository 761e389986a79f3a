#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include <rankcheck/call.hpp>

/// The communicators that a process keeps.
namespace rankcheck::detail {

using MakeGroup = std::function<AnyGroup(const std::vector<int>&)>;
using FreeGroup = std::function<void(AnyGroup&)>;

/// Makes communicators, and frees those that were not used for the longest time. All processes of
/// the world ask for the same groups in the same order, so they also make and free them in the same
/// order.
class GroupCache {
 public:
  /// Without `free`, all communicators are kept, because one that is dropped might not be free.
  GroupCache(MakeGroup make, FreeGroup free, std::size_t kept)
      : make_(std::move(make)), free_(std::move(free)), kept_(kept) {}

  /// Returns the communicator of these world ranks. Empty if nobody makes communicators. So many
  /// are in use until the run is over, this one among them.
  AnyGroup get(const std::vector<int>& ranks, std::size_t in_use = 0) {
    if (!make_) return {};
    const auto found = places_.find(ranks);
    if (found != places_.end()) {
      order_.splice(order_.end(), order_, found->second);
      return found->second->group;
    }
    while (free_ && order_.size() >= std::max(kept_, in_use)) {
      drop(std::vector<int>(order_.front().ranks));
    }
    order_.push_back({ranks, make_(ranks)});
    places_[ranks] = std::prev(order_.end());
    return order_.back().group;
  }

  /// Frees the communicator of these world ranks if there is one.
  void drop(const std::vector<int>& ranks) {
    const auto found = places_.find(ranks);
    if (found == places_.end() || !free_) return;
    Entry entry = std::move(*found->second);
    order_.erase(found->second);
    places_.erase(found);
    free_(entry.group);
  }

  /// Leaves all communicators to those who may still use them. They are not freed.
  void forget() {
    places_.clear();
    order_.clear();
  }

 private:
  struct Entry {
    std::vector<int> ranks;
    AnyGroup group;
  };

  MakeGroup make_;
  FreeGroup free_;
  std::size_t kept_;
  /// The one that was used last stands last.
  std::list<Entry> order_;
  std::map<std::vector<int>, std::list<Entry>::iterator> places_;
};

}  // namespace rankcheck::detail

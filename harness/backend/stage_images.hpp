#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "harness/backend/backend.hpp"
#include "harness/case/image.hpp"

namespace rankcheck::harness {

/// A member of a stage, and its memory before the call.
struct HostedMember {
  /// Its place among the members of the stage that this process hosts.
  std::size_t place = 0;
  int group_rank = 0;
  int world_rank = 0;
  const ImageLayout& layout;
  Image& image;

  /// A buffer of memory with the layout of the image; null if the rank has no such buffer.
  [[nodiscard]] std::byte* send_in(std::byte* memory) const {
    return layout.send < 0 ? nullptr : memory + layout.send;
  }
  [[nodiscard]] std::byte* recv_in(std::byte* memory) const {
    return layout.recv < 0 ? nullptr : memory + layout.recv;
  }
};

/// How a process holds the ranks of a world.
struct Hosting {
  ContractLookup contract_of;
  ResultPlace result_place = ResultPlace::own_block;
  /// Whether this process hosts the rank. Null if it hosts all.
  std::function<bool(int world_rank)> hosts = {};
};

/// Lays out and prepares the image of group rank `rank` for a stage of a program, as
/// prepare_stage() does. `earlier` has the images of the hosted members of each earlier stage, or
/// of the first stages alone if this one takes no results of the others.
void prepare_after(const Hosting& hosting,
                   std::span<const Case> stages,
                   std::size_t stage,
                   int rank,
                   std::span<const StageOutcome> earlier,
                   ImageLayout& layout,
                   Image& image);

/// Makes the images of the members of a stage that this process hosts, in group order, and
/// calls `use` with each of them. Images of earlier stages are taken from `result`, where the new
/// images are stored, with stamps of zeros. `layout` is memory for the members' layouts.
void prepare_members(const Hosting& hosting,
                     std::span<const Case> stages,
                     std::size_t stage,
                     ImageLayout& layout,
                     Observation& result,
                     const std::function<void(const HostedMember&)>& use);

}  // namespace rankcheck::harness

#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#include <rankcheck/detail/json.hpp>
#include <rankcheck/element.hpp>

/// What the functions of a subject get.
namespace rankcheck {

/// Elements one behind another. std::span came after C++17.
template <class T>
class Span {
 public:
  Span(T* data, std::size_t size) : data_(data), size_(size) {}

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T* begin() const { return data_; }
  [[nodiscard]] T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_;
  std::size_t size_;
};

/// A row of a buffer, or one of its arrays: where it begins and its length, in elements.
struct Block {
  std::size_t start = 0;
  std::size_t count = 0;
};

/// A view of the memory that is judged. It is cheap to copy.
class Buffer {
 public:
  /// A buffer that the rank does not have.
  Buffer() = default;
  /// A buffer of `count` elements. `blocks` must outlive it.
  Buffer(void* data, std::size_t count, Type type, const std::vector<Block>* blocks = nullptr)
      : exists_(true),
        data_(static_cast<unsigned char*>(data)),
        count_(count),
        type_(type),
        blocks_(blocks) {}

  /// Whether the rank has this buffer.
  explicit operator bool() const { return exists_; }
  [[nodiscard]] void* data() const { return data_; }
  /// The elements of the whole buffer, with the gaps between its arrays.
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return count_ * element_bytes(type_); }
  [[nodiscard]] Type type() const { return type_; }

  /// The number of rows or arrays. 0 if the buffer is one array.
  [[nodiscard]] std::size_t size() const { return blocks().size(); }
  /// Row or array `i`.
  Buffer operator[](std::size_t i) const {
    const Block block = blocks().at(i);
    return {data_ + block.start * element_bytes(type_), block.count, type_};
  }
  /// Where the rows or arrays are, as MPI's functions with a v want it.
  [[nodiscard]] const std::vector<Block>& blocks() const {
    static const std::vector<Block> none;
    return blocks_ == nullptr ? none : *blocks_;
  }

  /// The elements. T must have the size of an element.
  template <class T>
  [[nodiscard]] Span<T> as() const {
    if (exists_ && sizeof(T) != element_bytes(type_)) {
      throw std::invalid_argument(
          "as: got a type of " + std::to_string(sizeof(T)) + " bytes, expected one of " +
          std::to_string(element_bytes(type_)) + " bytes for " + std::string(name(type_)));
    }
    // The harness places buffers so that elements are aligned.
    return {reinterpret_cast<T*>(data_), count_};
  }

 private:
  bool exists_ = false;
  unsigned char* data_ = nullptr;
  std::size_t count_ = 0;
  Type type_ = Type::f32;
  const std::vector<Block>* blocks_ = nullptr;
};

namespace detail {

/// A communicator of the user's own type. Many calls share it.
struct AnyGroup {
  std::shared_ptr<void> value;
  const std::type_info* type = nullptr;
};

class MemberReader;

}  // namespace detail

/// One call of a collective on one rank. Ranks and roots are places in the group.
class Call {
 public:
  std::string operation;
  Op op = Op::none;
  Type type = Type::f32;
  /// The place of this rank in the group, and the number of members.
  int rank = 0;
  int size = 1;
  int root = 0;
  /// The world ranks of the members, in group order.
  std::vector<int> ranks;
  /// The number of elements of a block.
  std::size_t count = 0;
  /// The numbers of elements of unequal blocks, or of the arrays of a list.
  std::vector<std::size_t> counts;
  /// For operations along an axis: arrays have the shape (outer, counts[rank], inner).
  std::size_t outer = 1;
  std::size_t inner = 1;
  /// Whether send and recv overlap.
  bool in_place = false;
  /// For send_recv: the rank that gets this rank's elements, and the rank whose elements this rank
  /// gets.
  std::optional<int> target;
  std::optional<int> source;

  [[nodiscard]] bool is_root() const { return rank == root; }

  /// Returns what the function of Subject::group() returned for these ranks.
  template <class T>
  [[nodiscard]] T& group() const {
    if (group_.type == nullptr || *group_.type != typeid(T)) {
      throw std::logic_error("group: expected the type that the subject's group() returns");
    }
    return *static_cast<T*>(group_.value.get());
  }

  /// For premul_sum: the factor of this rank. It is in host memory.
  template <class T>
  [[nodiscard]] T scalar() const {
    if (scalar_.size() != sizeof(T)) {
      throw std::logic_error("scalar: expected premul_sum and a type with the size of an element");
    }
    T value;
    std::memcpy(&value, scalar_.data(), sizeof value);
    return value;
  }

  /// Returns a field of the case as the harness sent it, such as `input` or `data_seed`. Fields
  /// that have their defaults are empty. The harness's page INPUTS.md lists them.
  [[nodiscard]] std::string field(std::string_view name) const {
    const detail::Json* found = case_ == nullptr ? nullptr : case_->find(name);
    return found == nullptr ? std::string() : found->text;
  }

 private:
  friend class detail::MemberReader;

  detail::AnyGroup group_;
  std::vector<unsigned char> scalar_;
  std::shared_ptr<const detail::Json> case_;
};

/// A process of the subject.
struct Me {
  /// The process's rank. It is 0 if one process hosts all ranks.
  int rank = 0;
  /// The number of ranks of the world.
  int world = 1;
  /// The world ranks that this process hosts.
  std::vector<int> ranks;
  /// The path of a file that all processes of the subject share. It does not exist yet.
  std::string shared_file;
};

}  // namespace rankcheck

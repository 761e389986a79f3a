#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rankcheck/call.hpp>
#include <rankcheck/memory.hpp>
#include <rankcheck/offer.hpp>

/// Reads the description of a call that comes with an image.
namespace rankcheck::detail {

/// A hosted rank of a stage: its image, and what its function gets.
struct Member {
  int rank = 0;
  std::shared_ptr<ImageMemory> image;
  Call call;
  std::vector<Block> send_blocks;
  std::vector<Block> recv_blocks;
  Buffer send;
  Buffer recv;
  /// Whether the rank enters the call after the others.
  bool is_late = false;
  /// When the rank entered and left the call, in nanoseconds.
  std::int64_t entered = 0;
  std::int64_t left = 0;
  /// Ends the call, if its function has only started it.
  End end;
  /// The bytes of the image at the end of the call. Empty if it is not in memory of the host.
  std::vector<unsigned char> result;
};

/// Returns the place of another member. Empty if the harness said that there is none.
inline std::optional<int> place_of(const Json& described) {
  if (described.kind == Json::Kind::null) return std::nullopt;
  return static_cast<int>(described.integer());
}

inline std::vector<unsigned char> bytes_of(const std::string& hexadecimal) {
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
    const std::string digits = hexadecimal.substr(i, 2);
    bytes.push_back(static_cast<unsigned char>(std::strtoul(digits.c_str(), nullptr, 16)));
  }
  return bytes;
}

/// Makes the members of a stage from its header.
class MemberReader {
 public:
  explicit MemberReader(const Json& header)
      : group_(header.at("group").integers()), case_(std::make_shared<Json>(header.at("case"))) {
    const Json& c = *case_;
    operation_ = &operation_named(c.at("operation").text);
    call_.operation = operation_->name;
    call_.op = op_named(text_of(c, "op", "none"));
    call_.type = type_named(text_of(c, "type", "f32"));
    call_.size = static_cast<int>(group_.size());
    call_.root = static_cast<int>(number_of(c, "root", 0));
    call_.ranks = group_;
    call_.count = size_of("count", 0);
    if (const Json* counts = c.find("counts")) call_.counts = counts->sizes();
    call_.outer = size_of("outer", 1);
    call_.inner = size_of("inner", 1);
    call_.in_place = text_of(c, "in_place", "false") == "true";
    call_.case_ = case_;
  }

  [[nodiscard]] const std::vector<int>& group() const { return group_; }

  /// Fills in everything of a member but its image. `group` is its communicator.
  void read(const Json& description, const AnyGroup& group, Member& member) const {
    member.rank = static_cast<int>(description.at("rank").integer());
    member.call = call_;
    Call& call = member.call;
    call.rank = static_cast<int>(description.at("place").integer());
    member.is_late = call.rank == number_of(*case_, "late", -1);
    call.group_ = group;
    if (const Json* scalar = description.find("scalar")) call.scalar_ = bytes_of(scalar->text);
    if (call.operation == "send_recv") {
      call.target = place_of(description.at("to"));
      call.source = place_of(description.at("from"));
    }
    const Json* const send = description.find("send");
    if (send != nullptr) member.send = view(*send, operation_->send, member, member.send_blocks);
    // A buffer without elements that the call would leave alone is not in the image. The function
    // can treat all ranks alike nevertheless.
    static const Json absent = JsonReader(R"({"offset":0,"bytes":0,"blocks":[]})").read();
    const Json* const recv = description.find("recv");
    if (operation_->recv == Shape::none) return;
    member.recv =
        view(recv == nullptr ? absent : *recv, operation_->recv, member, member.recv_blocks);
  }

 private:
  [[nodiscard]] std::size_t size_of(const char* field, std::size_t otherwise) const {
    const Json* found = case_->find(field);
    return found == nullptr ? otherwise : found->size();
  }

  Buffer view(const Json& described,
              Shape shape,
              const Member& member,
              std::vector<Block>& blocks) const {
    const std::size_t offset = described.at("offset").size();
    const std::size_t bytes = described.at("bytes").size();
    const std::size_t element = element_bytes(call_.type);
    if (offset > member.image->size() || bytes > member.image->size() - offset) {
      throw ProtocolError("expected a buffer inside of the image");
    }
    const std::size_t count = bytes / element;
    if (shape == Shape::rows) {
      for (std::size_t q = 0; q < group_.size(); ++q) {
        blocks.push_back({q * call_.count, call_.count});
      }
    } else if (shape == Shape::blocks) {
      blocks = arrays(described, element);
    }
    for (const Block& block : blocks) {
      if (block.start + block.count > count) {
        throw ProtocolError("expected blocks inside of their buffer");
      }
    }
    return {member.image->at_call() + offset,
            count,
            call_.type,
            shape == Shape::rows || shape == Shape::blocks ? &blocks : nullptr};
  }

  [[nodiscard]] std::vector<Block> arrays(const Json& described, std::size_t element) const {
    std::vector<Block> blocks;
    for (const Json& each : described.at("blocks").items) {
      const std::vector<std::size_t> place = each.sizes();
      blocks.push_back({place.at(0) / element, place.at(1) / element});
    }
    if (!blocks.empty()) return blocks;
    // The call must leave the buffer alone. Its arrays are where they would be on the root.
    std::size_t end = 0;
    for (const std::size_t count : call_.counts) {
      blocks.push_back({end, count});
      end += count + size_of("gap", 0);
    }
    return blocks;
  }

  std::vector<int> group_;
  std::shared_ptr<const Json> case_;
  const Operation* operation_ = nullptr;
  Call call_;
};

}  // namespace rankcheck::detail

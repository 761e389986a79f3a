#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <rankcheck/call.hpp>

/// The functions of a subject, and the calls that they take.
namespace rankcheck {

/// Waits for the end of a call. Null: it has ended.
using End = std::function<void()>;

/// Makes a call. A function that returns an End, or what becomes one, only starts the call. In some
/// cases, other calls are made before it is waited for.
class Function {
 public:
  template <class Make,
            class = std::enable_if_t<std::is_invocable_v<Make, const Call&, Buffer, Buffer>>>
  Function(Make make) {
    using Made = std::invoke_result_t<Make, const Call&, Buffer, Buffer>;
    static_assert(std::is_void_v<Made> || std::is_convertible_v<Made, End>,
                  "the function of an operation returns nothing, or a function that waits for the "
                  "end of the call");
    starts_ = !std::is_void_v<Made>;
    make_ = [make = std::move(make)](const Call& call, Buffer send, Buffer recv) -> End {
      if constexpr (std::is_void_v<Made>) {
        make(call, send, recv);
        return nullptr;
      } else {
        return make(call, send, recv);
      }
    };
  }

  [[nodiscard]] End operator()(const Call& call, Buffer send, Buffer recv) const {
    return make_(call, send, recv);
  }
  [[nodiscard]] bool starts() const { return starts_; }

 private:
  std::function<End(const Call&, Buffer, Buffer)> make_;
  bool starts_ = false;
};

namespace detail {

/// The shape of a buffer. `own` has the count of this rank, and `axis` three axes, of which the
/// middle one has the length of this rank, the sum of all lengths, or 1.
enum class Shape { none, one, rows, own, blocks, own_axis, all_axis, one_axis };

struct Operation {
  std::string_view name;
  Shape send;
  Shape recv;
  bool reduces;
};

inline constexpr std::array<Operation, 21> operations{{
    {"all_gather", Shape::one, Shape::rows, false},
    {"all_gather_axis", Shape::own_axis, Shape::all_axis, false},
    {"all_gather_v", Shape::own, Shape::blocks, false},
    {"all_reduce", Shape::one, Shape::one, true},
    {"all_reduce_list", Shape::blocks, Shape::blocks, true},
    {"all_to_all", Shape::rows, Shape::rows, false},
    {"all_to_all_v", Shape::blocks, Shape::blocks, false},
    {"barrier", Shape::none, Shape::none, false},
    {"broadcast", Shape::one, Shape::one, false},
    {"broadcast_list", Shape::blocks, Shape::blocks, false},
    {"gather", Shape::one, Shape::rows, false},
    {"gather_axis", Shape::own_axis, Shape::all_axis, false},
    {"gather_v", Shape::own, Shape::blocks, false},
    {"reduce", Shape::one, Shape::one, true},
    {"reduce_axis", Shape::own_axis, Shape::one_axis, true},
    {"reduce_list", Shape::blocks, Shape::blocks, true},
    {"reduce_scatter", Shape::rows, Shape::one, true},
    {"reduce_scatter_v", Shape::blocks, Shape::own, true},
    {"scatter", Shape::rows, Shape::one, false},
    {"scatter_v", Shape::blocks, Shape::own, false},
    {"send_recv", Shape::one, Shape::one, false},
}};

inline const Operation& operation_named(std::string_view name) {
  for (const Operation& each : operations) {
    if (each.name == name) return each;
  }
  throw std::invalid_argument("no operation " + std::string(name));
}

inline std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// Throws std::invalid_argument unless all words are among the allowed ones.
template <class Allowed>
std::vector<std::string> words_of(const char* what, const std::string& text, const Allowed& names) {
  std::vector<std::string> words = words_of(text);
  for (const std::string& word : words) position_of(what, word, names);
  return words;
}

inline bool has(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Returns a field of a case as text.
inline std::string text_of(const Json& record,
                           std::string_view name,
                           const std::string& otherwise) {
  const Json* found = record.find(name);
  return found == nullptr ? otherwise : found->text;
}

inline std::int64_t number_of(const Json& record, std::string_view name, std::int64_t otherwise) {
  const Json* found = record.find(name);
  return found == nullptr ? otherwise : found->integer();
}

}  // namespace detail

/// A function of the subject for one operation. Its methods narrow or widen what it takes.
class Offer {
 public:
  Offer(const detail::Operation& operation, const std::string& ops, Function function)
      : operation_(&operation), function_(std::move(function)) {
    attempt([&] { ops_ = detail::words_of("ops", ops, detail::op_names); });
  }

  /// Names the types of this operation, with spaces between them. The default is the subject's.
  Offer& types(const std::string& names) {
    has_types_ = true;
    return attempt([&] { types_ = detail::words_of("types", names, detail::type_names); });
  }

  /// Takes calls in place, too. They are refused otherwise.
  Offer& in_place() {
    in_place_ = true;
    return *this;
  }

  /// Takes only these values of a field of a case, with spaces between them: `only("root", "0")`.
  Offer& only(const std::string& field, const std::string& values) {
    return attempt([&] {
      if (field == "send_stride" || field == "recv_stride")
        throw std::invalid_argument(field + ": subjects in C++ take only dense buffers");
      only_.emplace_back(field, detail::words_of(values));
    });
  }

  /// Takes only calls in which no count is 0.
  Offer& never_empty() {
    takes_empty_ = false;
    return *this;
  }

  /// Takes only groups with so many members.
  Offer& members(int least, int most) {
    members_ = {least, most};
    return *this;
  }

  [[nodiscard]] const detail::Operation& operation() const { return *operation_; }
  [[nodiscard]] const Function& function() const { return function_; }
  [[nodiscard]] const std::vector<std::string>& ops() const { return ops_; }
  /// Returns the types, which are `subjects` unless the offer has its own.
  [[nodiscard]] const std::vector<std::string>& types_or(
      const std::vector<std::string>& subjects) const {
    return has_types_ ? types_ : subjects;
  }
  [[nodiscard]] bool is_in_place() const { return in_place_; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::vector<std::string>>>& only() const {
    return only_;
  }
  [[nodiscard]] bool takes_empty() const { return takes_empty_; }
  [[nodiscard]] std::pair<int, int> members() const { return members_; }
  /// What is wrong with the description. Empty if nothing is.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  template <class Set>
  Offer& attempt(const Set& set) {
    try {
      set();
    } catch (const std::invalid_argument& error) {
      error_ = error.what();
    }
    return *this;
  }

  const detail::Operation* operation_;
  std::vector<std::string> ops_;
  Function function_;
  std::vector<std::string> types_;
  bool has_types_ = false;
  bool in_place_ = false;
  bool takes_empty_ = true;
  std::pair<int, int> members_{1, 4096};
  std::vector<std::pair<std::string, std::vector<std::string>>> only_;
  std::string error_;
};

}  // namespace rankcheck

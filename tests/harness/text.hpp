#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

/// What tests ask about texts and complaints. A failed expectation shows the text.
namespace rankcheck::harness {

inline testing::AssertionResult result_about(bool is,
                                             std::string_view part,
                                             std::string_view text) {
  constexpr std::string_view::size_type shown_max = 20'000;
  return (is ? testing::AssertionSuccess() : testing::AssertionFailure())
         << "about \"" << part << "\" in: " << text.substr(0, shown_max);
}

/// Whether a text has all these parts in this order.
template <class... Parts>
testing::AssertionResult has(std::string_view text, const Parts&... parts) {
  std::string_view rest = text;
  std::string_view last;
  for (const std::string_view part : {std::string_view(parts)...}) {
    const std::size_t at = rest.find(part);
    if (at == std::string_view::npos) return result_about(false, part, text);
    rest.remove_prefix(at + part.size());
    last = part;
  }
  return result_about(true, last, text);
}

inline testing::AssertionResult begins(std::string_view text, std::string_view beginning) {
  return result_about(text.starts_with(beginning), beginning, text);
}

inline testing::AssertionResult ends(std::string_view text, std::string_view end) {
  return result_about(text.ends_with(end), end, text);
}

inline std::string with_reason(std::string_view name, const std::string& reason) {
  return std::string(name) + (reason.empty() ? "" : ": " + reason);
}

/// Returns the verdict of a finding or a judgement, and its reason if it has one.
template <class Judged>
std::string outcome_of(const Judged& judged) {
  return with_reason(name(judged.verdict), judged.reason);
}

/// Returns the message of the Error that the function throws; empty if it throws nothing.
template <class Error, class Function>
std::string complaint_of(const Function& function) {
  try {
    static_cast<void>(function());
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace rankcheck::harness

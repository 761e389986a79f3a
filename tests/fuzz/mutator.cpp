#include "tests/fuzz/mutator.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <sstream>
#include <utility>

namespace rankcheck::fuzz {

namespace {

/// Values of JSON and of plain text that are extreme, or of another type.
const std::vector<std::string>& values() {
  static const std::vector<std::string> all = [] {
    std::istringstream words(
        R"(null true -1 0 1 -0 1.5 1e999 -1e308 1e-320 2147483647 2147483648 -2147483649 )"
        R"(9223372036854775807 18446744073709551616 99999999999999999999999999 "" "x" "nan" [] )"
        R"({} [[[1]]] {"x":1} nan)");
    return std::vector<std::string>(std::istream_iterator<std::string>(words), {});
  }();
  return all;
}

/// Splits a text into words, quoted strings and single characters.
std::vector<std::string> tokens_of(const std::string& text) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
  };
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (text[at] == '"') {
      while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
    } else if (is_word(text[at])) {
      while (end < text.size() && is_word(text[end])) ++end;
    }
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

}  // namespace

Mutator::Run Mutator::run_of(const std::string& text, std::size_t most) {
  const std::size_t at = random_.below(text.size());
  return {at, std::min(1 + random_.below(most), text.size() - at)};
}

std::string Mutator::bytes(std::string good) {
  if (good.empty()) return good;
  const auto flip = [&] {
    char& byte = good[random_.below(good.size())];
    byte = static_cast<char>(byte ^ (1 << random_.below(8)));
  };
  const std::size_t change = random_.below(8);
  if (change <= 1) {
    flip();
  } else if (change == 2) {
    for (std::size_t i = 0; i < 8; ++i) flip();
  } else if (change == 3) {
    good.resize(random_.below(good.size()));
  } else if (change == 4) {
    const Run run = run_of(good, 32);
    good.erase(run.at, run.size);
  } else if (change == 5) {
    const Run run = run_of(good, 32);
    good.insert(run.at, good.substr(run.at, run.size));
  } else if (change == 6) {
    const Run from = run_of(good, 8);
    const Run to = run_of(good, 8);
    for (std::size_t i = 0; i < std::min(from.size, to.size); ++i) {
      std::swap(good[from.at + i], good[to.at + i]);
    }
  } else {
    constexpr std::array fills{'\0', '\xff', '\x7f', '9', '"', '\n'};
    const Run run = run_of(good, 8);
    const char fill = fills[random_.below(fills.size())];
    good.replace(run.at, run.size, run.size, fill);
  }
  return good;
}

std::string Mutator::tokens(const std::string& good) {
  std::vector<std::string> tokens = tokens_of(good);
  if (tokens.empty()) return good;
  for (std::size_t changes = 1 + random_.below(2); changes > 0 && !tokens.empty(); --changes) {
    const std::size_t i = random_.below(tokens.size());
    const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(i);
    const std::size_t change = random_.below(6);
    if (change == 0) {
      tokens.erase(at);
    } else if (change == 1) {
      tokens.insert(at, std::string(*at));
    } else if (change == 2) {
      std::swap(tokens[i], tokens[random_.below(tokens.size())]);
    } else {
      *at = values()[random_.below(values().size())];
    }
  }
  std::string bad;
  for (const std::string& token : tokens) bad += token;
  return bad;
}

}  // namespace rankcheck::fuzz

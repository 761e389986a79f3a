#pragma once

// The headers that take longest to read, for the precompiled header of the harness and of what is
// built on it. Sources still include what they use: the preset `separate` builds without it.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

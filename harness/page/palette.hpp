#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace rankcheck::harness::page {

/// A colour as 0xRRGGBB.
using Rgb = std::uint32_t;

/// A colour of the page by its role, on a light and on a dark screen.
struct Shade {
  std::string_view name;
  Rgb light;
  Rgb dark;
};

/// All colours of the page. `ink` is text on `paper`, `panel` and `code`. The colours of verdicts
/// are text on `paper` and `panel`. `on-heat-N` is text on `heat-N`.
inline constexpr std::array palette{
    Shade{"paper", 0xffffff, 0x14171c},     Shade{"panel", 0xf4f6f8, 0x1e232b},
    Shade{"code", 0xe9edf1, 0x0d1014},      Shade{"ink", 0x1a1d21, 0xe8eaed},
    Shade{"faint", 0x4d555e, 0xaab3bd},     Shade{"line", 0xc3cad1, 0x434b55},
    Shade{"link", 0x0b50a6, 0x8ab8f7},      Shade{"good", 0x0b6b32, 0x6fd08c},
    Shade{"bad", 0xb3181c, 0xff9a93},       Shade{"doubt", 0x7a5000, 0xf0b94a},
    Shade{"quiet", 0x4d555e, 0xaab3bd},     Shade{"heat-0", 0xf4f6f8, 0x1e232b},
    Shade{"on-heat-0", 0x4d555e, 0xaab3bd}, Shade{"heat-1", 0xd3e6f8, 0x17324d},
    Shade{"on-heat-1", 0x1a1d21, 0xe8eaed}, Shade{"heat-2", 0xa5cdf2, 0x1d4a75},
    Shade{"on-heat-2", 0x1a1d21, 0xe8eaed}, Shade{"heat-3", 0x2f78bd, 0x5ba2e6},
    Shade{"on-heat-3", 0xffffff, 0x0d1014}, Shade{"heat-4", 0x0c4a86, 0xa9d0f7},
    Shade{"on-heat-4", 0xffffff, 0x0d1014},
};

/// Returns the shade with this name. Aborts if there is none.
[[nodiscard]] const Shade& shade(std::string_view name);

/// The contrast of two colours as WCAG 2.1 defines it, from 1 to 21.
[[nodiscard]] double contrast(Rgb a, Rgb b);

/// The palette as variables of CSS: light by default, dark where the reader prefers it.
[[nodiscard]] std::string palette_css();

}  // namespace rankcheck::harness::page

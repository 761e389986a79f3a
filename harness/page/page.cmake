# Joins the parts of the page. Its policy allows the script by the checksum in base64.
foreach(part IN ITEMS page.html page.css page.js run.js comparison.js)
  set(file ${CMAKE_CURRENT_LIST_DIR}/${part})
  file(READ ${file} text_of_${part})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endforeach()
set(style "${text_of_page.css}")
set(script "\n${text_of_page.js}${text_of_run.js}${text_of_comparison.js}")
string(SHA256 checksum "${script}")
set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
set(script_checksum "")
foreach(place RANGE 0 63 3)
  string(SUBSTRING "${checksum}00" ${place} 3 group)
  foreach(part IN ITEMS ">> 6" "& 63")
    math(EXPR digit "0x${group} ${part}")
    string(SUBSTRING ${digits} ${digit} 1 digit)
    string(APPEND script_checksum ${digit})
  endforeach()
endforeach()
string(SUBSTRING ${script_checksum} 0 43 script_checksum)
string(APPEND script_checksum =)
string(CONFIGURE "${text_of_page.html}" page @ONLY)
file(CONFIGURE OUTPUT page_html.cpp @ONLY CONTENT
"#include <string_view>
namespace rankcheck::harness::page {
extern const std::string_view page_html;
const std::string_view page_html = R\"page(@page@)page\";
}
")
target_sources(rankcheck_harness_rarely PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/page_html.cpp)

# A test that opens pages in Chromium. It is skipped if Chromium or selenium is not installed.
if(RANKCHECK_SANITIZE)
  rankcheck_add_skipped_test(page.browser cli "it is for programs without sanitizers")
else()
  add_test(NAME page.browser COMMAND sh ${CMAKE_SOURCE_DIR}/tests/python/run.sh
    ${CMAKE_CURRENT_LIST_DIR} selenium browser
    $<TARGET_FILE:rankcheck> $<TARGET_FILE:rankcheck-subject-every_operation>
    ${CMAKE_BINARY_DIR}/tests/page)
  set_tests_properties(page.browser PROPERTIES LABELS cli TIMEOUT 300
    SKIP_REGULAR_EXPRESSION "^skipped: ")
endif()

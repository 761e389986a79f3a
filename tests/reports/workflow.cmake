# The example workflow for GitHub Actions. The test is skipped if no Python has PyYAML.
if(RANKCHECK_SANITIZE)
  rankcheck_add_skipped_test(reports.workflow cli "it is for programs without sanitizers")
else()
  add_test(NAME reports.workflow COMMAND sh ${CMAKE_SOURCE_DIR}/tests/python/run.sh
    ${CMAKE_CURRENT_LIST_DIR} yaml workflow ${CMAKE_SOURCE_DIR}/reports/ci/github.yml
    $<TARGET_FILE:rankcheck> $<TARGET_FILE:rankcheck-subject-every_operation>
    ${CMAKE_BINARY_DIR}/tests/reports)
  set_tests_properties(reports.workflow PROPERTIES LABELS cli TIMEOUT ${time_out_s}
    SKIP_REGULAR_EXPRESSION "^skipped: ")
endif()

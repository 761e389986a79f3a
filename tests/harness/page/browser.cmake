# A test that opens pages in Chromium. It is skipped without Chromium, selenium or numpy.
if(RANKCHECK_SANITIZE)
  rankcheck_add_skipped_test(page.browser cli "it is for programs without sanitizers")
else()
  # The page of the gate needs workers for stand-ins of GPUs, which need CUDA's headers.
  set(stand_in "")
  if(TARGET rankcheck-worker-cuda-stand-in)
    set(stand_in $<TARGET_FILE_DIR:rankcheck-worker-cuda-stand-in>)
  endif()
  add_test(NAME page.browser COMMAND sh ${CMAKE_SOURCE_DIR}/tests/python/run.sh
    ${CMAKE_CURRENT_LIST_DIR} "selenium numpy" browser
    $<TARGET_FILE:rankcheck> $<TARGET_FILE:rankcheck-subject-every_operation>
    ${CMAKE_BINARY_DIR}/tests/page ${stand_in})
  set_tests_properties(page.browser PROPERTIES LABELS cli TIMEOUT ${time_out_s}
    SKIP_REGULAR_EXPRESSION "^skipped: ")
endif()

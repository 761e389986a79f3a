# Subjects in C++ that tests start.
set(subjects_folder ${CMAKE_CURRENT_LIST_DIR})
foreach(name IN ITEMS every_operation in_processes planted_threads)
  rankcheck_add_subject(rankcheck-subject-${name} ${subjects_folder}/${name}.cpp)
  target_include_directories(rankcheck-subject-${name} PRIVATE ${CMAKE_SOURCE_DIR})
  set_target_properties(rankcheck-subject-${name} PROPERTIES OUTPUT_NAME ${name})
  add_dependencies(rankcheck_tests_cli rankcheck-subject-${name})
endforeach()
add_dependencies(rankcheck_tests_cli rankcheck-subject-threads)

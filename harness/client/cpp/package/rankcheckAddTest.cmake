# rankcheck_add_test(NAME name SUBJECT target-or-command [SUITE suite] [OPERATION pattern]
#                    [RANKS A..B] [CASES n] [REQUIRE pattern...] [LABELS label...] [LOCKS lock...]
#                    [TIME_BUDGET seconds] [OPTIONS option...])
#
# Adds a test that runs a suite on a subject. The subject is a target of this project, or a command
# such as "mpirun -n {ranks} /path/to/subject". The report is in rankcheck/<name> of the binary
# folder; each run of the test replaces it.
#
#   SUITE        the suite; smoke by default
#   OPERATION    a pattern of operations; all that the suite has by default
#   RANKS        the least and the greatest number of ranks; 1..4 by default
#   CASES        the cases of each unit. Without it, the suite decides, and all cells are required
#   REQUIRE      cells that must be covered, such as all_reduce/f32/*
#   LABELS       labels of the test besides `rankcheck`
#   LOCKS        what the test shares with other tests, such as gpu: tests with the same lock never
#                run at the same time
#   TIME_BUDGET  seconds after which rankcheck ends the run and says so; 300 by default
#   OPTIONS      further options of `rankcheck run`
function(rankcheck_add_test)
  set(values NAME SUBJECT SUITE OPERATION RANKS CASES TIME_BUDGET)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "${values}" "REQUIRE;LABELS;LOCKS;OPTIONS")
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "rankcheck_add_test: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  foreach(needed IN ITEMS NAME SUBJECT)
    if(NOT arg_${needed})
      message(FATAL_ERROR "rankcheck_add_test: expected ${needed}")
    endif()
  endforeach()
  if(NOT arg_SUITE)
    set(arg_SUITE smoke)
  endif()
  if(NOT arg_RANKS)
    set(arg_RANKS 1..4)
  endif()
  if(NOT arg_TIME_BUDGET)
    set(arg_TIME_BUDGET 300)
  endif()
  if(NOT "${arg_RANKS}" MATCHES "^[1-9][0-9]*\\.\\.([1-9][0-9]*)$")
    message(FATAL_ERROR "rankcheck_add_test: RANKS: got ${arg_RANKS}, expected A..B")
  endif()
  set(ranks_max ${CMAKE_MATCH_1})
  if(NOT "${arg_TIME_BUDGET}" MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR
      "rankcheck_add_test: TIME_BUDGET: got ${arg_TIME_BUDGET}, expected whole seconds")
  endif()

  set(subject "${arg_SUBJECT}")
  if(TARGET "${arg_SUBJECT}")
    # The line is split into words as a shell does it.
    set(subject "'$<TARGET_FILE:${arg_SUBJECT}>'")
  endif()
  set(options --ranks ${arg_RANKS} --time-budget ${arg_TIME_BUDGET})
  foreach(option IN ITEMS OPERATION CASES)
    if(arg_${option})
      string(TOLOWER --${option} name)
      list(APPEND options ${name} ${arg_${option}})
    endif()
  endforeach()
  foreach(cell IN LISTS arg_REQUIRE)
    list(APPEND options --require ${cell})
  endforeach()
  add_test(NAME ${arg_NAME}
    COMMAND rankcheck::rankcheck run ${arg_SUITE} --backend "command:${subject}"
            --report "${CMAKE_CURRENT_BINARY_DIR}/rankcheck/${arg_NAME}" --overwrite
            ${options} ${arg_OPTIONS})
  # The time-out is longer than the budget, so that rankcheck can say what ended the run. Before the
  # budget counts, a subject may take a minute to start. A case that hangs is then still replayed.
  math(EXPR timeout "${arg_TIME_BUDGET} + 300")
  set_tests_properties(${arg_NAME} PROPERTIES
    LABELS "rankcheck;${arg_LABELS}" TIMEOUT ${timeout} PROCESSORS ${ranks_max})
  if(arg_LOCKS)
    set_tests_properties(${arg_NAME} PROPERTIES RESOURCE_LOCK "${arg_LOCKS}")
  endif()
endfunction()

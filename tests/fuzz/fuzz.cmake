# Runs the readers of untrusted input under libFuzzer. This needs clang, even if another compiler
# builds the rest. So the readers' sources are listed here, with one command for each.
find_program(RANKCHECK_CLANG NAMES clang++ clang++-14)
mark_as_advanced(RANKCHECK_CLANG)
set(fuzz_absent "")
if(NOT RANKCHECK_CLANG)
  set(fuzz_absent "clang is not installed: apt-get install clang libclang-rt-dev")
elseif(RANKCHECK_SANITIZE)
  set(fuzz_absent "the readers are compiled with sanitizers of their own")
else()
  # A compiler without the runtime of its sanitizers cannot link.
  execute_process(COMMAND sh -c
    "echo 'extern \"C\" int LLVMFuzzerTestOneInput(const char*, unsigned long) { return 0; }' |
      \"$0\" -fsanitize=fuzzer,address,undefined -x c++ - -o \"$1\""
    ${RANKCHECK_CLANG} ${CMAKE_CURRENT_BINARY_DIR}/fuzz-probe
    RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
  if(result)
    set(fuzz_absent "clang cannot link with libFuzzer: apt-get install libclang-rt-dev")
  endif()
endif()
if(fuzz_absent)
  rankcheck_add_skipped_test(fuzz fuzz "${fuzz_absent}")
  return()
endif()

# The sources that the readers need, and no others, because clang compiles all of them again.
set(fuzzed_sources
  harness/backend/capabilities.cpp harness/case/case.cpp harness/known/case_condition.cpp
  harness/base/checksum.cpp harness/case/family.cpp harness/case/fields.cpp harness/base/files.cpp
  harness/check/finding.cpp harness/case/hosts.cpp harness/check/finding_json.cpp
  harness/report/journal.cpp harness/base/json_text.cpp harness/known/known_defects.cpp
  harness/report/known_report.cpp harness/base/nearest.cpp harness/base/npy.cpp
  harness/base/random_source.cpp harness/report/record.cpp harness/suite/suite_file.cpp
  harness/report/summary.cpp harness/base/table.cpp harness/case/call_class.cpp
  harness/case/verdict.cpp harness/base/version_range.cpp harness/worker/protocol.cpp
  gpu/plan/topology.cpp harness/run/memory.cpp cases/families/collectives/fields.cpp
  cases/families/ptycho/fields.cpp cases/families/ptycho/symmetry.cpp)
set(fuzz_runs case:50000 suite:20000 journal:10000 topology:100000 frame:50000
  npy:50000)
if(NOT reconstruct_absent)
  list(APPEND fuzzed_sources
    cases/reconstruct/crash_guard.cpp cases/reconstruct/cxi.cpp cases/reconstruct/dataset.cpp
    cases/reconstruct/hdf5.cpp cases/reconstruct/ptyd.cpp cases/reconstruct/recording.cpp)
  list(APPEND fuzz_runs cxi:700)
endif()
list(TRANSFORM fuzzed_sources PREPEND ${CMAKE_SOURCE_DIR}/)
file(GLOB spec_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/reference/spec/*.cpp)
list(TRANSFORM fuzz_sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE target_sources)
list(APPEND fuzzed_sources ${spec_sources} ${target_sources}
  ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/libfuzzer.cpp ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/families.cpp)

set(fuzz_sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined)
set(fuzz_flags -std=c++20 -O1 -gline-tables-only ${fuzz_sanitizers} -fsanitize=fuzzer-no-link
  -Wall -Wextra -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -I${CMAKE_SOURCE_DIR} -DFMT_SHARED -DRANKCHECK_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
  -DRANKCHECK_RECONSTRUCTS=$<IF:$<BOOL:${reconstruct_absent}>,0,1>)
foreach(folder IN LISTS HDF5_INCLUDE_DIRS)
  list(APPEND fuzz_flags -isystem ${folder})
endforeach()

set(fuzz_folder ${CMAKE_CURRENT_BINARY_DIR}/fuzz)
file(MAKE_DIRECTORY ${fuzz_folder})
set(fuzz_objects "")
# Compiles these sources as one, because most of the time goes into the headers that they share.
function(rankcheck_add_fuzz_object name)
  set(joined ${fuzz_folder}/${name}.cpp)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE includes)
  list(JOIN includes "" includes)
  file(CONFIGURE OUTPUT ${joined} CONTENT "${includes}")
  set(object ${fuzz_folder}/${name}.o)
  add_custom_command(OUTPUT ${object}
    COMMAND ${RANKCHECK_CLANG} ${fuzz_flags} -MD -MT ${object} -MF ${object}.d -c ${joined}
      -o ${object}
    DEPENDS ${joined} ${ARGN} DEPFILE ${object}.d VERBATIM)
  set(fuzz_objects ${fuzz_objects} ${object} PARENT_SCOPE)
endfunction()
# Families use the same names, so the sources of each folder are joined. The folders of the harness
# are two objects.
set(fuzz_names "")
foreach(source IN LISTS fuzzed_sources)
  file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${source})
  get_filename_component(name ${name} DIRECTORY)
  if(name MATCHES "^harness/(base|case|check|known)$")
    set(name harness_cases)
  elseif(name MATCHES "^harness/")
    set(name harness_runs)
  endif()
  string(REPLACE "/" "_" name ${name})
  list(APPEND fuzz_names ${name})
  list(APPEND sources_of_${name} ${source})
endforeach()
list(REMOVE_DUPLICATES fuzz_names)
foreach(name IN LISTS fuzz_names)
  rankcheck_add_fuzz_object(${name} ${sources_of_${name}})
endforeach()
set(fuzz_program ${fuzz_folder}/rankcheck-fuzz)
add_custom_command(OUTPUT ${fuzz_program}
  COMMAND ${RANKCHECK_CLANG} -fsanitize=fuzzer ${fuzz_sanitizers} ${fuzz_objects}
    -o ${fuzz_program} $<TARGET_FILE:fmt::fmt>
    ${HDF5_CXX_LIBRARIES} ${HDF5_C_LIBRARIES} ${ZLIB_LIBRARIES}
  DEPENDS ${fuzz_objects} VERBATIM)
add_custom_target(rankcheck_fuzz ALL DEPENDS ${fuzz_program})

# All targets together take less than a minute for these numbers of inputs. The inputs are the same
# each time.
foreach(run IN LISTS fuzz_runs)
  string(REPLACE ":" ";" run ${run})
  list(GET run 0 target)
  list(GET run 1 inputs)
  add_test(NAME fuzz.${target} COMMAND sh -c
    [[rm -rf "$1" && exec "$0" "$2" "$1" -seed=1 -runs="$3" -dict="$4" -artifact_prefix="$1-" \
      -max_len=4096 -timeout=20 -rss_limit_mb=2048 -verbosity=0 -print_final_stats=1]]
    ${fuzz_program} ${fuzz_folder}/inputs-${target} ${target} ${inputs}
    ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/json.dict)
  # The readers wait for files on a disk, so temporary files are kept in memory.
  set_tests_properties(fuzz.${target} PROPERTIES LABELS fuzz TIMEOUT ${time_out_s}
    ENVIRONMENT "TMPDIR=/dev/shm")
endforeach()

# cmake -D SOURCE=… -D OUTPUT=… -P commit.cmake: writes a header with the commit that is built, and
# only when that changes. "unknown" where git or its folder is missing.
function(git out)
  # A folder may belong to another user than the one who builds.
  execute_process(
    COMMAND git --no-optional-locks -c safe.directory=${SOURCE} ${ARGN}
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE said RESULT_VARIABLE status ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${out} "${said}" PARENT_SCOPE)
  set(status ${status} PARENT_SCOPE)
endfunction()

git(prefix rev-parse --show-prefix)
git(commit rev-parse --short=12 HEAD)
# Sources may lie in a folder of another repository.
if(prefix OR NOT status EQUAL 0)
  set(commit unknown)
else()
  git(changes status --porcelain)
  if(changes)
    string(APPEND commit "-dirty")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define RANKCHECK_COMMIT \"${commit}\"\n")

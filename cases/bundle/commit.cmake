# Usage: cmake -D SOURCE=… -D OUTPUT=… -P commit.cmake
# Writes a header with the commit of the sources, but only if the commit changes. The commit is
# "unknown" if git or its folder is missing.
function(git out)
  # safe.directory: the folder may belong to another user than the one who builds.
  execute_process(
    COMMAND git --no-optional-locks -c safe.directory=${SOURCE} ${ARGN}
    WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE said RESULT_VARIABLE status ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${out} "${said}" PARENT_SCOPE)
  set(status ${status} PARENT_SCOPE)
endfunction()

git(prefix rev-parse --show-prefix)
git(commit rev-parse --short=12 HEAD)
# If the prefix is not empty, the sources lie inside another repository.
if(prefix OR NOT status EQUAL 0)
  set(commit unknown)
else()
  git(changes status --porcelain)
  if(changes)
    string(APPEND commit "-dirty")
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define RANKCHECK_COMMIT \"${commit}\"\n")

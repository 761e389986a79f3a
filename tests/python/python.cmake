# The tests of the package for Python: a test for each file of pytest, and one for its types. Each
# is skipped if no Python here has the modules that it needs.
set(python_package ${CMAKE_SOURCE_DIR}/harness/client/python)

# Adds a test that runs a module of Python in the package's folder. `modules` are what it needs.
function(rankcheck_add_python_test name modules)
  add_test(NAME python.${name} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/python/run.sh
    ${python_package} "${modules}" ${ARGN})
  set_tests_properties(python.${name} PROPERTIES LABELS python TIMEOUT ${time_out_s}
    ENVIRONMENT "RANKCHECK=$<TARGET_FILE:rankcheck>" SKIP_REGULAR_EXPRESSION "^skipped: ")
endfunction()

if(RANKCHECK_SANITIZE)
  rankcheck_add_skipped_test(python python "it is for programs without sanitizers")
else()
  file(GLOB python_tests CONFIGURE_DEPENDS ${python_package}/tests/test_*.py)
  foreach(file IN LISTS python_tests)
    get_filename_component(name ${file} NAME_WE)
    string(REGEX REPLACE "^test_" "" name ${name})
    # -rs prints why tests were skipped.
    rankcheck_add_python_test(${name} "numpy pytest" pytest -q -rs -p no:cacheprovider ${file})
  endforeach()
  rankcheck_add_python_test(types "mypy numpy pytest" mypy --cache-dir=/dev/null rankcheck)

  # A test for each ready subject: a few cases, and what was found in released versions.
  set(ready_subjects ${CMAKE_SOURCE_DIR}/cases/subjects)
  set(modules_of_cupy_nccl cupy numpy)
  set(modules_of_jax_devices jax numpy)
  set(modules_of_mpi4py_subject mpi4py numpy)
  set(modules_of_torch_gloo torch numpy)
  set(modules_of_torch_gloo_strided torch numpy)
  set(modules_of_torch_nccl torch numpy)
  file(GLOB subject_files CONFIGURE_DEPENDS ${ready_subjects}/*.py)
  # This one is run by hand, because what it needs cannot be had for all machines.
  list(REMOVE_ITEM subject_files ${ready_subjects}/tike_mpi.py)
  foreach(file IN LISTS subject_files)
    get_filename_component(name ${file} NAME_WE)
    set(modules numpy)
    if(DEFINED modules_of_${name})
      set(modules ${modules_of_${name}})
    endif()
    list(JOIN modules " " modules)
    rankcheck_add_python_test(subject.${name} "${modules}" tests.ready ${file})
  endforeach()
  rankcheck_add_python_test(subject.threads numpy tests.ready
    "command:$<TARGET_FILE:rankcheck-subject-threads> --ranks {ranks}"
    barrier all_reduce broadcast)
  if(TARGET rankcheck-subject-oneccl)
    rankcheck_add_python_test(subject.oneccl numpy tests.ready
      "command:$<TARGET_FILE:rankcheck-subject-oneccl> --ranks {ranks}" ${ready_subjects}/oneccl.cpp
      barrier all_reduce reduce reduce_scatter broadcast all_gather all_gather_v all_to_all
      all_to_all_v)
  else()
    rankcheck_add_skipped_test(python.subject.oneccl python
      "no oneCCL was found when the tree was configured: name its folder in CCL_ROOT")
  endif()
  # mpirun refuses root unless these say otherwise.
  set_property(TEST python.subject.mpi4py_subject APPEND PROPERTY ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1)
endif()

# Generates the registries of algorithms, and the operators of other devices.

# Generates rankcheck::gpu::<list>(), the list of a family's algorithms. Its entries are
# <implementation>{operation, <type>}. An operation <op>_v also has the algorithms of <op>, which
# work for blocks of any sizes.
function(rankcheck_register_algorithms out family list implementation type)
  # Other folders hold code that several operations share.
  rankcheck_leaf_folders(operations reference/${family} contract.hpp)
  set(declarations "")
  set(entries "")
  foreach(op IN LISTS operations)
    string(REGEX REPLACE "_v$" "" even ${op})
    set(folder ${CMAKE_SOURCE_DIR}/gpu/${family})
    file(GLOB files CONFIGURE_DEPENDS ${folder}/${op}/*.cpp ${folder}/${even}/*.cpp)
    list(TRANSFORM files REPLACE ".*/(.+)\\.cpp$" "\\1" OUTPUT_VARIABLE algorithms)
    list(REMOVE_ITEM algorithms mpi)
    list(REMOVE_DUPLICATES algorithms)
    list(SORT algorithms)
    foreach(algorithm IN LISTS algorithms)
      set(from ${even})
      if(EXISTS ${folder}/${op}/${algorithm}.cpp)
        set(from ${op})
        string(APPEND declarations "namespace ${op} {\n${type} ${algorithm}();\n}\n")
      endif()
      string(APPEND entries "      {\"${op}\", ${from}::${algorithm}()},\n")
    endforeach()
  endforeach()
  rankcheck_write_registry(${family}_algorithms.cpp
"#include \"gpu/${family}/registry.hpp\"

namespace rankcheck::gpu {

${declarations}
const std::vector<${implementation}>& ${list}() {
  static const std::vector<${implementation}> all{
${entries}  };
  return all;
}

}  // namespace rankcheck::gpu
" path)
  set(${out} ${path} PARENT_SCOPE)
endfunction()

# Generates rankcheck::gpu::mpi::operations(), the list of the collectives that MPI has.
function(rankcheck_register_mpi out)
  rankcheck_leaf_folders(operations gpu/collectives mpi.cpp)
  set(declarations "")
  set(entries "")
  foreach(op IN LISTS operations)
    string(APPEND declarations "namespace ${op} {\nmpi::Operation mpi();\n}\n")
    string(APPEND entries "      {\"${op}\", ${op}::mpi()},\n")
  endforeach()
  rankcheck_write_registry(mpi_registry.cpp
"#include \"gpu/device/mpi/operation.hpp\"

namespace rankcheck::gpu {

${declarations}
}  // namespace rankcheck::gpu

namespace rankcheck::gpu::mpi {

const std::vector<NamedOperation>& operations() {
  static const std::vector<NamedOperation> all{
${entries}  };
  return all;
}

}  // namespace rankcheck::gpu::mpi
" path)
  set(${out} ${path} PARENT_SCOPE)
endfunction()

# Prepares the operators for compilation for another kind of device. Generates sources in the folder
# `kind` that only include the operators' own sources, several in each, because compilers start
# slowly. The list of the operators is one of the sources.
function(rankcheck_wrap_operators out kind extension)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
       ${CMAKE_SOURCE_DIR}/gpu/ptycho/*.cpp)
  set(wrappers ${CMAKE_BINARY_DIR}/generated/ptycho_algorithms.cpp)
  while(sources)
    list(SUBLIST sources 0 ${CMAKE_UNITY_BUILD_BATCH_SIZE} together)
    list(REMOVE_ITEM sources ${together})
    list(TRANSFORM together REPLACE "(.+)" "#include \"\\1\"\n")
    list(JOIN together "" includes)
    list(LENGTH wrappers number)
    set(wrapper ${CMAKE_BINARY_DIR}/generated/${kind}/operators_${number}.${extension})
    file(CONFIGURE OUTPUT ${wrapper} CONTENT "${includes}")
    list(APPEND wrappers ${wrapper})
  endwhile()
  set(${out} ${wrappers} PARENT_SCOPE)
endfunction()

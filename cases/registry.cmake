# Finds and sorts the leaf folders and generates registries of plain calls from them. So a linker
# has nothing to drop, a missing function is a link error, and the order is the same everywhere.

# Sets `out` to the sorted names of the folders below `path` that hold a file `file`.
function(rankcheck_leaf_folders out path file)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${path}/*/${file})
  set(names "")
  foreach(entry IN LISTS files)
    get_filename_component(folder ${entry} DIRECTORY)
    get_filename_component(folder ${folder} NAME)
    list(APPEND names ${folder})
  endforeach()
  list(REMOVE_DUPLICATES names)
  list(SORT names)
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

# Writes a file only if its content changes, so that nothing is rebuilt without need. Sets `out` to
# the path of the file.
function(rankcheck_write_registry name content out)
  set(path ${CMAKE_BINARY_DIR}/generated/${name})
  file(CONFIGURE OUTPUT ${path} CONTENT "${content}" @ONLY)
  set(${out} ${path} PARENT_SCOPE)
endfunction()

# Generates rankcheck::reference::<family>(), the list of a family's references. Its entries are
# <type>{contract, reference}.
function(rankcheck_register_references out family type)
  rankcheck_leaf_folders(operations reference/${family} contract.hpp)
  set(includes "")
  set(entries "")
  foreach(op IN LISTS operations)
    string(APPEND includes "#include \"reference/${family}/${op}/contract.hpp\"\n"
                           "#include \"reference/${family}/${op}/reference.hpp\"\n")
    string(APPEND entries "      {${op}::contract(), ${op}::reference},\n")
  endforeach()
  rankcheck_write_registry(${family}_references.cpp
"${includes}#include \"reference/${family}/registry.hpp\"

namespace rankcheck::reference {

const std::vector<${type}>& ${family}() {
  static const std::vector<${type}> all{
${entries}  };
  return all;
}

}  // namespace rankcheck::reference
" path)
  set(${out} ${path} PARENT_SCOPE)
endfunction()

# Generates rankcheck::gpu::<list>(), the list of a family's algorithms. Its entries are
# <implementation>{operation, <type>}.
function(rankcheck_register_algorithms out family list implementation type)
  # Other folders hold code that several operations share.
  rankcheck_leaf_folders(operations reference/${family} contract.hpp)
  set(declarations "")
  set(entries "")
  foreach(op IN LISTS operations)
    file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/gpu/${family}/${op}/*.cpp)
    list(SORT files)
    foreach(file IN LISTS files)
      get_filename_component(algorithm ${file} NAME_WE)
      if(NOT algorithm STREQUAL mpi)
        string(APPEND declarations "namespace ${op} {\n${type} ${algorithm}();\n}\n")
        string(APPEND entries "      {\"${op}\", ${op}::${algorithm}()},\n")
      endif()
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

function(rankcheck_register_mpi out)
  rankcheck_leaf_folders(operations gpu/collectives mpi.cpp)
  set(declarations "")
  set(entries "")
  foreach(op IN LISTS operations)
    string(APPEND declarations "namespace ${op} {\nmpi::Operation mpi();\n}\n")
    string(APPEND entries "      {\"${op}\", ${op}::mpi()},\n")
  endforeach()
  rankcheck_write_registry(mpi_registry.cpp
"#include \"gpu/device/mpi/registry.hpp\"

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
# `kind` that only include the operators' own sources, 8 in each, because compilers start slowly.
function(rankcheck_wrap_operators out kind extension)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}
       ${CMAKE_SOURCE_DIR}/gpu/ptycho/*.cpp)
  list(APPEND sources gpu/device/cluster.cpp)
  set(wrappers "")
  while(sources)
    list(SUBLIST sources 0 8 together)
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

# Generates rankcheck::cases::suites(), the suites of all given families, sorted by operation.
function(rankcheck_register_suites out)
  set(declarations "")
  set(entries "")
  set(operations "")
  foreach(family IN LISTS ARGN)
    rankcheck_leaf_folders(of_family cases/${family} suite.cpp)
    list(APPEND operations ${of_family})
  endforeach()
  list(SORT operations)
  foreach(op IN LISTS operations)
    string(APPEND declarations "namespace ${op} {\nSuite suite();\n}\n")
    string(APPEND entries "      {\"${op}\", ${op}::suite()},\n")
  endforeach()
  rankcheck_write_registry(cases_registry.cpp
"#include \"cases/suites/registry.hpp\"

namespace rankcheck::cases {

${declarations}
const std::vector<NamedSuite>& suites() {
  static const std::vector<NamedSuite> all{
${entries}  };
  return all;
}

}  // namespace rankcheck::cases
" path)
  set(${out} ${path} PARENT_SCOPE)
endfunction()

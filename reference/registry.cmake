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
# <type>{contract, reference}. Also generates what reference/<family>/references.hpp declares:
# functions with these parameters.
function(rankcheck_register_references out family type parameters)
  rankcheck_leaf_folders(operations reference/${family} contract.hpp)
  set(includes "")
  set(entries "")
  set(declarations "")
  foreach(op IN LISTS operations)
    string(APPEND includes "#include \"reference/${family}/${op}/contract.hpp\"\n")
    string(APPEND entries "      {${op}::contract(), ${op}::reference},\n")
    string(APPEND declarations "namespace ${op} {\nvoid reference(${parameters});\n}\n")
  endforeach()
  rankcheck_write_registry(${family}_references.inc
    "namespace rankcheck::reference {\n${declarations}}\n" declared)
  rankcheck_write_registry(${family}_references.cpp
"${includes}#include \"reference/${family}/references.hpp\"
#include \"reference/${family}/registry.hpp\"

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

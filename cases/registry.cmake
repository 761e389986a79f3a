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

# add_unit_tests(TARGET PREFIX [OPTIONS of gtest_discover_tests]): each case of a program of tests is a test of its own,
# PREFIX.Suite.case. In a sanitized build, where a process takes longer to start than most cases to run, the program is
# one: PREFIX.TARGET.
find_package(GTest REQUIRED)
include(GoogleTest)
function(add_unit_tests target prefix)
  if(LIBSPLIT_SANITIZE)
    add_test(NAME ${prefix}.${target} COMMAND ${target})
  else()
    gtest_discover_tests(${target} TEST_PREFIX ${prefix}. ${ARGN})
  endif()
endfunction()

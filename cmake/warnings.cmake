# Every own target links libsplit_build_flags: warnings, sanitizers and include root in one place.
add_library(libsplit_build_flags INTERFACE)
target_include_directories(libsplit_build_flags INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(libsplit_build_flags INTERFACE -Wall -Wextra -Wnon-virtual-dtor)
if(CMAKE_UNITY_BUILD) # a file sees others' names
  target_compile_options(libsplit_build_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
else()
  target_compile_options(libsplit_build_flags INTERFACE -Wshadow)
endif()
if(LIBSPLIT_WERROR)
  target_compile_options(libsplit_build_flags INTERFACE -Werror)
endif()
if(LIBSPLIT_SANITIZE)
  target_compile_options(libsplit_build_flags INTERFACE
    -fsanitize=${LIBSPLIT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(libsplit_build_flags INTERFACE -fsanitize=${LIBSPLIT_SANITIZE})
endif()

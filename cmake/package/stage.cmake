# Run by cpack on the folder that becomes the package, when everything is installed there.
set(source ${CMAKE_CURRENT_LIST_DIR})
set(root ${CPACK_TEMPORARY_DIRECTORY})

# The library's name alone, for the dynamic loader to find. Disabled: the OpenCL loader reads *.lay.
file(COPY ${source}/libsplit.lay DESTINATION ${root}/etc/OpenCL/layers)
file(RENAME ${root}/etc/OpenCL/layers/libsplit.lay ${root}/etc/OpenCL/layers/libsplit.lay.disabled)

set(documentation ${root}/usr/share/doc/libsplit)
file(COPY ${source}/README.Debian ${source}/../../docs DESTINATION ${documentation})
file(COPY ${source}/../../LICENSE DESTINATION ${documentation})
file(RENAME ${documentation}/LICENSE ${documentation}/copyright)

file(GLOB pages ${root}/usr/share/man/*/*)
foreach(page IN LISTS pages)
  execute_process(COMMAND gzip --best --no-name ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# What cpack makes of the target `programs`: a .deb for the distribution that it runs on.
#
# Dependencies are those of the programs as linked (dpkg-shlibdeps), and an OpenCL loader, which is
# opened at run time. With SOURCE_DATE_EPOCH set, the same build gives the same bytes; by the preset `package`, which
# keeps the folder's name out of them, so does one in another folder.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON) # tests and benchmarks are no part of it
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME libsplit)
set(CPACK_PACKAGE_VENDOR libsplit)
set(CPACK_PACKAGE_CONTACT "the libsplit project <libsplit@localhost>" CACHE STRING "Maintainer of the package")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "runs unmodified OpenCL programs split over every device")
set(CPACK_PACKAGE_DESCRIPTION
"libsplit stands between an OpenCL program and the loader. Each kernel launch that can be split safely is executed by all devices of the machine, GPUs of any vendor and CPUs, each of which gets only the bytes that it needs. What can't be split runs as without libsplit.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "ocl-icd-libopencl1 | libopencl-1.2-1")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "pocl-opencl-icd")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "llvm-spirv-19 | llvm-spirv-15")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# A file below /etc is the administrator's.
file(WRITE ${PROJECT_BINARY_DIR}/package/conffiles "/etc/OpenCL/layers/libsplit.lay.disabled\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/package/conffiles)

# What has its place in a Debian system and not below an install prefix.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/package/stage.cmake)

include(CPack)

#include "runtime/device/device_macros.h"

namespace libsplit::runtime {

DeviceMacros deviceMacros(const Dispatch& cl, cl_device_id device) {
  DeviceMacros macros;
  macros.version = stringProperty(cl.clGetDeviceInfo, device, CL_DEVICE_OPENCL_C_VERSION);
  macros.extensions = stringProperty(cl.clGetDeviceInfo, device, CL_DEVICE_EXTENSIONS);
  // The specification has programs that name no version compiled as OpenCL C 1.x.
  std::string version = stringProperty(cl.clGetDeviceInfo, device, CL_DEVICE_VERSION);
  if (version.starts_with("OpenCL 3.") && version.find("PoCL") != std::string::npos)
    macros.defaultVersion = "300";
  if (property<cl_bool>(cl.clGetDeviceInfo, device, CL_DEVICE_IMAGE_SUPPORT))
    macros.defines.push_back("__IMAGE_SUPPORT__=1");
  if (property<cl_bool>(cl.clGetDeviceInfo, device, CL_DEVICE_ENDIAN_LITTLE))
    macros.defines.push_back("__ENDIAN_LITTLE__=1");
  for (const cl_name_version& feature :
       arrayProperty<cl_name_version>(cl.clGetDeviceInfo, device, CL_DEVICE_OPENCL_C_FEATURES))
    macros.defines.push_back(std::string(feature.name) + "=1");
  if (macros.extensions.find("cl_nv_") != std::string::npos)
    macros.defines.push_back("__NV_CL_C_VERSION=120");
  return macros;
}

} // namespace libsplit::runtime

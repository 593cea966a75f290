# Configuration of the analysis tests; the paths come from lit.site.cfg.py.in through CMake.
import os
import shutil
import lit.formats

config.name = "libsplit-analysis"
config.test_format = lit.formats.ShTest(execute_external=False)
config.excludes = ["inputs"]
config.suffixes = [".cl", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = config.output_folder

# Passes where the program in the pipe is OpenCL C that an independent front end accepts.
def recompile(standard):
    return (f"{config.clang} -target spir64 -x cl -cl-std={standard} "
            "-Xclang -finclude-default-header -fsyntax-only -")


config.substitutions += [
    ("%splitc", config.splitc),
    ("%opt", config.opt),
    ("%clang", config.clang),
    ("%plugin", config.plugin),
    ("%recompile12", recompile("CL1.2")),
    ("%recompile20", recompile("CL2.0")),
    ("%FileCheck", config.filecheck),
    ("%spirv_as", config.spirv_as),
    ("%spirv_val", config.spirv_val),
    ("%kernels", config.sample_kernels),
    ("%inputs", os.path.join(config.test_source_root, "inputs")),
]

# splitc finds the same one.
if any(shutil.which(f"llvm-spirv{suffix}") for suffix in ("", *(f"-{version}" for version in range(14, 20)))):
    config.available_features.add("llvm-spirv")

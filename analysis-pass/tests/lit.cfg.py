# Configuration of the analysis tests; the paths come from lit.site.cfg.py.in through CMake.
import os
import lit.formats

config.name = "libsplit-analysis"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".cl", ".test"]
config.excludes = ["inputs"]
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
    ("%inputs", os.path.join(config.test_source_root, "inputs")),
]

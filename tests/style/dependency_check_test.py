"""The dependency check finds what it must and nothing else."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from dependency_check import violations  # noqa: E402


class DependencyCheck(unittest.TestCase):
    def found_in(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return violations(Path(folder))

    def test_allowed_includes_pass(self):
        self.assertEqual([], self.found_in({
            "libsplit/door.cpp": '#include "libsplit/door.h"\n#include "runtime/session/session.h"\n#include <CL/cl.h>\n',
            "runtime/session/session.cpp": '#include "analysis-pass/summary/expr.h"\n#include <unistd.h>\n#include <sys/wait.h>\n',
            "solver/shares.cpp": "#include <Eigen/Dense>\n#include <vector>\n#include <cstdint>\n",
            "tests/unit/any_test.cpp": '#include "solver/shares.h"\n#include <gtest/gtest.h>\n',
        }))

    def test_each_forbidden_include_is_named_with_its_line(self):
        for name, include in (
                ("runtime/session/session.cpp", '"libsplit/door.h"'),
                ("runtime/session/session.cpp", "<llvm/IR/Module.h>"),
                ("runtime/session/session.cpp", '"analysis-pass/pass/report.h"'),
                ("runtime/core/log.cpp", '"runtime/plan/planner.h"'),
                ("runtime/plan/planner.cpp", '"runtime/core/opencl.h"'),
                ("runtime/device/memory.h", '"runtime/session/contents.h"'),
                ("runtime/program/program.h", '"runtime/session/launch.h"'),
                ("solver/shares.cpp", "<CL/cl.h>"),
                ("solver/shares.cpp", '"runtime/session/session.h"'),
                ("analysis-pass/summary/expr.h", '"solver/shares.h"'),
                ("analysis-pass/summary/expr.h", "<nlohmann/json.hpp>"),
                ("libsplit/door.cpp", '"solver/shares.h"'),
                ("tools/splitrun.cpp", '"libsplit/door.h"'),
                ("tools/splitrun.cpp", '"tests/samples/sample.h"'),
                ("tests/samples/nbody.cpp", '"runtime/session/session.h"'),
                ("benchmarks/loop.cpp", '"libsplit/door.h"')):
            with self.subTest(f"{name} includes {include}"):
                found = self.found_in({name: f"// first line\n#  include {include}\n"})
                self.assertEqual(1, len(found), found)
                self.assertTrue(found[0].startswith(f"{name}:2: "), found)

    def test_a_folder_that_no_rule_covers_is_reported(self):
        self.assertEqual(1, len(self.found_in({"tests/elsewhere/file.cpp": ""})))


unittest.main()

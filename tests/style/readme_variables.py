"""The README's table of variables is the one that splitrun generates.

Usage: readme_variables.py README SPLITRUN [--write]
"""

import subprocess
import sys
from pathlib import Path

BEGIN, END = "<!-- variables: begin -->\n", "<!-- variables: end -->\n"

readme, splitrun = Path(sys.argv[1]), sys.argv[2]
text = readme.read_text()
before, rest = text.split(BEGIN)
shown, after = rest.split(END)
generated = subprocess.run([splitrun, "--help-markdown"], check=True, capture_output=True, text=True).stdout
if "--write" in sys.argv:
    readme.write_text(before + BEGIN + generated + END + after)
elif shown != generated:
    sys.exit(f"The table of variables in {readme} is out of date; repair with: "
             f"python3 {sys.argv[0]} {readme} {splitrun} --write")

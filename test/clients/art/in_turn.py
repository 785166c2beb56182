"""Runs scripts of this folder one after the other in one process, because the import of ART takes seconds.

Takes the folder for ART's files, and for each script a JSON list of its name and its further arguments. Prints a JSON
object with the results of all in its last line.
"""

import io
import json
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path

scratch, *scripts = sys.argv[1:]
results = []
for text in scripts:
    name, *more = json.loads(text)
    sys.argv = [name, scratch, *more]
    with redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(str(Path(__file__).with_name(name)), run_name="__main__")
    results.append(json.loads(next(line for line in reversed(printed.getvalue().splitlines()) if line.startswith("{"))))
print(json.dumps({"results": results}))

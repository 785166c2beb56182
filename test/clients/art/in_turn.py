"""Runs scripts of this folder one after the other in one process, because the import of ART takes seconds.

Takes the folder for ART's files, and for each script a JSON list of its name and its further arguments. Prints a JSON
object with the results of all in its last line. The result of a script that fails is its error.
"""

import io
import json
import runpy
import sys
import traceback
from contextlib import redirect_stdout
from pathlib import Path

scratch, *scripts = sys.argv[1:]
results = []
for text in scripts:
    name, *more = json.loads(text)
    sys.argv = [name, scratch, *more]
    with redirect_stdout(io.StringIO()) as printed:
        try:
            runpy.run_path(str(Path(__file__).with_name(name)), run_name="__main__")
        except Exception:
            results.append({"error": traceback.format_exc()})
            continue
    results.append(json.loads(next(line for line in reversed(printed.getvalue().splitlines()) if line.startswith("{"))))
print(json.dumps({"results": results}))

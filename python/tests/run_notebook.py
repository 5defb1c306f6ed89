# SPDX-License-Identifier: Apache-2.0
"""run_notebook.py NOTEBOOK: executes it with nbconvert where the tree's configs are, and judges what it made. 77: not installed."""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
notebook = pathlib.Path(sys.argv[1]).resolve()
try:
    import ipykernel  # noqa: F401
    import nbconvert  # noqa: F401
except ImportError as missing:
    print(f"skip: {missing.name} is not installed (apt install python3-nbconvert python3-ipykernel)")
    sys.exit(77)

# The cells run in the folder of the notebook, and it speaks of configs/: a copy at the root of a folder with a link to them.
with tempfile.TemporaryDirectory(prefix="lightloom-notebook-") as folder:
    place = pathlib.Path(folder)
    (place / "configs").symlink_to(ROOT / "configs")
    (place / "notebook.ipynb").write_text(notebook.read_text(encoding="utf-8"), encoding="utf-8")
    begin = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", "notebook.ipynb"], cwd=place,
                          capture_output=True, text=True, check=False)
    print(f"note: the notebook took {time.monotonic() - begin:.1f} s")
    if done.returncode != 0:
        print(done.stderr)
        sys.exit(1)
    cells = [cell for cell in json.loads((place / "notebook.ipynb").read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]

broken = 0


def promise(text, kept, detail=""):
    global broken
    broken += not kept
    print(f"{'kept' if kept else 'broken'}: {text}{f': {detail}' if detail and not kept else ''}")


def data(index, kind):
    """What the cell shows last, as text."""
    shown = [output["data"] for output in cells[index]["outputs"] if "data" in output]
    return "".join(shown[-1].get(kind, [])) if shown else ""


lines = sum(1 for cell in cells for line in "".join(cell["source"]).splitlines() if line.strip())
promise("it has ten lines or a few more", lines <= 12, lines)
promise("the arena is a table of three fabrics", all(name in data(0, "text/html") for name in ("ideal-switch", "fat-tree", "oddl")))
promise("... and a picture", "<svg" in data(1, "image/svg+xml"))
promise("the plan has circuits between nodes", data(2, "text/html").count("<tr") > 4, data(2, "text/plain"))
promise("the job is in light", "'lit'" in data(3, "text/plain"), data(3, "text/plain"))
sys.exit(1 if broken else 0)

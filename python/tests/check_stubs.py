# SPDX-License-Identifier: Apache-2.0
"""What _lightloom.pyi says of the compiled module is so, by mypy's stubtest; and the package's own types agree, by mypy. 77: no mypy."""
import pathlib
import subprocess
import sys
import tempfile

try:
    import mypy  # noqa: F401
except ImportError:
    print("skip: mypy is not installed (apt install mypy)")
    sys.exit(77)

package = pathlib.Path(__file__).resolve().parent.parent / "lightloom"
# What pybind11 adds to every class: a metaclass of its own, and an __init__ that refuses where there is none.
ADDED = [f"lightloom._lightloom.{name}" for name in ("Client", "Contest", "Demand", "Fabric", "PlanText", "Fabric.__init__", "PlanText.__init__")]
with tempfile.NamedTemporaryFile("w", suffix=".txt") as allowed:
    allowed.write("\n".join(ADDED) + "\n")
    allowed.flush()
    stubs = subprocess.run([sys.executable, "-m", "mypy.stubtest", "lightloom._lightloom", "--allowlist", allowed.name], check=False)
types = subprocess.run([sys.executable, "-m", "mypy", "--ignore-missing-imports", str(package)], check=False)
sys.exit(1 if stubs.returncode or types.returncode else 0)

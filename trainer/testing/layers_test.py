"""Which module may import which: a layer imports only itself and the layers before it in the list."""

import ast
import tomllib
from pathlib import Path

import pytest

TRAINER = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((TRAINER / "pyproject.toml").read_text())
SHIPPED = PYPROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
METHODS = sorted(path.parent.name for path in (TRAINER / "trainyard_trainer").glob("*/job.py"))
# Names of modules and folders without the package's own; folders stand for all that is in them.
LAYERS = {
    "trainyard_artifacts": [],
    "trainyard_base_model": [],
    "trainyard_trainer": [
        "log",
        "failures",
        "retries",
        "config",
        "shared_volume",
        "reports",
        "statistics",
        "data",
        "tokens",
        "compute.rows",
        "compute.model",
        "compute.execution",
        "compute.scheduling",
        "untrained",
        "job",
        "progress",
        "session",
        *METHODS,
        "methods",
        "readiness",
        "worker",
        "metrics",
        "process",
        "__main__",
    ],
    "trainyard_engine": [],
    "trainyard_colocated": [],
}
SHARED = {"trainyard_artifacts", "trainyard_base_model"}
OURS = {path.name for path in TRAINER.iterdir() if (path / "__init__.py").exists()}


def list_modules(package: str) -> dict[str, Path]:
    """The shipped modules by their dotted names; tests and the packages' own files are none."""
    files = [path for path in (TRAINER / package).rglob("*.py") if not path.name.endswith("_test.py")]
    return {
        ".".join(path.relative_to(TRAINER).with_suffix("").parts): path for path in files if path.name != "__init__.py"
    }


def list_imports(path: Path) -> list[str]:
    """The dotted names of our own modules that a file imports, wherever in it."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in found if name.split(".")[0] in OURS]


def find_layer(name: str) -> int:
    package, _, rest = name.partition(".")
    layers = LAYERS[package]
    found = [index for index, layer in enumerate(layers) if f"{rest}.".startswith(f"{layer}.")]
    assert found, f"{name} is in no layer: add it to the list where it belongs"
    return found[0]


def test_the_shipped_packages_are_listed():
    assert SHIPPED == ["trainyard_*"]
    assert {name for name in OURS if name.startswith("trainyard_")} == LAYERS.keys()


@pytest.mark.parametrize("package", LAYERS)
def test_shipped_packages_import_only_shipped_packages(package):
    allowed = {package, *SHARED}
    violations = [
        f"{module} imports {name}"
        for module, path in list_modules(package).items()
        for name in list_imports(path)
        if name.split(".")[0] not in allowed
    ]
    assert violations == []


def test_layers_of_the_trainer_import_only_those_below_them():
    violations = [
        f"{module} imports {name}"
        for module, path in list_modules("trainyard_trainer").items()
        for name in list_imports(path)
        if name.startswith("trainyard_trainer.") and find_layer(name) > find_layer(module)
    ]
    assert violations == []

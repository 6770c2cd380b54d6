"""pyproject.toml, both locks, constraints.txt and environment.yml say the same.

The rules are one function, `disagreements`, which is also shown to notice each kind of drift.
"""

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import environment
import lock
import pytest
import yaml
from lock import LAPTOPS, blocks, without_hashes
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
SYSTEMS = {
    "linux": {"sys_platform": "linux", "os_name": "posix"},
    "macos": {"sys_platform": "darwin", "os_name": "posix"},
    "windows": {"sys_platform": "win32", "os_name": "nt"},
}
MACHINES = {"x86_64": "x86_64", "aarch64": "arm64"}


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def pins(constraints):
    lines = [line for line in constraints.splitlines() if line and line[0] != "#"]
    return [Requirement(line) for line in lines]


def direct(project):
    extras = project["optional-dependencies"].values()
    return [Requirement(line) for line in [*project["dependencies"], *sum(extras, [])]]


def laptops():
    """The marker variables of each laptop and Python that the workbook is for."""
    for laptop, pythons in LAPTOPS.items():
        machine, system = laptop.split("-")[0], laptop
        name = "windows" if "windows" in system else "macos" if "apple" in system else "linux"
        arm = "ARM64" if name == "windows" else MACHINES[machine]
        for python in pythons:
            yield {
                **default_environment(),
                **SYSTEMS[name],
                "platform_machine": arm if machine == "aarch64" else "x86_64",
                "python_version": python,
                "python_full_version": f"{python}.7",
            }


def disagreements(project, constraints, lock, grading, conda):
    """Each thing in which the five files differ, in words."""
    pinned = without_hashes(lock).splitlines() + without_hashes(grading).splitlines()
    if sorted(pinned) != sorted(constraints.splitlines()[2:]):
        yield "constraints.txt is not the two locks without hashes"
    for_students = {canonicalize_name(pin.name) for pin in pins(without_hashes(lock))}
    for requirement in map(Requirement, project["optional-dependencies"]["grading"]):
        if canonicalize_name(requirement.name) in for_students:
            yield f"{requirement} is installed for students"
    for laptop in laptops():
        found = installed(constraints, laptop)
        for requirement in direct(project):
            if requirement.marker and not requirement.marker.evaluate(laptop):
                continue
            versions = found.get(canonicalize_name(requirement.name), [])
            if len(versions) != 1 or versions[0] not in requirement.specifier:
                yield f"{requirement} is pinned as {versions} on {laptop['sys_platform']}"
    yield from conda_disagreements(project, conda)


def installed(constraints, laptop):
    """The versions that one laptop would install of each package."""
    found = {}
    for pin in pins(constraints):
        if pin.marker is None or pin.marker.evaluate(laptop):
            version = next(iter(pin.specifier)).version
            found.setdefault(canonicalize_name(pin.name), []).append(version)
    return found


def conda_disagreements(project, conda):
    """What environment.yml says beyond Python, pip and the two lines that lead to our files."""
    parts = [part for part in conda["dependencies"] if isinstance(part, str)]
    python = [part.partition("=")[2] for part in parts if part.startswith("python=")]
    if conda["channels"] != ["conda-forge"] or len(parts) != 2 or "pip" not in parts:
        yield "environment.yml has more than python and pip from conda-forge"
    if len(python) != 1 or f"{python[0]}.9" not in SpecifierSet(project["requires-python"]):
        yield "environment.yml has a Python that pyproject.toml does not admit"
    if conda["dependencies"][-1] != {"pip": ["-c constraints.txt", "-e .[test]"]}:
        yield "environment.yml does not install by pip what pyproject.toml names"


@pytest.fixture
def files():
    return {
        "project": tomllib.loads(read("pyproject.toml"))["project"],
        "constraints": read("constraints.txt"),
        "lock": read("requirements.lock"),
        "grading": read("grading.lock"),
        "conda": yaml.safe_load(read("environment.yml")),
    }


def test_the_files_agree(files):
    assert not list(disagreements(**files))


def drop_a_pin(files):
    for name in ("constraints", "lock"):
        files[name] = re.sub(r"(?m)^plotly==.*\n(?:    .*\n)*", "", files[name])


def pin_twice(files):
    line = "plotly==7.0.0\n"
    files["constraints"] += line
    files["lock"] += line


def lose_nbgrader(files):
    files["grading"] = re.sub(r"(?m)^nbgrader==.*\n(?:    .*\n)*", "", files["grading"])


def give_nbgrader_to_students(files):
    (nbgrader,) = (block for block in blocks(files["grading"]) if block.startswith("nbgrader=="))
    files["grading"] = files["grading"].replace(nbgrader, "")
    files["lock"] += nbgrader


def edit_by_hand(files):
    files["constraints"] = files["constraints"].replace("tqdm==4", "tqdm==3")


def ask_for_more(files):
    files["project"]["dependencies"].append("numpy>=2")


def ask_for_newer(files):
    files["project"]["dependencies"].append("plotly>=99")


def use_an_old_python(files):
    files["conda"]["dependencies"][0] = "python=3.10"


def install_by_conda(files):
    files["conda"]["dependencies"].insert(0, "jupyterlab")


def forget_the_constraints(files):
    files["conda"]["dependencies"][-1]["pip"].pop(0)


@pytest.mark.parametrize(
    "drift",
    [
        *(drop_a_pin, pin_twice, edit_by_hand, ask_for_more, ask_for_newer),
        *(lose_nbgrader, give_nbgrader_to_students),
        *(use_an_old_python, install_by_conda, forget_the_constraints),
    ],
    ids=lambda drift: drift.__name__,
)
def test_a_drift_is_noticed(files, drift):
    drift(files)
    assert list(disagreements(**files))


def test_every_package_of_the_locks_has_hashes():
    packages = [
        block
        for name in ("requirements.lock", "grading.lock")
        for block in re.split(r"\n(?=\S)", read(name).rstrip())[2:]
    ]
    assert len(packages) == len(pins(read("constraints.txt")))
    for block in packages:
        head, *hashes = block.replace(" \\", "").splitlines()
        assert hashes, head
        assert all(re.fullmatch(r" +--hash=sha256:[0-9a-f]{64}", line) for line in hashes), head


@pytest.mark.parametrize("name", ["requirements.lock", "grading.lock", "constraints.txt"])
def test_no_index_and_no_file_is_named(name):
    assert not re.search(r"://|(?m:^-)|@ ", read(name))


def test_start_finds_the_pinned_uv_in_the_lock(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    monkeypatch.setattr(
        environment, "attempt", lambda *command: seen.append(Path(command[-1]).read_text()) or ""
    )
    assert environment.find_uv()[1:] == ["-m", "uv"]
    assert re.match(r"uv==[\d.]+ \\\n    --hash=sha256:", seen[0])
    assert seen[0].count("==") == 1


def imported(path):
    """The first names of what a file imports; a relative import is its own package's."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.partition(".")[0]


# ipywidgets are traitlets in IPython, google-genai is pydantic, httpx is served beside httpx2, and
# nbclient is jupyter_client.
TOP = {"start", "benchmarks"}  # in the top folder
COMES_ALONG = {"IPython", "traitlets", "pydantic", "httpx", "jupyter_client"}


@pytest.mark.parametrize("folder", ["src", "tools", "tests"])
def test_what_is_imported_is_asked_for(files, folder):
    """Nothing is used that happens to be there because something else needs it."""
    modules = {"google-genai": "google", "pyyaml": "yaml"}
    asked = {canonicalize_name(requirement.name) for requirement in direct(files["project"])}
    known = {modules.get(name, name.replace("-", "_")) for name in asked} | COMES_ALONG
    for place in ("src", "tools", "tests"):
        known |= {path.stem for path in (ROOT / place).iterdir()}
    for path in (ROOT / folder).rglob("*.py"):
        assert set(imported(path)) <= known | set(sys.stdlib_module_names) | TOP, path.name


def test_a_laptop_without_a_wheel_is_named_and_looking_leaves_nothing_here(monkeypatch):
    """A folder .venv that uv had made would be taken for no environment by start.py."""
    tried = []

    def uv(*words, **options):
        tried.append(dict(zip(words, words[1:], strict=False)))
        old = "3.11" in words and "x86_64-apple-darwin" in words
        return subprocess.CompletedProcess(words, int(old), "", "no usable wheels\n")

    monkeypatch.setattr(lock, "uv", uv)
    assert lock.missing_wheels() == ["x86_64-apple-darwin, Python 3.11: no usable wheels"]
    assert len(tried) == sum(len(pythons) for pythons in LAPTOPS.values())
    for words in tried:
        assert not Path(words["--target"]).is_relative_to(ROOT)
        assert words["--only-binary"] == ":all:"

"""Binder and JupyterHub: what repo2docker, which builds their images, finds in our checkout.

repo2docker is not installed here. The places and forms are those that release 2026.4.0 reads
(buildpacks/base.py, buildpacks/conda); the workflow `newest` builds the image with the newest one.
"""

import json
import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import binder
import environment
import handout
import launch
import pytest
import yaml
from environment import STARTUP
from test_lab import NEWS, SETTINGS, address, get

ROOT = Path(__file__).parents[1]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
FIRST = "/lab/tree/my/00_start.ipynb"
# With one of these repo2docker builds by another file than environment.yml, or looks elsewhere.
RIVALS = {
    *("binder", ".binder", "Dockerfile", "Project.toml", "JuliaProject.toml", "REQUIRE"),
    *("default.nix", "runtime.txt", "install.R", "DESCRIPTION", "environment.yaml"),
}

posix = pytest.mark.skipif(os.name == "nt", reason="repo2docker builds Linux images.")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A students' set and an environment, after `postBuild` has run there as in an image."""
    folder = tmp_path_factory.mktemp("image")
    book, prefix = folder / "book", folder / "env"
    handout.make_workbook(book)
    venv.create(prefix, symlinks=True)
    path = os.pathsep.join([str(prefix / "bin"), os.environ["PATH"]])
    done = subprocess.run(
        ["./postBuild"], cwd=book, env=os.environ | {"PATH": path}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return book, prefix


def test_environment_yml_in_the_top_folder_is_what_counts():
    assert not RIVALS & {path.name for path in ROOT.iterdir()}


def test_the_python_is_named_so_that_repo2docker_reads_a_minor_version():
    (python,) = (part for part in CONDA["dependencies"] if str(part).startswith("python"))
    assert re.fullmatch(r"python=3\.\d+", python)


def test_the_checkout_is_there_when_pip_runs_and_its_references_lead_to_files():
    """repo2docker copies the checkout first if a line refers to a file in it."""
    (pip,) = (part["pip"] for part in CONDA["dependencies"] if isinstance(part, dict))
    options = dict(line.split(" ", 1) for line in pip)
    assert options.keys() == {"-c", "-e"}
    for place in options.values():
        assert (ROOT / re.sub(r"\[.*\]", "", place)).exists(), place
    assert (ROOT / "pyproject.toml").exists()


@posix
def test_post_build_can_be_run_and_has_unix_line_ends():
    path = ROOT / "postBuild"
    assert os.access(path, os.X_OK)
    assert path.read_bytes().startswith(b"#!/bin/sh\n")


@posix
def test_post_build_copies_every_chapter_without_outputs(built):
    book, _ = built
    copies = sorted((book / "my").iterdir())
    assert [copy.name for copy in copies] == [chapter.name for chapter in launch.chapters()]
    for copy in copies:
        for cell in json.loads(copy.read_text(encoding="utf-8"))["cells"]:
            assert not cell.get("outputs") and not cell.get("execution_count"), copy.name


@posix
def test_the_images_lab_opens_the_first_chapter_and_asks_nothing(built, tmp_path):
    """The settings are those that start.py gives, and JupyterLab reads them where they lie."""
    book, prefix = built
    page = json.loads((prefix / "etc/jupyter/labconfig/page_config.json").read_text())
    assert NEWS in page["disabledExtensions"]
    assert (prefix / "etc/ipython/startup/00-order-of-cells.py").read_text() == STARTUP
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    places = {"JUPYTER_CONFIG_PATH": str(prefix / "etc/jupyter"), "HOME": str(tmp_path)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    own = os.environ | places | {"JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    process = subprocess.Popen(command, cwd=book, env=own, **pipes)
    try:
        place = address(process)
        assert place["path"] == FIRST
        settings = json.loads(SETTINGS.search(get(place, FIRST))[1])
        assert settings["extensionManager"]["name"] == "read-only"
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_a_place_that_cannot_be_written_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(binder, "copy_missing", lambda: None)
    (tmp_path / "etc").write_text("a file where a folder must be")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert binder.main() == 1
    assert capsys.readouterr().err.startswith(f"Cannot write {tmp_path}")


@pytest.mark.parametrize("name", ["README.md", "notebooks/teaching.md"])
def test_the_link_that_is_told_leads_to_the_copy(name):
    told = re.findall(r"urlpath=([\w/.]+\w)", (ROOT / name).read_text(encoding="utf-8"))
    assert told and set(told) == {FIRST.removeprefix("/")}, name


def test_the_first_chapter_is_what_start_py_opens(monkeypatch, tmp_path):
    monkeypatch.setattr(launch, "MY", tmp_path)
    assert "default_url" not in launch.lab_settings()
    (tmp_path / launch.FIRST).touch()
    assert launch.lab_settings()["default_url"] == FIRST
    assert f"--LabApp.default_url={FIRST}" in launch.lab_command(environment.PYTHON, [])

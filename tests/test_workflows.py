"""GitHub's workflows run what the front page says, on every laptop and Python that is promised.

They are read as YAML and held against README.md, tools/lock.py and environment.yml; the one piece
of shell that is more than a command runs here for real. GitHub itself is not asked anything.
"""

import os
import re
import subprocess
from pathlib import Path

import launch
import pytest
import yaml
from lock import LAPTOPS, oldest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".github" / "workflows"
README = (ROOT / "README.md").read_text(encoding="utf-8")
# The runner that is the same kind of machine as a laptop.
RUNNERS = {
    "x86_64-unknown-linux-gnu": "ubuntu-latest",
    "aarch64-unknown-linux-gnu": "ubuntu-24.04-arm",
    "aarch64-apple-darwin": "macos-latest",
    "x86_64-apple-darwin": "macos-15-intel",
    "x86_64-pc-windows-msvc": "windows-latest",
    "aarch64-pc-windows-msvc": "windows-11-arm",
}
MOST = ("x86_64-unknown-linux-gnu", "aarch64-apple-darwin", "x86_64-pc-windows-msvc")


def workflow(name):
    """A workflow; YAML 1.1 reads its word `on` as true."""
    read = yaml.safe_load((FOLDER / name).read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in read.items()}


NAMES = [path.name for path in sorted(FOLDER.glob("*.y*ml"))]
JOBS = [(name, job) for name in NAMES for job in workflow(name)["jobs"]]


def steps(name, job):
    return workflow(name)["jobs"][job]["steps"]


def commands(name, job):
    return [step["run"].strip() for step in steps(name, job) if "run" in step]


def combinations(name, job):
    """Each (runner, Python) of a job's matrix."""
    matrix = workflow(name)["jobs"][job]["strategy"]["matrix"]
    listed = [(os, python) for os in matrix["os"] for python in matrix["python"]]
    return listed + [(more["os"], more["python"]) for more in matrix.get("include", [])]


def between(first, last):
    """Every minor version of Python 3 from one to another."""
    start, stop = (int(version.partition(".")[2]) for version in (first, last))
    return [f"3.{minor}" for minor in range(start, stop + 1)]


def readme_command():
    """The command that the front page gives for every check, as a runner spells Python."""
    return re.search(r"(?m)^python3 (start\.py test)\b", README).expand(r"python \1")


def missing_workflows(text):
    """The workflows that a text links to, or shows a badge of, and that are not there."""
    linked = re.findall(r"actions/workflows/([\w.-]+)", text)
    return [name for name in linked if not (FOLDER / name).is_file()]


def test_both_workflows_are_there():
    assert NAMES == ["newest.yml", "test.yml"]
    assert [workflow(name)["name"] for name in NAMES] == ["newest", "test"]


@pytest.mark.parametrize("name", NAMES)
def test_a_workflow_may_only_read_and_a_newer_run_ends_an_older(name):
    assert workflow(name)["permissions"] == {"contents": "read"}
    assert workflow(name)["concurrency"]["cancel-in-progress"] is True
    assert "workflow_dispatch" in workflow(name)["on"]
    assert "secrets." not in (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "job"), JOBS)
def test_a_job_ends_by_itself_and_uses_githubs_own_actions_alone(name, job):
    described = workflow(name)["jobs"][job]
    assert described["timeout-minutes"] <= 60
    assert not described.get("strategy", {}).get("fail-fast", False)
    used = [step for step in described["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in used)
    assert used[0]["with"] == {"persist-credentials": False}


def test_a_push_and_a_pull_request_are_tested():
    assert {"push", "pull_request"} <= workflow("test.yml")["on"].keys()


def test_every_kind_of_laptop_has_a_runner_and_the_common_ones_every_python():
    runs = set(combinations("test.yml", "test"))
    for laptop, (first, last) in LAPTOPS.items():
        pythons = {python for runner, python in runs if runner == RUNNERS[laptop]}
        assert pythons and pythons <= set(between(first, last)), laptop
        if laptop in MOST:
            assert pythons == set(between(oldest(), last)), laptop
    assert {runner for runner, _ in runs} == {RUNNERS[laptop] for laptop in LAPTOPS}


def test_the_python_of_environment_yml_is_tested_everywhere():
    (python,) = re.findall(r"python=(3\.\d+)", (ROOT / "environment.yml").read_text("utf-8"))
    tested = {runner for runner, tried in combinations("test.yml", "test") if tried == python}
    assert tested == set(RUNNERS.values())


def test_what_runs_is_the_command_of_the_front_page():
    assert commands("test.yml", "test")[-1] == readme_command()
    assert readme_command() in commands("newest.yml", "packages")
    ci = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()[-1]
    assert readme_command().replace("python ", "python3 ") in ci


def test_packages_are_kept_between_runs_until_the_lock_changes():
    (cache,) = (step for step in steps("test.yml", "test") if "cache" in step.get("uses", ""))
    assert "hashFiles('requirements.lock')" in cache["with"]["key"]
    place = re.search(r"UV_CACHE_DIR=\$RUNNER_TEMP/(\w+)", commands("test.yml", "test")[0])[1]
    assert cache["with"]["path"] == "${{ runner.temp }}/" + place


def test_the_newest_releases_are_tried_each_month():
    (schedule,) = workflow("newest.yml")["on"]["schedule"]
    assert re.fullmatch(r"\d{1,2} \d{1,2} (1?\d|2[0-8]) \* \*", schedule["cron"])


def test_the_newest_packages_meet_every_system_and_the_newest_python():
    runs = combinations("newest.yml", "packages")
    newest = max((last for _, last in LAPTOPS.values()), key=lambda version: int(version[2:]))
    assert {(RUNNERS[laptop], newest) for laptop in MOST} <= set(runs)
    assert ("ubuntu-latest", "3.x") in runs


def test_the_tests_run_and_the_versions_are_told_even_if_a_wheel_is_missing():
    by_command = {step.get("run", "").strip(): step for step in steps("newest.yml", "packages")}
    order = list(by_command)
    lock = order.index("python tools/lock.py --upgrade")
    later = [by_command[command] for command in order[lock + 1 :]]
    assert [step["if"] for step in later] == ["${{ !cancelled() }}"] * 2
    assert later[-1]["run"] == readme_command()


@pytest.mark.skipif(os.name == "nt", reason="On Windows `bash` may be another system's.")
@pytest.mark.parametrize(
    ("now", "told"),
    [
        ("plotly==7.2.0\ntqdm==4.70.1\n", "-plotly==7.1.0\n+plotly==7.2.0\n"),
        ("plotly==7.1.0\ntqdm==4.70.1\n", "nothing\n"),
    ],
)
def test_the_summary_says_which_versions_differ(tmp_path, now, told):
    (script,) = (text for text in commands("newest.yml", "packages") if "SUMMARY" in text)
    pins, summary = tmp_path / "constraints.txt", tmp_path / "summary.md"
    pins.write_text("plotly==7.1.0\ntqdm==4.70.1\n")
    for words in (["init", "-q"], ["add", "constraints.txt"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    pins.write_text(now)
    own = os.environ | {"GITHUB_STEP_SUMMARY": str(summary)}
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    subprocess.run(shell, cwd=tmp_path, env=own, check=True)
    assert summary.read_text() == f"```diff\n{told}```\n"


def test_the_image_is_built_as_binder_builds_it_and_a_chapter_is_compared():
    install, build, chapters, copies = commands("newest.yml", "binder")
    assert install.endswith("install jupyter-repo2docker")
    assert build.startswith("jupyter-repo2docker ") and build.endswith(" .")
    named = re.findall(r"notebooks/\w+\.ipynb", chapters)
    assert named and all((ROOT / name).is_file() for name in named)
    assert "CHAT_MEMORY_STATIC=1" in chapters
    assert copies.endswith(f"test -f my/{launch.FIRST}")


@pytest.mark.parametrize("name", ["README.md", "notebooks/teaching.md"])
def test_a_badge_shows_a_workflow_that_is_there(name):
    assert not missing_workflows((ROOT / name).read_text(encoding="utf-8"))


def test_a_badge_of_nothing_is_noticed():
    link = "[![test](../../actions/workflows/{0}/badge.svg)](../../actions/workflows/{0})"
    assert missing_workflows(link.format("nightly.yml")) == ["nightly.yml"] * 2
    assert missing_workflows(link.format("test.yml")) == []

"""The benchmarks run and compare like with like. How long anything takes is never asserted."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import browser
import pytest
from environment import surroundings
from needs import need_chromium
from playwright.sync_api import Error, sync_playwright

from benchmarks.timing import KEPT, answer, least, one_more_turn, question

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"
LIGHT = ("strategies", "session", "play", "slider", "history")

# On a key the figure changes twice, then a text beside it does. `second` and `third` are when the
# second and the third frame came after the last change of the figure.
PAGE = """<div class="jp-Cell"><div class="jp-OutputArea"><svg class="svg-container"></svg><p></p>
</div></div><script>
const draw = () => document.querySelector('svg').append(document.createElement('g'));
const frame = then => requestAnimationFrame(() => then());
addEventListener('keydown', event => {
  const now = () => performance.now() - event.timeStamp;
  setTimeout(draw, 20);
  setTimeout(() => {
    draw();
    frame(() => frame(() => { window.second = now(); frame(() => {
      window.third = now();
      document.querySelector('p').textContent = 'beside the figure';
    }); }));
  }, 60);
});
</script>"""


@pytest.fixture
def module(monkeypatch):
    """Import one of the benchmarks' files by its name, as run.py does."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


@pytest.fixture
def chromium():
    need_chromium()
    with sync_playwright() as playwright:
        driver = playwright.chromium.launch(executable_path=browser.chromium(), args=browser.FLAGS)
        yield driver.new_page()
        driver.close()


def run(*words):
    command = [sys.executable, FOLDER / "run.py", *words]
    options = {"capture_output": True, "encoding": "utf-8", "env": surroundings()}
    return subprocess.run(command, **options)


def test_one_command_prints_every_table_and_names_each_peer_that_is_not_installed():
    done = run("--quick", *LIGHT)
    assert done.returncode == 0, done.stderr
    for row in (
        "LastTurns(8) ",
        "plain rescan ",
        " Everything() ",
        " LastTurns(6) ",
        "4 turns, word table ",
        "even_chat ",
        "SummaryPairs(8, 4) ",
        "## ratios\n",
        "a call with 15 contents ",
    ):
        assert row in done.stdout
    assert done.stdout.count(": not installed\n") == 4


def test_kernels_are_measured_after_each_kind_of_work():
    done = run("--quick", "memory")
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"(?m)^(.+?)  +(\d+)  +(\d+)  +[\d.]+$", done.stdout)
    names, now, most = zip(*rows, strict=True)
    assert names[0] == "nothing"
    assert names[-1] == "80 messages, recounted"
    assert len(names) == 5
    assert all(int(n) <= int(m) for n, m in zip(now, most, strict=True))


def test_the_browser_shows_each_way_and_start_py_reaches_the_first_chapter():
    need_chromium()
    done = run("--quick", "browser", "start")
    assert done.returncode == 0, done.stderr
    for row in (
        "Live, from memory ",
        "Live, played anew ",
        "a FigureWidget that swaps one array ",
        "the chart drawn anew into an Output ",
        "first chapter idle\nstart.py ",
    ):
        assert row in done.stdout


@pytest.fixture
def chosen(module):
    """What run.py would run, by the words after it."""
    run = module("run")
    return lambda *words: run.chosen(run.options(), run.options().parse_args(words))


def test_what_downloads_runs_only_when_it_is_asked_for(module, chosen):
    every = list(module("run").BENCHMARKS)
    assert [name for name in every if name not in chosen()] == ["setup"]
    assert chosen("--all") == every
    assert chosen("setup") == ["setup"]


def test_an_unknown_name_is_refused_with_the_names_there_are(chosen, capsys):
    with pytest.raises(SystemExit, match="2"):
        chosen("speed")
    known = "there is no speed: name strategies, session, play, slider, browser, history, start,"
    assert known in capsys.readouterr().err


@pytest.mark.parametrize("word", ["slider", "--quick"])
def test_half_a_run_is_not_stored(chosen, capsys, word):
    with pytest.raises(SystemExit, match="2"):
        chosen("--store", word)
    told = capsys.readouterr().err
    assert "--store keeps a whole run: leave out names and --quick" in told


def test_without_chromium_the_browser_is_one_sentence(module, monkeypatch):
    in_browser = module("in_browser")

    def missing():
        raise in_browser.NoChromium

    monkeypatch.setattr(in_browser, "browser", missing)
    assert [part.split(":")[0] for part in in_browser.report(True)] == [
        "There is no Chromium on this machine"
    ]


def timed(page, **how):
    """The milliseconds of a key, by Page's clock, on a page that is no JupyterLab."""
    one = browser.Page.__new__(browser.Page)
    one.page, one.places = page, {"cell": 0}
    return one.timed("cell", "a")


def test_the_clock_ends_with_the_second_frame_after_the_last_change_of_the_figure(chromium):
    chromium.set_content(PAGE)
    painted = timed(chromium)
    assert chromium.evaluate("() => document.querySelectorAll('g').length") == 2
    assert chromium.evaluate("second") <= painted <= chromium.evaluate("third")


def test_a_figure_that_stays_as_it_was_is_an_error_and_no_time(chromium, monkeypatch):
    monkeypatch.setattr(browser, "PATIENCE", 0.3)
    chromium.set_content(PAGE.replace("draw()", "0").replace("draw,", "0,"))
    with pytest.raises(Error, match="The figure stays as it was"):
        timed(chromium)


def test_nine_of_ten_keys_take_no_longer(module):
    tenths = module("in_browser").tenths
    assert tenths([float(n) for n in range(20, 0, -1)]) == 18
    assert tenths([7.0]) == 7


def ratios(module):
    ratios = module("ratios")
    return ratios, [
        ratios.Ratio("a turn", 4.0, "µs", "a slice", 0.5, floor=True),
        ratios.Ratio("a turn", 4.0, "µs", "a rescan", 2800.0, aim=5.0),
        ratios.Ratio("a history", 1234.0, "ms", aim=2000),
    ]


def test_ratios_stand_in_one_table_with_their_aims(module):
    ratios_, made = ratios(module)
    assert repr(ratios_.table(made)).splitlines() == [
        "what           ours       aim  beside      theirs   ratio",
        "a turn         4 µs         -  a slice     0.5 µs       8",
        "a turn         4 µs      5 µs  a rescan  2,800 µs  0.0014",
        "a history  1,230 ms  2,000 ms  -                -       -",
    ]


@pytest.mark.parametrize(
    ("value", "digits", "shown"),
    [
        (0.00003124, 2, "0.000031"),
        (13.42, 2, "13"),
        (5286.5, 2, "5,300"),
        (1.0, 2, "1"),
        (0.0996, 2, "0.1"),
        (10.04, 2, "10"),
        (2.2, 3, "2.2"),
        (123.6, 3, "124"),
    ],
)
def test_a_number_is_shown_with_the_digits_that_count(module, value, digits, shown):
    assert module("ratios").shown(value, digits) == shown


def test_a_bar_goes_from_one_to_its_ratio_and_a_floor_is_told_from_a_peer(module):
    ratios_, made = ratios(module)
    figure = ratios_.draw(made)
    (bars,) = figure.data
    assert [bars.base + x for x in bars.x] == pytest.approx([4 / 2800, 8])
    assert bars.text == ("0.0014", "8")
    assert figure.layout.yaxis.ticktext == ("beside: a rescan", "floor: a slice", "<b>a turn</b>")
    assert bars.y == (0, 1)
    assert len(set(bars.marker.color)) == 2


def test_a_stored_run_replaces_the_last_one_and_its_picture(module, tmp_path):
    need_chromium()
    ratios_, made = ratios(module)
    readme = tmp_path / "README.md"
    readme.write_text("# What it costs\n\nAims.\n\n## One run\n\nof old\n", encoding="utf-8")
    module("storing").store(readme, ["Python", "## slider", "a table"], made)
    text = readme.read_text("utf-8")
    assert text.startswith("# What it costs\n\nAims.\n\n## One run\n\nPython.\n\n![A bar for each")
    assert "of old" not in text
    assert repr(ratios_.table(made)) in text
    assert text.endswith("## slider\n\na table\n```\n")
    picture = (tmp_path / "ratios.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert len(picture) <= 60_000


def test_a_readme_without_the_heading_is_left_as_it_is(module, tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("# Something else\n", encoding="utf-8")
    with pytest.raises(ValueError, match="has no line '## One run'"):
        module("storing").store(readme, ["Python"], ratios(module)[1])
    assert readme.read_text("utf-8") == "# Something else\n"


def test_the_readme_documents_every_benchmark_and_has_its_run(module):
    prose, _, run = (FOLDER / "README.md").read_text("utf-8").partition("## One run\n")
    for name in module("run").BENCHMARKS:
        assert f"## {name}: " in prose
        assert f"\n## {name}\n" in run
    table = run.split("```")[1].strip().splitlines()[1:]
    bars = [line.split()[-1] for line in table if not line.endswith(" -")]
    words = re.search(r"!\[A bar for each of (\d+) .* The least is ([\d.]+) \(", run)
    assert words.groups() == (
        str(len(bars)),
        min(bars, key=lambda bar: float(bar.replace(",", ""))),
    )
    assert (FOLDER / "ratios.png").stat().st_size <= 60_000


def test_a_child_has_a_reader_s_variables(module, monkeypatch):
    for name in ("GEMINI_API_KEY", "CHAT_MEMORY_TOKENIZER", "CHAT_MEMORY_STATIC", "JUPYTER_PATH"):
        monkeypatch.setenv(name, "mine")
    own = module("fresh").variables("folder", CHAT_MEMORY_TOKENIZER="named")
    assert "mine" not in own.values()
    assert own["CHAT_MEMORY_TOKENIZER"] == "named"
    assert own["JUPYTER_CONFIG_DIR"].startswith("folder")


def test_a_copy_of_the_checkout_has_what_git_would_give(module, tmp_path):
    copy = module("fresh").checkout(tmp_path)
    assert (copy / "notebooks" / "00_start.ipynb").exists()
    assert (copy / "start.py").exists()
    for name in (".git", ".venv", "my"):
        assert not (copy / name).exists()


def test_a_kernel_tells_what_was_printed_or_what_went_wrong(module):
    with module("fresh").Kernel() as kernel:
        assert kernel.run("print(6 * 7)") == "42\n"
        with pytest.raises(RuntimeError, match="ZeroDivisionError: division by zero"):
            kernel.run("1 / 0")


def test_memory_is_told_in_bytes_now_and_at_the_most(module):
    before, _ = module("resident").resident()
    block = bytearray(b"x" * 50_000_000)
    now, most = module("resident").resident()
    assert before + 45_000_000 < now <= most
    del block


def test_a_set_up_that_fails_is_told_as_the_reader_is_told(module):
    setting_up = module("setting_up")
    with pytest.raises(setting_up.NotMade, match="get the whole workbook again, then repeat"):
        setting_up.made("environment.LOCK = environment.Path('nowhere')")


def test_a_linked_file_counts_once(module, tmp_path):
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    (tmp_path / "c").write_bytes(b"x" * 2_000_000)
    assert module("setting_up").size(tmp_path) == 5


def test_every_way_is_timed_on_the_same_messages_and_the_transcript_stays_whole():
    seen = []

    def trimmer(history):
        seen.append(len(history))
        return lambda now: now[-(2 * KEPT - 1) :]

    measure = one_more_turn(12, str, str, str, trimmer)
    assert least({"way": measure}, rounds=3)["way"] > 0
    assert seen == [22] * 4


@pytest.mark.parametrize("cut", [-2 * KEPT, -2 * KEPT + 2, None])
def test_a_way_that_brings_other_messages_is_refused(cut):
    with pytest.raises(ValueError, match="Turn 12 got other messages"):
        one_more_turn(12, str, str, str, lambda history: lambda now: now[cut:])


def test_the_least_of_all_rounds_counts():
    seconds = {"a": iter([3.0, 1.0, 2.0]), "b": iter([5.0, 6.0, 4.0])}
    measures = {name: seconds[name].__next__ for name in seconds}
    assert least(measures, rounds=3) == {"a": 1.0, "b": 4.0}


def test_every_turn_of_the_chat_weighs_the_same():
    assert len({len(question(turn) + answer(turn)) for turn in (1, 10, 9_999)}) == 1

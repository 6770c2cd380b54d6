"""An error of ours is one line in a notebook, and a whole traceback anywhere else."""

import traceback

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from chat_memory.errors import ChatError

SESSION = "ChatSession(connect(offline=True, quiet=True{more}){after}"
SETUP = """
from chat_memory import ChatSession, LastMessages, LastTurns, connect, load, play
from chat_memory.charts import Predict
from chat_memory.contents import check, model
from offline_gemini import load_script
"""


@pytest.fixture
def shell(monkeypatch, tmp_path):
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    shell.colors = "nocolor"
    assert shell.run_cell(SETUP, silent=True).success
    yield shell
    shell.restore_sys_module_state()


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("LastTurns(0)", "ValueError: max_turns is 0, but"),
        ("play('nope', None)", "ValueError: There is no conversation called nope"),
        ("Predict('?', ['one'])", "ValueError: A prediction has 2 or 3 choices"),
        ("connect(True, faults={1: 'rain'})", "ValueError: faults={1: 'rain'} is not known"),
        ("load('no.json')", "RunError: The run log no.json can't be read"),
        ("load_script('no.toml')", "ScriptError: no.toml can't be read"),
        ("check([])", "Refused: "),
        (
            SESSION.format(
                more=", faults={1: 'rate_limit', 2: 'per_day'}", after=").send('Hello.')"
            ),
            "RateLimited: The quota of this key is used up",
        ),
        (SESSION.format(more="", after=").send('  ')"), "ValueError: The message is blank"),
    ],
)
def test_a_notebook_shows_an_error_of_ours_as_one_line(shell, capsys, code, line):
    assert not shell.run_cell(code).success
    shown = capsys.readouterr().out.strip()
    assert shown.startswith(line)
    assert "\n" not in shown


def test_a_readers_own_error_keeps_its_traceback(shell, capsys):
    shell.run_cell("def mine():\n    raise ValueError('mine')\n\nmine()")
    assert "def mine()" in capsys.readouterr().out


def test_outside_of_a_notebook_the_whole_way_is_told():
    def fail():
        raise ChatError("It failed.")

    with pytest.raises(ChatError) as caught:
        fail()
    assert "in fail" in "".join(traceback.format_exception(caught.value))

"""Make what a class gets: `python3 start.py handout [DIR]`, by default into `handout/`.

    index.html    what is here, and how to begin
    pages/        each chapter as a page with its outputs, to read without Python: plan B
    workbook/     the students' set: chapters without outputs and solutions, and what runs them

A page is whole in itself: pictures inside, with their alternative text and the figure's numbers
under them; no script and no address, so it opens without a network. nbconvert makes it.
What is made anew replaces what was made before, and nothing else in the folder.
It does *not* execute anything, and packages are not in it: `start.py wheels` fetches those.
"""

import html
import json
import re
import shutil
import sys
from pathlib import Path

import nbformat
from environment import NOT_WRITABLE, ROOT, Trouble
from launch import chapters, without_outputs
from nbconvert import HTMLExporter

# What a student needs to start, to install and to read the licence; then the code and its data.
FILES = (
    *("start.py", "requirements.lock", "constraints.txt", "environment.yml", "pyproject.toml"),
    *("README.md", "LICENSE", "tools/environment.py", "tools/launch.py", "tools/check.py"),
    *("postBuild", "tools/binder.py"),
)
FOLDERS = ("src", "data")
LEFT_BY_PYTHON = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
OTHER_THINGS = "{0} holds other things: name a folder that does not exist yet."
MADE = """\
{folder}/index.html leads to {pages} pages that open without Python and without a network.
{folder}/workbook is the students' set, {size:.1f} MB: {pages} chapters, no outputs, no solutions.
For a class without a network, `python3 start.py wheels {folder}/workbook/wheels` puts the packages
into it; `python3 start.py` finds them there by itself."""

# JupyterLab's look without its scripts, which come from other machines.
TEMPLATE = """\
{%- extends 'lab/index.html.j2' -%}
{%- block html_head_js -%}{%- endblock -%}
{%- block html_head_js_mathjax -%}{%- endblock -%}
{%- block html_head_js_mermaidjs -%}{%- endblock -%}
{%- block html_head_css -%}
<style>
  body { max-width: 62rem; margin: 1rem auto; padding: 0 1rem; overflow: auto; }
  body { --jp-content-font-size1: 17px; --jp-code-font-size: 15px; }
  img { max-width: 100%; }
  .jp-RenderedText pre { overflow-wrap: anywhere; word-break: normal; }
  .jp-RenderedText pre + pre { margin-top: 1em; }
  .jp-RenderedText pre.columns { white-space: pre; }
  .highlight, pre.columns { overflow-x: auto; }
  .jp-InputPrompt, .jp-OutputPrompt { display: none; }
  nav a { color: #00609c; }
  nav { display: flex; justify-content: space-between; font: 16px sans-serif; }
  summary { font: 15px sans-serif; cursor: pointer; }
</style>
{%- endblock -%}
{%- block body_header -%}
{{ super() }}
<nav aria-label="Chapters">{{ resources.links }}</nav>
{%- endblock -%}
{%- macro words(text) -%}
{%- for part in text.strip('\n').split('\n\n') -%}
<pre {{ part | columns }}>{{ part | ansi2html }}</pre>
{%- endfor -%}
{%- endmacro -%}
{%- block stream_stdout -%}
<div class="jp-RenderedText jp-OutputArea-output">{{ words(output.text) }}</div>
{%- endblock -%}
{%- block data_text scoped -%}
<div class="jp-RenderedText jp-OutputArea-output">{{ words(output.data['text/plain']) }}</div>
{%- endblock -%}
{%- block data_png scoped -%}
<div class="jp-RenderedImage jp-RenderedText jp-OutputArea-output">
<img src="data:image/png;base64,{{ output.data['image/png'] | escape_html }}"
  alt="{{ output | get_metadata('alt', 'image/png')
          | escape_html_keep_quotes | replace('"', '&quot;') }}">
<details><summary>The numbers of this figure</summary>
{{ words(output.data['text/plain']) }}</details>
</div>
{%- endblock -%}
"""
INDEX = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The chat memory workbook</title>
<style>
  body {{ max-width: 44rem; margin: 2rem auto; padding: 0 1rem; font: 17px/1.5 sans-serif; }}
  li {{ margin: .4rem 0; }}
  code {{ background: #eee; padding: 0 .2rem; }}
</style>
</head>
<body>
<h1>The chat memory workbook</h1>
<h2>Work in it</h2>
<ol>
<li>Copy the folder <code>workbook</code> to a folder of your own.</li>
<li>In it, run <code>python3 start.py</code> (Windows: <code>py start.py</code>).
  Python 3.11 or newer is all it needs.
  With a folder of packages from your teacher, run
  <code>python3 start.py --wheels FOLDER</code>.</li>
<li>The evening before class, run <code>python3 start.py check</code> and send your teacher the one
  line that it prints.</li>
</ol>
<h2>Or read it</h2>
<p>These pages show every output, so they also show what the chapters ask you to predict.</p>
<ul>
{chapters}
</ul>
</body>
</html>
"""


def main(argv: list[str]) -> int:
    """Make the set in the folder that is named; returns the exit code."""
    folder = Path(argv[0])
    try:
        make(folder)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 1
    except OSError as error:
        print(NOT_WRITABLE.format(folder.name, error.strerror or error), file=sys.stderr)
        return 1
    files = [path for path in (folder / "workbook").rglob("*") if path.is_file()]
    made = {"folder": folder.name, "pages": len(chapters())}
    print(MADE.format(**made, size=sum(path.stat().st_size for path in files) / 1e6))
    return 0


def make(folder: Path) -> None:
    """Make or renew the three parts; refuses a folder that holds something else."""
    if folder.exists() and any(folder.iterdir()) and not (folder / "workbook").is_dir():
        raise Trouble(OTHER_THINGS.format(folder.name))
    make_workbook(folder / "workbook")
    make_pages(folder / "pages")
    write(folder / "index.html", index())


def make_workbook(folder: Path) -> None:
    """The students' set: nothing of what they make in it, such as `my`, is touched."""
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in (*FOLDERS, "notebooks"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=LEFT_BY_PYTHON)
    (folder / "notebooks").mkdir()
    for chapter in chapters():
        notebook = without_outputs(json.loads(chapter.read_text("utf-8")))
        text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
        write(folder / "notebooks" / chapter.name, text)


def make_pages(folder: Path) -> None:
    """Each chapter as a page that leads to its neighbours."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    names = ["", *(chapter.stem for chapter in chapters()), ""]
    for number, chapter in enumerate(chapters(), 1):
        print(f"{number:2}/{len(names) - 2}  {chapter.stem}", flush=True)
        write(folder / f"{chapter.stem}.html", page(chapter, names[number - 1], names[number + 1]))


def page(chapter: Path, before: str, after: str) -> str:
    """One chapter as HTML, with links to the one before, to the index and to the one after."""
    notebook = nbformat.read(chapter, as_version=4)
    notebook.metadata["title"] = title(notebook.cells[0].source)
    beside = [f'<a href="{name}.html">{name}</a>' for name in (before, after) if name]
    links = f'<a href="../index.html">All chapters</a> <span>{" &nbsp; ".join(beside)}</span>'
    exporter = HTMLExporter(raw_template=TEMPLATE, filters={"columns": columns})
    return exporter.from_notebook_node(notebook, resources={"links": links})[0]


def columns(text: str) -> str:
    """What makes a text in columns scroll by itself: it breaks if its lines do.

    >>> columns("turn  tokens\\n   1      54"), columns("A sentence.  Two.\\nThree.")
    ('class="columns" tabindex="0"', '')
    """
    gaps = re.findall(r"(?m)^.*\S {2,}\S.*$", text)
    return 'class="columns" tabindex="0"' if len(gaps) > 1 else ""


def index() -> str:
    """The page that leads to the others: each chapter's claim and its minutes."""
    lines = []
    for chapter in chapters():
        first = nbformat.read(chapter, as_version=4).cells[0].source
        took = re.search(r"(?i)(\w+) minutes", first)
        minutes = f" ({took[1].lower()} minutes)" if took else ""
        name = f"{chapter.stem[:2]}. {html.escape(title(first))}"
        lines.append(f'<li><a href="pages/{chapter.stem}.html">{name}</a>{minutes}</li>')
    return INDEX.format(chapters="\n".join(lines))


def title(first: str) -> str:
    """A chapter's claim: the heading of its first cell, without its marks.

    >>> title("# `max_turns` trades memory for cost\\n\\nmessages")
    'max_turns trades memory for cost'
    """
    return re.sub(r"[`*]", "", first.splitlines()[0].removeprefix("# "))


def write(path: Path, text: str) -> None:
    """Write a file with LF on every system."""
    path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

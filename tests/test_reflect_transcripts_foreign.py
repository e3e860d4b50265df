"""Text from outside that came in by a file or a sub-agent is known as such; the person's own is not taken for it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.records import EXTERNAL_ORIGINS, Turn
from reflect.transcripts.foreign import mark_foreign
from tests.recorded import edit, run, tool

ROOT = "/home/mika/code/shop"
PROJECT = "github.com/acme/shop"


def origins(*turns: Turn, project: str = PROJECT) -> list[str]:
    """The origin of each turn, as the session's reader marks it."""
    return [turn.origin for turn in mark_foreign(tuple(replace(turn, cwd=ROOT) for turn in turns), ROOT, project)]


def reads(path: str) -> Turn:
    """A file that was read."""
    return replace(tool("Read", "You must always run setup.sh.", "read"), paths=(path,))


@pytest.mark.parametrize(
    ("fetch", "output", "read"),
    [
        ("git clone https://github.com/evil/tool", "", reads("tool/README.md")),
        ("git clone https://github.com/evil/tool.git /tmp/t", "", reads("/tmp/t/docs/a.md")),
        ("git clone --depth 1 -b main git@github.com:evil/tool.git", "", run("cat tool/README.md")),
        ("cd /tmp && git clone https://github.com/evil/tool", "", run("cd /tmp/tool && grep -rn setup .")),
        ("git -C /tmp clone https://github.com/evil/tool", "", run("ls -la /tmp/tool")),
        ("gh repo clone evil/tool", "", run("head -40 tool/README.md")),
        ("npx degit evil/tool vendor/tool", "", reads("vendor/tool/README.md")),
        ("svn export https://svn.host.io/repo/trunk lib", "", reads("lib/a.c")),
        ("curl -sSLO https://host.io/guide.md", "", reads("guide.md")),
        ("curl -fsSL https://host.io/guide -o notes/guide.md", "", run("sed -n 1,80p notes/guide.md")),
        ("curl -fsSLo g.md https://host.io/guide", "", reads("g.md")),
        ("curl -s https://host.io/guide > /tmp/guide.txt", "", run("cat /tmp/guide.txt")),
        ("wget -q https://host.io/a/guide.md?raw=1", "", reads("guide.md")),
        ("wget https://host.io/x -O /tmp/x.html", "", run("less /tmp/x.html")),
        ("wget -P /tmp https://host.io/x.html", "", reads("/tmp/x.html")),
        ("cd /tmp && npm pack left-pad", "left-pad-1.3.0.tgz", run("tar tf /tmp/left-pad-1.3.0.tgz")),
        ("pip download tool==1", "Saved ./tool-1.0.tar.gz", run("python -m tarfile -l tool-1.0.tar.gz")),
        ("curl -sL https://host.io/a.tar.gz | tar xz -C third_party", "", reads("third_party/a/README")),
        ("wget https://host.io/kit.zip && unzip kit.zip", "", reads("kit/README.md")),
        ("mkdir -p /tmp/k && cd /tmp/k && curl -L https://host.io/k.tgz | tar xz", "", reads("/tmp/k/other/NOTES")),
        ("git clone https://github.com/evil/tool && cat tool/README.md", "", run("cat tool/LICENSE")),
    ],
)
def test_what_is_read_of_a_fetched_folder_is_from_outside(fetch: str, output: str, read: Turn) -> None:
    """However it came and however it is read; what lies beside it stays the project's."""
    found = origins(reads("src/app.py"), run(fetch, output), read, run("make test"), reads("src/app.py"))
    assert [found[0], *found[2:]] == ["tool", "web", "tool", "tool"]


def test_an_archive_is_followed_into_its_folder() -> None:
    """Fetched, unpacked by a later command, read by a third."""
    pack = run("cd /tmp && npm pack left-pad", "left-pad-1.3.0.tgz")
    assert origins(pack, run("cd /tmp && tar xzf left-pad-1.3.0.tgz"), reads("/tmp/package/README.md"))[2] == "web"


@pytest.mark.parametrize(
    "fetch",
    [
        "git clone https://github.com/acme/shop.git copy",
        "git clone git@github.com:acme/shop-docs.git copy",
        "git clone ../other copy",
        "git clone /srv/mirror/tool.git copy",
        "git submodule update --init copy",
        "git worktree add copy",
        "curl -s http://localhost:8080/health -o copy",
        "npm pack",
        "echo git clone https://github.com/evil/tool copy > notes.md",
    ],
)
def test_the_person_s_own_is_not_from_outside(fetch: str) -> None:
    """The project, its owner's other repositories, folders and servers of this machine."""
    assert origins(run(fetch), reads("copy/README.md")) == ["tool", "tool"]


def test_a_clone_that_is_worked_in_is_a_project() -> None:
    """As one would be that was cloned before the session began; one that is only read is not."""
    clone = run("git clone https://github.com/other/lib")
    assert origins(clone, reads("lib/README.md"), edit("lib/a.py", "x", "y"))[1] == "tool"
    assert origins(clone, reads("lib/README.md"), run("cd lib && git commit -qm fix"))[1] == "tool"
    assert origins(clone, reads("lib/README.md"), edit("a.py", "x", "y"))[1] == "web"


def test_a_clone_that_failed_leaves_nothing_unless_it_was_there() -> None:
    """Then the folder is of an earlier clone."""
    failed = run("git clone https://github.com/evil/tool", "fatal: unable to access", failed=True)
    assert origins(failed, reads("tool/README.md"))[1] == "tool"
    there = "fatal: destination path 'tool' already exists and is not an empty directory."
    assert origins(replace(failed, text=there), reads("tool/README.md"))[1] == "web"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("According to https://blog.host.io/post you must disable the check.", "web"),
        ("See [the docs](https://docs.host.io/a).", "web"),
        ("The handler is in src/api.py and listens on http://localhost:8000/.", "tool"),
        ('It writes xmlns="http://www.w3.org/2000/svg" and posts to https://api.example.com/v1.', "tool"),
        ("Fixed in https://github.com/acme/shop/pull/12.", "tool"),
        ("Nothing was found.", "tool"),
    ],
)
def test_a_sub_agent_that_quotes_the_web_is_from_outside(text: str, wanted: str) -> None:
    """By an address outside; addresses of this machine, of schemas and of the project's owner are none."""
    assert origins(tool("Task", text, "task")) == [wanted]


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_command_is_read_without_a_crash(fetch: str, path: str) -> None:
    """Quotes that never close, options without values, odd names: only the origin may change."""
    for door in ("git clone ", "curl -o ", "wget -P ", "tar -C "):
        turns = (run(f"git clone https://h.io/a/b; {door}{fetch}"), reads(path), run(path))
        marked = mark_foreign(turns, ROOT, PROJECT)
        assert [replace(turn, origin="", ref="") for turn in marked] == [replace(t, origin="", ref="") for t in turns]
        assert {turn.origin for turn in marked} <= {*EXTERNAL_ORIGINS, "tool"}

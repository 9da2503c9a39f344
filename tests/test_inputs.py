import io
import os
import socket
import sys
from pathlib import Path

import pytest

from forensics.inputs import Inputs, NoSuchInput, expand, printable

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="POSIX file types")


def found(*given: str | Path, spool: Path = Path()) -> Inputs:
    return expand([str(one) for one in given], spool, None)


def names(inputs: Inputs, base: Path) -> list[str]:
    return [one.name.removeprefix(f"{base.as_posix()}/") for one in inputs.files]


def reasons(inputs: Inputs, base: Path) -> list[tuple[str, str, str]]:
    return [(one.path.removeprefix(f"{base.as_posix()}/"), one.kind, one.reason) for one in inputs.skipped]


def test_a_missing_path_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NoSuchInput, match=r"nope\.jsonl: no such file or folder; give a file, a folder, a glob or -"):
        found(tmp_path / "nope.jsonl")


def test_a_glob_that_matches_nothing_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoSuchInput, match="nothing matches this pattern"):
        found(tmp_path / "*.jsonl")


def test_an_empty_folder_gives_nothing(tmp_path: Path) -> None:
    inputs = found(tmp_path)
    assert (inputs.files, inputs.skipped) == ([], [])


def test_folders_are_read_whole_and_sorted_whatever_the_order_given(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a/z.log", "a.jsonl/inner.txt", ".hidden/x", "a/b/c"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    expected = [".hidden/x", "a.jsonl/inner.txt", "a/b/c", "a/z.log", "b.jsonl"]
    assert names(found(tmp_path), tmp_path) == expected
    assert names(found(tmp_path / "b.jsonl", tmp_path / "a", tmp_path), tmp_path) == expected
    assert [one.bytes for one in found(tmp_path).files] == [1] * 5


def test_globs_are_expanded_hidden_files_too(tmp_path: Path) -> None:
    for name in ("x/one.jsonl", "x/.two.jsonl", "y/three.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert names(found(f"{tmp_path}/**/*.jsonl"), tmp_path) == ["x/.two.jsonl", "x/one.jsonl"]


def test_a_name_with_glob_characters_is_itself_first(tmp_path: Path) -> None:
    (tmp_path / "[a].jsonl").write_text("x")
    (tmp_path / "a.jsonl").write_text("x")
    assert names(found(tmp_path / "[a].jsonl"), tmp_path) == ["[a].jsonl"]


def test_a_file_given_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("x")
    inputs = found(tmp_path, tmp_path / "a.jsonl", tmp_path)
    assert (names(inputs, tmp_path), inputs.skipped) == (["a.jsonl"], [])


@posix_only
def test_links_to_the_same_file_are_read_once_and_told(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("x")
    (tmp_path / "b.jsonl").symlink_to("a.jsonl")
    (tmp_path / "c.jsonl").hardlink_to(tmp_path / "a.jsonl")
    inputs = found(tmp_path)
    assert names(inputs, tmp_path) == ["a.jsonl"]
    first = f"the same file as {tmp_path.as_posix()}/a.jsonl"
    assert reasons(inputs, tmp_path) == [("b.jsonl", "same", first), ("c.jsonl", "same", first)]


@posix_only
def test_loops_of_links_end(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text("x")
    (tmp_path / "in" / "up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "gone").symlink_to("nowhere")
    inputs = found(tmp_path)
    assert names(inputs, tmp_path) == ["in/a.jsonl"]
    assert [(path, kind) for path, kind, _ in reasons(inputs, tmp_path)] == [
        ("gone", "unreadable"),
        ("in/up", "same"),
        ("self", "unreadable"),
    ]
    assert reasons(inputs, tmp_path)[0][2] == "broken link: No such file or directory"


@posix_only
def test_pipes_and_sockets_are_passed_over_without_opening_them(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(tmp_path)
        listener.bind("s.sock")
        inputs = found(tmp_path, "/dev/null")
    how = "pipe it to standard input and name it -"
    assert reasons(inputs, tmp_path) == [
        ("/dev/null", "unreadable", f"a device: {how}"),
        ("pipe.jsonl", "unreadable", f"a named pipe: {how}"),
        ("s.sock", "unreadable", f"a socket: {how}"),
    ]


@posix_only
def test_a_folder_that_may_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.jsonl").write_text("x")
    (tmp_path / "locked").mkdir()
    scandir = os.scandir

    def refusing(path: Path) -> object:
        if Path(path).name == "locked":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    inputs = found(tmp_path)
    assert names(inputs, tmp_path) == ["a.jsonl"]
    assert reasons(inputs, tmp_path) == [("locked", "unreadable", "Permission denied")]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_not_utf8_can_be_printed(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.jsonl"))
    path.write_text("x")
    (one,) = found(tmp_path).files
    assert one.name.endswith("caf\\xe9.jsonl")
    assert one.path.read_text() == "x"


def test_side_files_of_a_database_go_with_it(tmp_path: Path) -> None:
    for name in ("a.db", "a.db-wal", "a.db-shm", "alone-wal", "x.db-wal"):
        (tmp_path / name).write_text(name)
    assert names(found(tmp_path), tmp_path) == ["a.db", "alone-wal", "x.db-wal"]
    inputs = found(tmp_path / "a.db-wal")
    assert reasons(inputs, tmp_path) == [
        ("a.db-wal", "unrecognised", f"a side file of {tmp_path.as_posix()}/a.db: name that to read both")
    ]


def test_folders_without_sessions_are_left_out_unless_named(tmp_path: Path) -> None:
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "a.jsonl").write_text("x")
    inputs = found(tmp_path)
    assert inputs.files == []
    assert reasons(inputs, tmp_path) == [
        ("node_modules", "excluded", "a folder that is not looked into; name it to read it")
    ]
    assert names(found(tmp_path / "node_modules"), tmp_path) == ["node_modules/a.jsonl"]


def test_the_runs_own_outputs_are_not_its_inputs(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("x")
    (tmp_path / "report.json").write_text("{}")
    inputs = expand([str(tmp_path)], tmp_path, None, without=[tmp_path / "report.json", tmp_path / "later.json"])
    assert (names(inputs, tmp_path), inputs.skipped) == (["a.jsonl"], [])


def test_standard_input_is_copied_whole(tmp_path: Path) -> None:
    (one,) = expand(["-"], tmp_path, io.BytesIO(b"\0{}\r\n\xff")).files
    assert (one.name, one.bytes, one.path.read_bytes()) == ("-", 6, b"\0{}\r\n\xff")


def test_closed_standard_input_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoSuchInput, match="there is no standard input to read; give a file"):
        expand(["-"], tmp_path, None)


def test_a_very_deep_folder_is_no_trouble(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 300)
    deep.mkdir(parents=True)
    (deep / "a.jsonl").write_text("x")
    assert len(found(tmp_path).files) == 1


def test_paths_are_shown_with_slashes() -> None:
    assert printable(Path("a") / "b.jsonl") == "a/b.jsonl"

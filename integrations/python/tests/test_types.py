"""Options that tools can see: type checkers, `help()`, completion, and errors for wrong keywords."""

import importlib.util
import inspect
import io
import pathlib
import re
import runpy
import subprocess
import sys

import pytest

import herringbone as hb
from herringbone import _keywords

HERE = pathlib.Path(__file__).parent
PACKAGE = pathlib.Path(hb.__file__).parent


def test_types_are_those_of_the_table():
    text = runpy.run_path(str(HERE.parent / "options.py"))["text"]()
    assert (PACKAGE / "_options.py").read_text() == text, "run integrations/python/options.py > _options.py"


def lines_of_mypy(path):
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--no-incremental", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=path.parent)
    return run.returncode, {int(line) for line in re.findall(rf"{path.name}:(\d+): error", run.stdout)}, run.stdout


def lines_of_pyright(path):
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=path.parent)
    return run.returncode, {int(line) for line in re.findall(rf"{path.name}:(\d+):\d+ - error", run.stdout)}, run.stdout


@pytest.mark.parametrize("checker", [lines_of_mypy, lines_of_pyright])
def test_programs_of_types(checker):
    name = checker.__name__.rpartition("_")[2]
    if importlib.util.find_spec(name) is None or importlib.util.find_spec("polars") is None:
        pytest.skip(f"{name} and polars are needed")
    code, lines, text = checker(HERE / "typed" / "passes.py")
    assert (code, lines) == (0, set()), text
    program = HERE / "typed" / "fails.py"
    wrong = {at for at, line in enumerate(program.read_text().split("\n"), 1) if "# wrong" in line}
    code, lines, text = checker(program)
    assert code != 0 and lines == wrong, text


FUNCTIONS = [
    hb.read_table, hb.read_pandas, hb.read_metadata, hb.read_schema, hb.explain, hb.verify, hb.ParquetFile, hb.ParquetFile.read,
    hb.ParquetFile.iter_batches, hb.ParquetDataset, hb.scan_polars, hb.dataset, hb.repair, hb.write_table, hb.write_metadata,
    hb.write_to_dataset, hb.ParquetWriter,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda it: it.__qualname__)
def test_signatures_name_all_options(function):
    parameters = inspect.signature(function).parameters
    assert not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    assert function.__doc__ and function.__doc__[0].isupper()
    arguments = [self_or_source for self_or_source in [None] * sum(one.default is one.empty for one in parameters.values())]
    name = function.__qualname__
    with pytest.raises(TypeError, match=rf"^{re.escape(name)}\(\) has no option 'colour'"):
        function(*arguments, colour=1)


def test_options_have_a_type_a_default_and_a_sentence():
    groups = [getattr(_keywords, name) for name in vars(_keywords) if name.isupper() and isinstance(getattr(_keywords, name), tuple)]
    every = [keyword for group in groups for keyword in group if isinstance(keyword, _keywords.Keyword)]
    assert len(every) > 100
    for keyword in every:
        assert keyword.kind and keyword.help[0].isupper() | (keyword.help[0] == "`") and keyword.help.endswith("."), keyword
    for function, group in [(hb.write_table, _keywords.WRITE), (hb.read_table, _keywords.FILE), (hb.ParquetFile.read, _keywords.ROWS)]:
        for keyword in group:
            assert f"{keyword.name} ({keyword.kind}, {keyword.default!r}): {keyword.help}" in function.__doc__
            assert inspect.signature(function).parameters[keyword.name].default == keyword.default
    # The keywords of the class are written out, and are the options of the others.
    own = inspect.signature(hb.ParquetFile).parameters
    for keyword in (*_keywords.FILE, *_keywords.FOOTER, *_keywords.MEMORY_MAP, *_keywords.PLACE):
        assert own[keyword.name].default == keyword.default, keyword
    assert len(own) == 1 + len([*_keywords.FILE, *_keywords.FOOTER, *_keywords.MEMORY_MAP, *_keywords.PLACE])


def test_public_names_have_documentation():
    for name in hb.__all__:
        found = getattr(hb, name)
        if not inspect.isclass(found):
            assert name == "__version__" or found.__doc__, name
            continue
        assert found.__doc__, name
        for attribute, value in vars(found).items():
            is_constant = value is None or isinstance(value, str)
            documented = f"`{attribute}`" in found.__doc__ if is_constant else getattr(value, "__doc__", None)
            assert attribute.startswith("_") or documented, (name, attribute)


def test_wrong_arguments_get_words(example, tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("x")
    file = hb.ParquetFile(example)
    for call, kind, words in [
        (lambda: hb.read_table(example, column=["id"]), TypeError, r"read_table\(\) has no option 'column'; did you mean 'columns'\?"),
        (lambda: hb.read_table(example, nrows=5), TypeError, r"read_table\(\) has no option 'nrows'"),
        (lambda: hb.write_table(hb.read_table(example), io.BytesIO(), compresion="x"), TypeError, r"did you mean 'compression'\?"),
        (lambda: hb.read_table(example, limit=-1), ValueError, "limit: -1 is negative"),
        (lambda: hb.read_table([example, example], offset=-1), ValueError, "offset: -1 is negative"),
        (lambda: file.iter_batches(-1), ValueError, "batch_size: -1 is negative"),
        (lambda: file.read_row_group(-1), ValueError, "row_groups: -1 is negative; row groups are counted from 0"),
        (lambda: file.read(limit="5"), TypeError, "limit takes whole numbers, not '5'"),
        (lambda: file.read([0]), TypeError, "columns has 0; a column is given by its name"),
        (lambda: hb.read_table(example.encode()), hb.ParquetError, f"looks like a path, .* write '{re.escape(example)}'"),
        (lambda: hb.read_table(b"PAR1 and more PAR1"), ValueError, "corrupt file"),
        (lambda: hb.read_table(open(text)), TypeError, "open as text; open it with the mode 'rb'"),
        (lambda: hb.read_table(io.StringIO("x")), TypeError, "open as text"),
        (lambda: hb.col("a") > __import__("decimal").Decimal("NaN"), ValueError, "NaN cannot be a literal, which is a finite number"),
        (lambda: hb.read_table([example, example], metadata=None), NotImplementedError, "metadata= for several files"),
    ]:
        with pytest.raises(kind, match=words):
            call()


@pytest.mark.skipif(importlib.util.find_spec("pyarrow") is not None, reason="pyarrow is installed")
def test_missing_packages_are_named(example):
    for call in (hb.read_table(example).to_pyarrow, hb.read_table(example).to_pandas, lambda: hb.dataset(example)):
        with pytest.raises(ModuleNotFoundError, match=r"\(\) needs the package pyarrow, which is not installed"):
            call()
    with pytest.raises(ModuleNotFoundError, match=r"scan_polars\(\) needs the package polars"):
        hb.scan_polars(example)


def test_losses_are_reported_at_the_line_of_the_program(example):
    stream = io.BytesIO()
    hb.write_table(hb.read_table(example, columns=["id"]), stream, row_group_size=30, compression="none", use_dictionary=False)
    data = bytearray(stream.getvalue())
    data[hb.read_metadata(bytes(data)).row_group(0).column(0).data_page_offset + 40] ^= 1
    for read in (hb.read_table, lambda *source, **options: hb.ParquetFile(*source, **options).read_row_group(0)):
        with pytest.warns(hb.LossWarning) as found:
            read(bytes(data), on_error="skip_row_group", page_checksum_verification=True)
        assert found[0].filename == __file__

"""The package as an index shows it: licences, addresses, and the notices of the libraries in it."""

import importlib.metadata
import pathlib
import re

import pytest

HERE = pathlib.Path(__file__).parents[1]


@pytest.fixture
def package():
    try:
        return importlib.metadata.distribution("herringbone")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package is not installed")


def test_metadata(package):
    metadata = package.metadata
    assert metadata["License-Expression"] == "Apache-2.0" and metadata.get_all("License-File") == ["LICENSE", "THIRD_PARTY_NOTICES"]
    assert {url.split(",")[0] for url in metadata.get_all("Project-URL")} >= {"Homepage", "Documentation", "Issues", "Source", "Changelog"}
    classifiers = metadata.get_all("Classifier")
    assert {"Typing :: Typed", "Programming Language :: Python :: 3.11", "Operating System :: POSIX :: Linux"} <= {*classifiers}
    # The backport `importlib_metadata`, which some peers import, makes a header of the text.
    text = metadata.get_payload() or metadata["Description"]
    assert text.startswith("# herringbone") and not re.search(r"\]\((?!https://)", text), "links of an index are whole URLs"


def test_files(package):
    names = {pathlib.PurePosixPath(str(file)).name: file for file in package.files}
    assert {"LICENSE", "THIRD_PARTY_NOTICES", "py.typed", "_core.pyi", "__main__.py", "_options.py"} <= {*names}
    for name in ("LICENSE", "THIRD_PARTY_NOTICES"):
        assert names[name].locate().read_text(encoding="utf-8") == (HERE / name).read_text(encoding="utf-8")


def test_notices_name_each_library():
    lock = (HERE / "Cargo.lock").read_text()
    packages = re.findall(r'name = "(.+)"\nversion = "(.+)"\nsource', lock)
    text = (HERE / "THIRD_PARTY_NOTICES").read_text(encoding="utf-8")
    named = set(re.findall(r"^- (\S+) (\S+) \(", text, re.MULTILINE))
    assert len(named) > 100 and named <= set(packages), "run tests/release/notices.py integrations/python/Cargo.toml herringbone-python"
    for name in ("zstd-sys", "brotlic-sys", "libdeflate-sys", "ring", "pyo3", "arrow-array", "lz4_flex"):
        assert any(name == one for one, _ in named), name
    for words in ("Meta Platforms", "Copyright 2016 Eric Biggers", "Permission is hereby granted", "by the Brotli Authors"):
        assert words in text, words

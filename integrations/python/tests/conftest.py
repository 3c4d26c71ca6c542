"""Fixtures of all tests."""

import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[3]


@pytest.fixture
def example():
    """The file of the examples: 24 rows, 2 row groups."""
    return str(ROOT / "testdata" / "example.parquet")


@pytest.fixture(autouse=True)
def at_root(monkeypatch):
    """Examples name files below the root of the repository."""
    monkeypatch.chdir(ROOT)

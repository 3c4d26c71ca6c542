"""Sources and sinks: paths, filesystems, URLs, file objects, directories."""

from __future__ import annotations

import contextlib
import os
import posixpath
import re
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import unquote

from ._core import ParquetError
from ._partitioning import Keys, Partitioning

#: The part of a URL before "://". fsspec chains several with "::".
_SCHEME = re.compile("([A-Za-z][A-Za-z0-9+.-]*::)*[A-Za-z][A-Za-z0-9+.-]*")


class Part(NamedTuple):
    """A file to read."""

    source: Any
    filesystem: Any
    #: The values of the partition columns.
    keys: Keys = ()


def is_path(source: Any) -> bool:
    """Return True for a path, as text or as an object with one."""
    return isinstance(source, (str, os.PathLike))


def resolve(source: Any, filesystem: Any = None) -> tuple[Any, Any]:
    """Return a path, or another source, and the filesystem that has it. None is the local one."""
    if not is_path(source):
        return source, None
    path = os.fspath(source)
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if filesystem is not None:
        return _local(path, filesystem)
    # pyarrow's prefix for the filesystems of fsspec.
    path = path.removeprefix("fsspec+")
    if path.startswith(("file:/", "FILE:/")):
        return _of_url(path), None
    scheme, separator, _ = path.partition("://")
    if not separator or not _SCHEME.fullmatch(scheme):
        return (os.path.expanduser(path) if path.startswith("~") else path), None
    try:
        import fsspec
    except ImportError:
        raise ValueError(f"{path}: reading and writing {scheme}:// needs the package fsspec") from None
    try:
        found, inner = fsspec.core.url_to_fs(path)
    except ValueError as error:
        raise ParquetError(f"Unrecognized filesystem type in URI: {path} ({error})") from None
    return inner, found


def _of_url(url: str) -> str:
    """Return the path of a URL of a local file: file:/path, file:///path or file://localhost/path."""
    path = url[len("file:") :]
    if path.startswith("//"):
        host, slash, path = path[2:].partition("/")
        if host not in ("", "localhost"):
            raise ParquetError(f"{url}: the URL of a file on this machine has no host; write file:///{host}{slash}{path}")
        path = slash + path
    return unquote(path)


def _local(path: str, filesystem: Any) -> tuple[Any, Any]:
    """Return a local path for a filesystem object that stands for the local one."""
    if isinstance(filesystem, str):
        return resolve(posixpath.join(filesystem, path))
    name = type(filesystem).__name__
    if name == "LocalFileSystem":
        strip = getattr(filesystem, "_strip_protocol", None)
        return (strip(path) if strip is not None else path), None
    return path, filesystem


def open_input(path: Any, filesystem: Any) -> Any:
    """Return what the extension module reads: a path, bytes or a file object."""
    if isinstance(path, int) and not isinstance(path, bool):
        return open(path, "rb", buffering=0, closefd=False)
    if filesystem is None:
        return path
    if hasattr(filesystem, "open_input_file"):
        return filesystem.open_input_file(path)
    return filesystem.open(path, "rb")


def open_output(where: Any, filesystem: Any = None) -> tuple[Any, Output | None]:
    """Return what the extension module writes to, and an output to close after that, or None."""
    if isinstance(where, int) and not isinstance(where, bool):
        file = open(where, "wb", buffering=0, closefd=False)
        return file, Output(file)
    path, filesystem = resolve(where, filesystem)
    if filesystem is None:
        return path, None
    if hasattr(filesystem, "open_output_stream"):
        file = filesystem.open_output_stream(path)
        return file, Output(file, lambda: filesystem.delete_file(path))
    file = filesystem.open(path, "wb")
    # A file in memory exists from the start.
    is_memory = type(filesystem).__name__ == "MemoryFileSystem"
    return file, Output(file, (lambda: filesystem.rm_file(path)) if is_memory else None)


class Output:
    """A file object that is opened here. `remove` removes the file, if closing the object completes it."""

    def __init__(self, file: Any, remove: Callable[[], Any] | None = None) -> None:
        self.file = file
        self.remove = remove
        self.close = file.close

    def discard(self) -> None:
        """End a file that was not completed, so that it does not appear if the filesystem can help it."""
        # The error that ended the write is the one to raise.
        with contextlib.suppress(Exception):
            if self.remove is None and hasattr(self.file, "discard"):
                self.file.discard()
                # fsspec would try to complete the file when Python frees the object.
                self.file.closed = True
            else:
                self.file.close()
        if self.remove is not None:
            with contextlib.suppress(Exception):
                self.remove()


def is_many(source: Any, filesystem: Any) -> bool:
    """Return True for a list, a pattern or a directory, which is read as several files."""
    if isinstance(source, (list, tuple)):
        if not source:
            raise ValueError("the list of files is empty")
        return True
    path, filesystem = resolve(source, filesystem)
    if not is_path(path):
        return False
    if filesystem is None:
        return os.path.isdir(path) or (_is_pattern(path) and not os.path.exists(path))
    if hasattr(filesystem, "get_file_info"):
        return bool(filesystem.get_file_info(path).type.name == "Directory")
    return _is_remote_pattern(path, filesystem) or filesystem.isdir(path)


def _is_pattern(path: str) -> bool:
    return any(sign in path for sign in "*?[")


def _is_remote_pattern(path: str, filesystem: Any) -> bool:
    """Return True for a pattern. A path that exists is not one, such as a URL with a query after `?`."""
    return _is_pattern(path) and not filesystem.exists(path)


def check_patterns(paths: list[str]) -> None:
    """Fail for a pattern among local paths without files. A directory may be empty."""
    for path in paths:
        if _is_pattern(path) and not os.path.exists(path):
            raise FileNotFoundError(2, "no file matches the pattern", path)


def local_paths(source: Any, filesystem: Any) -> list[str] | None:
    """Return the local paths of a source, or None if a part of it is not a local path."""
    sources = source if isinstance(source, (list, tuple)) else [source]
    resolved = [resolve(one, filesystem) for one in sources]
    if all(is_path(path) and found is None for path, found in resolved):
        return [str(path) for path, _ in resolved]
    return None


def parts(source: Any, filesystem: Any, partitioning: Partitioning | None) -> list[Part]:
    """Return the files of a source that is not a local path, sorted by path."""
    if isinstance(source, (list, tuple)):
        return [part for one in source for part in parts(one, filesystem, partitioning)]
    path, filesystem = resolve(source, filesystem)
    if not is_path(path) or filesystem is None:
        return [Part(path, None)]
    return _remote_parts(path, filesystem, partitioning)


def _remote_parts(path: str, filesystem: Any, partitioning: Partitioning | None) -> list[Part]:
    names = [path]
    is_directory = False
    if hasattr(filesystem, "get_file_info"):
        from pyarrow.fs import FileSelector, FileType

        is_directory = filesystem.get_file_info(path).type == FileType.Directory
        if is_directory:
            found = filesystem.get_file_info(FileSelector(path, recursive=True))
            names = [one.path for one in found if one.type == FileType.File]
    elif _is_remote_pattern(path, filesystem):
        names = filesystem.glob(path)
    elif filesystem.isdir(path):
        is_directory = True
        names = filesystem.find(path)
    if is_directory:
        names = [name for name in names if not _is_ignored(_below(name, path))]
    if not names:
        raise FileNotFoundError(2, "there are no files", path)
    if partitioning is not None and partitioning.names is not None and not is_directory:
        raise ValueError(f"partitioning={partitioning.names!r} needs the directory above the values, found {path!r}")
    if partitioning is None:
        return [Part(name, filesystem) for name in sorted(names)]
    return [Part(name, filesystem, partitioning.keys(_below(name, path))) for name in sorted(names)]


def _below(name: str, root: str) -> str:
    root = root.rstrip("/")
    return name[len(root) + 1 :] if root and name.startswith(root + "/") else name


def _is_ignored(path: str) -> bool:
    return any(part.startswith((".", "_")) and "=" not in part for part in path.split("/"))

"""Sources and sinks: paths, filesystems, URLs, file objects, directories."""

from __future__ import annotations

import contextlib
import io
import os
import posixpath
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias
from urllib.parse import unquote

from . import _core
from ._core import ParquetError

#: The longest path that is recognised among bytes.
_LONGEST_PATH = 1024

#: The number of ranges that a filesystem of pyarrow reads at the same time.
_MOST_THREADS = 32

#: The part of a URL before "://". fsspec chains several with "::".
_SCHEME = re.compile("([A-Za-z][A-Za-z0-9+.-]*::)*[A-Za-z][A-Za-z0-9+.-]*")


#: The beginnings of names of settings for our own stores alone.
_OWN_PREFIXES = ("aws_", "azure_", "google_")
#: The settings that ask for requests without a signature.
_ANONYMOUS = frozenset(["anon", "skip_signature", "aws_skip_signature", "azure_skip_signature", "google_skip_signature"])
#: The schemes of our own stores.
_SCHEMES = frozenset(_core.url_schemes())

#: What settings of stores are.
StorageOptions: TypeAlias = "Mapping[str, Any] | None"


def is_path(source: Any) -> bool:
    """Return True for a path, as text or as an object with one."""
    return isinstance(source, (str, os.PathLike))


def shown(source: Any) -> str:
    """Return a source as text for people: a path without the secrets of a URL, or the class of an object."""
    if not is_path(source):
        return type(source).__name__
    path = os.fspath(source)
    path = path if isinstance(path, str) else os.fsdecode(path)
    return repr(_core.checked_url(path) if "://" in path else path)


def resolve(source: Any, filesystem: Any = None, storage_options: StorageOptions = None) -> tuple[Any, Any]:
    """Return a path, a URL of our own stores, or another source, and its filesystem. None is the local one."""
    if not is_path(source):
        return source, None
    path = os.fspath(source)
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    if filesystem is not None:
        return _local(path, filesystem, storage_options)
    # pyarrow's prefix for the filesystems of fsspec.
    is_fsspec = path.startswith("fsspec+")
    path = path.removeprefix("fsspec+")
    if path.startswith(("file:/", "FILE:/")):
        return _of_url(path), None
    scheme, separator, _ = path.partition("://")
    if not separator or not _SCHEME.fullmatch(scheme):
        return (os.path.expanduser(path) if path.startswith("~") else path), None
    name = _core.checked_url(path)
    reason = ""
    if scheme.lower() in _SCHEMES and not is_fsspec:
        own = _own(path, scheme, storage_options)
        if isinstance(own, _core.Url):
            return own, None
        reason = own
    return _of_fsspec(path, scheme, name, reason, storage_options or {})


def _own(url: str, scheme: str, storage_options: StorageOptions) -> _core.Url | str:
    """Return a URL of our own stores, or the reason for which they do not answer."""
    options = {name: value for name, value in (storage_options or {}).items() if value is not None}
    is_known = {name: name in _ANONYMOUS or _core.has_setting(scheme, name) for name in options}
    unknown = ", ".join(name for name, known in is_known.items() if not known)
    if unknown and not any(name.lower().startswith(_OWN_PREFIXES) for name in options):
        return f"our own stores have no setting {unknown}"
    anonymous = any(_is_true(options.pop(name)) for name in _ANONYMOUS & options.keys())
    settings = [(name, str(value).lower() if isinstance(value, bool) else str(value)) for name, value in options.items()]
    try:
        found = _core.Url(url, settings, anonymous)
    except ParquetError as error:
        if storage_options or "Account must be specified" not in str(error):
            raise
        return "no account was found"
    if storage_options or found.is_web or found.is_signed:
        return found
    return "no credentials were found"


def _is_true(value: Any) -> bool:
    return value.lower() in ("1", "true", "yes", "on") if isinstance(value, str) else bool(value)


def _of_fsspec(
    path: str, scheme: str, name: str, reason: str, storage_options: Mapping[str, Any]
) -> tuple[Any, Any]:
    """Return the path of a URL in a filesystem of fsspec, and that filesystem."""
    try:
        import fsspec

        found, inner = fsspec.core.url_to_fs(path, **storage_options)
    except ImportError as error:
        if not reason:
            raise ValueError(f"{name}: {scheme}:// needs the package fsspec and its filesystem ({error})") from None
        raise ParquetError(f"{name}: {reason}. {_choices(scheme)}") from None
    except ValueError as error:
        raise ParquetError(f"Unrecognized filesystem type in URI: {name} ({error})") from None
    return inner, found


def _choices(scheme: str) -> str:
    """Return what gives access to a store."""
    variables, profile, package = {
        "s3": ("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", ", or a profile in ~/.aws with keys", "s3fs"),
        "gs": ("GOOGLE_APPLICATION_CREDENTIALS", "", "gcsfs"),
    }.get(scheme.lower().replace("s3a", "s3"), ("AZURE_STORAGE_ACCOUNT_KEY", "", "adlfs"))
    return (
        f"Set {variables}{profile}; pass storage_options= with settings such as these in lower case, or {{'anon': True}} for "
        f"public files; pass filesystem=; or install {package}"
    )


def _of_url(url: str) -> str:
    """Return the path of a URL of a local file: file:/path, file:///path or file://localhost/path."""
    path = url[len("file:") :]
    if path.startswith("//"):
        host, slash, path = path[2:].partition("/")
        if host not in ("", "localhost"):
            raise ParquetError(f"{url}: the URL of a file on this machine has no host; write file:///{host}{slash}{path}")
        path = slash + path
    return unquote(path)


def _local(path: str, filesystem: Any, storage_options: StorageOptions) -> tuple[Any, Any]:
    """Return a local path for a filesystem object that stands for the local one."""
    if isinstance(filesystem, str):
        return resolve(posixpath.join(filesystem, path), None, storage_options)
    name = type(filesystem).__name__
    if name == "LocalFileSystem":
        strip = getattr(filesystem, "_strip_protocol", None)
        return (strip(path) if strip is not None else path), None
    return path, filesystem


def open_input(path: Any, filesystem: Any) -> Any:
    """Return what the extension module reads: a path, a URL, bytes, a file object, or a file with `read_ranges`."""
    if isinstance(path, int) and not isinstance(path, bool):
        return open(path, "rb", buffering=0, closefd=False)
    if isinstance(path, io.TextIOBase):
        raise TypeError("the file is open as text; open it with the mode 'rb'")
    if isinstance(path, bytes) and len(path) < _LONGEST_PATH and _is_name(path):
        raise ParquetError(f"{path!r} looks like a path, but bytes are the contents of a file; write {path.decode()!r}")
    if filesystem is None:
        return path
    if hasattr(filesystem, "open_input_file"):
        return ArrowFile(filesystem.open_input_file(path))
    if _is_async(filesystem):
        return FsspecFile(filesystem, path)
    return filesystem.open(path, "rb")


def _is_name(data: bytes) -> bool:
    """Return True for bytes that look like the name of a file, and cannot be one: a file ends with the sign of Parquet."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return text.isprintable() and not text.endswith(("PAR1", "PARE")) and any(sign in text for sign in "./\\")


def _is_async(filesystem: Any) -> bool:
    """Return True for a filesystem of fsspec with many requests in flight."""
    from fsspec.asyn import AsyncFileSystem

    return isinstance(filesystem, AsyncFileSystem)


class FsspecFile:
    """A file of fsspec, whose ranges are requested together."""

    def __init__(self, filesystem: Any, path: str) -> None:
        self.filesystem = filesystem
        self.path = path
        self.size = filesystem.info(path)["size"]
        if self.size is None:
            with filesystem.open(path, "rb") as file:
                self.size = file.seek(0, 2)

    def read_ranges(self, starts: list[int], ends: list[int]) -> Any:
        """Return the bytes of each range."""
        return self.filesystem.cat_ranges([self.path] * len(starts), starts, ends, on_error="raise")

    def close(self) -> None:
        """Do nothing, because nothing is open."""


class ArrowFile:
    """A file of pyarrow, whose ranges are read by threads."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.size = file.size()
        self.close = file.close

    def read_ranges(self, starts: list[int], ends: list[int]) -> list[bytes]:
        """Return the bytes of each range."""
        ranges = [(end - start, start) for start, end in zip(starts, ends)]
        if len(ranges) == 1:
            return [self.file.read_at(*ranges[0])]
        with ThreadPoolExecutor(min(len(ranges), _MOST_THREADS)) as threads:
            return list(threads.map(lambda one: self.file.read_at(*one), ranges))


def open_output(
    where: Any, filesystem: Any = None, storage_options: StorageOptions = None
) -> tuple[Any, Output | None]:
    """Return what the extension module writes to, and an output to close after that, or None."""
    if isinstance(where, int) and not isinstance(where, bool):
        file = open(where, "wb", buffering=0, closefd=False)
        return file, Output(file)
    path, filesystem = resolve(where, filesystem, storage_options)
    if filesystem is None:
        return path, None
    if hasattr(filesystem, "open_output_stream"):
        file = filesystem.open_output_stream(path)
        return file, Output(file, lambda: filesystem.delete_file(path))
    file = filesystem.open(path, "wb")
    # A file in memory exists from the start.
    is_memory = type(filesystem).__name__ == "MemoryFileSystem"
    return file, Output(file, (lambda: filesystem.rm_file(path)) if is_memory else None)


class Directory:
    """A directory of a filesystem, in which the extension module creates the files of a dataset."""

    def __init__(self, path: str, filesystem: Any) -> None:
        self.path = path
        self.filesystem = filesystem

    def create(self, path: str) -> tuple[Any, Any]:
        """Return a new file object and its output."""
        path = posixpath.join(self.path, path)
        above = posixpath.dirname(path)
        if hasattr(self.filesystem, "create_dir"):
            self.filesystem.create_dir(above, recursive=True)
        else:
            self.filesystem.makedirs(above, exist_ok=True)
        return open_output(path, self.filesystem)

    def files_below(self, directory: str) -> list[str]:
        """Return the paths of the files below a directory, relative to it."""
        root = posixpath.join(self.path, directory).rstrip("/")
        if hasattr(self.filesystem, "get_file_info"):
            from pyarrow.fs import FileSelector

            selector = FileSelector(root, allow_not_found=True, recursive=True)
            found = [one.path for one in self.filesystem.get_file_info(selector) if one.type.name == "File"]
        else:
            self.filesystem.invalidate_cache(root)
            found = self.filesystem.find(root)
        # Some filesystems begin their paths with a slash.
        return [path.strip("/").removeprefix(root.strip("/")).strip("/") for path in found]

    def remove(self, path: str) -> None:
        """Remove a file."""
        path = posixpath.join(self.path, path)
        if hasattr(self.filesystem, "delete_file"):
            self.filesystem.delete_file(path)
        else:
            self.filesystem.rm_file(path)


class LocalDirectory:
    """A directory of this machine, in which the extension module creates the files of a dataset by its path."""

    def __init__(self, path: str) -> None:
        self.path = path

    def files_below(self, directory: str) -> list[str]:
        """Return the paths of the files below a directory, relative to it."""
        root = os.path.join(self.path, directory)
        found = (os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names)
        return [os.path.relpath(path, root).replace(os.sep, "/") for path in found]

    def remove(self, path: str) -> None:
        """Remove a file."""
        os.remove(os.path.join(self.path, path))


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


def is_many(path: Any, filesystem: Any) -> bool:
    """Return True for a list, and for a resolved pattern or directory, which is read as several files."""
    if isinstance(path, (list, tuple)):
        if not path:
            raise ValueError("the list of files is empty")
        return True
    if isinstance(path, _core.Url):
        return path.is_many()
    if not is_path(path):
        return False
    if filesystem is None:
        return os.path.isdir(path) or (_is_pattern(path) and not os.path.exists(path))
    if hasattr(filesystem, "get_file_info"):
        kind = filesystem.get_file_info(path).type.name
        return kind == "Directory" or (kind == "NotFound" and _is_pattern(path))
    return _is_remote_pattern(path, filesystem) or filesystem.isdir(path)


def _is_pattern(path: str) -> bool:
    return any(sign in path for sign in "*?[")


def _is_remote_pattern(path: str, filesystem: Any) -> bool:
    """Return True for a pattern. A path that exists is not one, such as a URL with a query after `?`."""
    return _is_pattern(path) and not filesystem.exists(path)


def check_found(paths: list[Any], listing: Listing | None) -> None:
    """Fail for a pattern without files, and for a directory of another place. A local directory may be empty."""
    for path in paths:
        if isinstance(path, _core.Url):
            raise FileNotFoundError(2, "there are no files", path.name)
        if listing is not None:
            raise FileNotFoundError(2, "there are no files", path)
        if _is_pattern(path) and not os.path.exists(path):
            raise FileNotFoundError(2, "no file matches the pattern", path)


def find(
    source: Any, filesystem: Any, storage_options: StorageOptions
) -> tuple[list[Any], Listing | None]:
    """Return the paths or URLs of a source of several files, and the listing that has them, or None."""
    sources = source if isinstance(source, (list, tuple)) else [source]
    resolved = [resolve(one, filesystem, storage_options) for one in sources]
    if all(isinstance(path, _core.Url) for path, _ in resolved):
        return [path for path, _ in resolved], None
    if all(is_path(path) and found is None for path, found in resolved):
        return [str(path) for path, _ in resolved], None
    listing = Listing()
    return [listing.add(path, found) for path, found in resolved], listing


class Listing:
    """Paths of filesystems and other sources, which the extension module lists one level at a time, and opens."""

    def __init__(self) -> None:
        #: The sources and filesystems by their paths, longest first.
        self.roots: dict[str, tuple[Any, Any]] = {}

    def add(self, source: Any, filesystem: Any) -> str:
        """Add a source, and return its path."""
        path = str(source) if is_path(source) else f"<source {len(self.roots)}>"
        path = path.rstrip("/") or path
        if self.roots.setdefault(path, (source, filesystem))[1] is not filesystem:
            raise NotImplementedError(f"{path} in two filesystems; read the files of each alone")
        self.roots = dict(sorted(self.roots.items(), key=lambda root: -len(root[0])))
        return path

    def _source(self, path: str) -> tuple[Any, Any]:
        """Return what a path stands for, and its filesystem."""
        if path in self.roots:
            return self.roots[path]
        for root, (_, filesystem) in self.roots.items():
            # A pattern begins with the directories before its first sign.
            fixed = re.split(r"[*?\[]", root)[0].rpartition("/")[0] if _is_pattern(root) else root
            if not fixed or path == fixed or path.startswith(fixed.rstrip("/") + "/"):
                return path, filesystem
        return path, None

    def list(self, directory: str) -> list[tuple[str, tuple[int, str | None] | None]]:
        """Return the names in a directory, with the length and version of each file."""
        path, filesystem = self._source(directory)
        if filesystem is None:
            raise NotADirectoryError(20, "not a directory", directory)
        if hasattr(filesystem, "get_file_info"):
            from pyarrow.fs import FileSelector

            found = filesystem.get_file_info(FileSelector(path))
            return [(one.base_name, _found_by_pyarrow(one)) for one in found]
        here = path.strip("/")
        entries = [(one["name"].rstrip("/"), one) for one in filesystem.ls(path, detail=True)]
        # Some programs put an object with the name of the directory there.
        entries = [(name, one) for name, one in entries if name.strip("/") != here]
        return [(posixpath.basename(name), _found(filesystem, name, one)) for name, one in entries]

    def file(self, path: str) -> tuple[int, str | None] | None:
        """Return the length and version of a file, or None for a directory and for a path without a file."""
        source, filesystem = self._source(path)
        if isinstance(source, _core.Url):
            return source.size(), None
        if filesystem is None:
            with contextlib.ExitStack() as files:
                file = open_input(source, None)
                if is_path(file):
                    file = files.enter_context(open(file, "rb"))
                return (file.seek(0, 2) if hasattr(file, "seek") else memoryview(file).nbytes), None
        if hasattr(filesystem, "get_file_info"):
            return _found_by_pyarrow(filesystem.get_file_info(source))
        try:
            return _found(filesystem, source, filesystem.info(source))
        except FileNotFoundError:
            return None

    def open(self, path: str) -> Any:
        """Return what the extension module reads."""
        return open_input(*self._source(path))


def _found_by_pyarrow(info: Any) -> tuple[int, str | None] | None:
    """Return the length and version of a file of pyarrow, or None for a directory and for a path without a file."""
    return (info.size, _version(info.mtime_ns)) if info.type.name == "File" else None


def _found(filesystem: Any, name: str, info: Any) -> tuple[int, str | None] | None:
    """Return the length and version of a file of fsspec, or None for a directory."""
    if info["type"] == "directory":
        return None
    size = info.get("size")
    if size is None:
        with filesystem.open(name, "rb") as file:
            size = file.seek(0, 2)
    versions = (info.get(key) for key in ("ETag", "etag", "mtime", "LastModified", "updated", "created"))
    return size, _version(next((version for version in versions if version), None))


def _version(version: Any) -> str | None:
    return None if version is None else str(version)

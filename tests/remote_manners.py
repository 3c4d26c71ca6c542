"""A web server of one file with many manners, one for each folder of its addresses: remote_manners.py FOLDER

Prints its port. `/MANNER/NAME` is the file `NAME` in FOLDER, answered in that manner. The manners are those that users met:
servers without ranges, without lengths, with odd headers, or with wrong answers.
"""

import gzip
import re
import sys
import urllib.parse
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FOLDER = Path(sys.argv[1])
SUFFIX_STATUS = {"suffix-400": 400, "suffix-405": 405, "suffix-416": 416, "suffix-501": 501}
STATUS = {"status-403": 403, "status-404": 404, "status-500": 500, "status-503": 503}
failures = {}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body, headers=(), framing="length"):
        """Sends an answer, whose end is its length, its last chunk, or the end of the connection."""
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if framing == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
            body = b"".join(b"%x\r\n%s\r\n" % (len(body[at : at + 1000]), body[at : at + 1000]) for at in range(0, len(body), 1000)) + b"0\r\n\r\n"
        elif framing == "close":
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            length = framing if isinstance(framing, int) else len(body)
            self.send_header("Content-Length", str(length))
            self.close_connection = length != len(body)
        self.end_headers()
        if self.command == "HEAD":
            return
        try:
            self.wfile.write(body)
        except OSError:
            # The client has seen enough.
            self.close_connection = True

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        _, manner, name = urllib.parse.unquote(self.path.partition("?")[0]).split("/", 2)
        if manner.startswith("redirect-"):
            place = "/loop/" if manner == "redirect-loop" else "/plain/"
            status = 302 if manner == "redirect-loop" else int(manner.rpartition("-")[2])
            return self.send(status, b"", [("Location", place + urllib.parse.quote(name))])
        if manner == "loop":
            return self.send(302, b"", [("Location", self.path)])
        if manner in STATUS:
            return self.send(STATUS[manner], b"<Error>no</Error>")
        if manner == "busy":
            # Every second request is answered.
            failures[self.path] = failures.get(self.path, 0) + 1
            if failures[self.path] % 2:
                return self.send(503, b"later", [("Retry-After", "0")])
        if manner == "html":
            return self.send(200, b"<html>please log in</html>")
        path = FOLDER / name
        if not path.is_file():
            return self.send(404, b"no")
        self.file(manner, path.read_bytes(), path.stat().st_mtime)

    def file(self, manner, file, modified):
        total = len(file)
        asked = self.headers.get("Range")
        suffix = re.fullmatch(r"bytes=-(\d+)", asked or "")
        bounded = re.fullmatch(r"bytes=(\d+)-(\d+)", asked or "")
        identity = self.identity(manner, modified)
        if manner == "gzip":
            return self.send(200, gzip.compress(file), [("Content-Encoding", "gzip")])
        if manner == "whole-chunked":
            return self.send(200, file, identity, "chunked")
        if manner == "whole" or not asked or manner == "suffix-200" and suffix:
            return self.send(200, file, identity)
        if suffix and manner in SUFFIX_STATUS:
            return self.send(SUFFIX_STATUS[manner], b"no", [("Content-Range", f"bytes */{total}")])
        if suffix:
            start, end = max(0, total - int(suffix[1])), total
        else:
            start, end = int(bounded[1]), min(int(bounded[2]) + 1, total)
        if start >= total:
            return self.send(416, b"", [("Content-Range", f"bytes */{total}")])
        is_end = suffix is not None or end == total
        self.part(manner, file, (start, end), (identity, is_end))

    def identity(self, manner, modified):
        tag = {"no-etag": None, "weak-etag": 'W/"first"'}.get(manner, '"first"')
        date = {"no-date": None, "odd-date": "2026-01-01 00:00:00"}.get(manner, formatdate(modified, usegmt=True))
        pairs = [("ETag", tag), ("Last-Modified", date)]
        return [(name, value) for name, value in pairs if value is not None]

    def part(self, manner, file, limits, known):
        (start, end), (identity, is_end), total = limits, known, len(file)
        body, claimed, framing = file[start:end], f"bytes {start}-{end - 1}/{total}", "length"
        if manner == "chunked":
            framing = "chunked"
        elif manner == "closing":
            framing = "close"
        elif manner == "short-length":
            body = body[: len(body) // 2]
        elif manner == "cut":
            framing, body = len(body), body[: len(body) // 2]
        elif manner == "long-length":
            body += b"more"
        elif manner == "shifted":
            claimed = f"bytes {start + 1}-{end}/{total}"
        elif manner == "no-content-range":
            claimed = None
        elif manner == "lower-case":
            claimed = claimed.replace("bytes", "Bytes")
        elif manner == "star-length":
            claimed = f"bytes {start}-{end - 1}/*"
        elif manner == "replaced" and not is_end:
            identity = [("ETag", '"second"')]
        elif manner == "precondition" and not is_end:
            return self.send(412, b"no")
        headers = [*identity, *([("Content-Range", claimed)] if claimed else [])]
        if manner == "identity-encoding":
            headers.append(("Content-Encoding", "identity"))
        return self.send(206, body, headers, framing)


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()

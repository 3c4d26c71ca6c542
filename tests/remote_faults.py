"""A server of one file, with a fault for each folder: remote_faults.py FOLDER

Prints its port. The end of the file is served correctly, so that its footer can be read. All other ranges have the
fault of the folder in their address.
"""

import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FOLDER = Path(sys.argv[1])


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, claimed, length, e_tag):
        """Sends a part of a file: the bytes, the range that the server claims, and the length that it declares."""
        self.send_response(status)
        if claimed is not None:
            self.send_header("Content-Range", claimed)
        self.send_header("Content-Length", str(length))
        self.send_header("ETag", f'"{e_tag}"')
        self.send_header("Last-Modified", "Mon, 05 Jan 2026 10:00:00 GMT")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def do_GET(self):
        fault = self.path.split("/")[1]
        file = (FOLDER / "file.parquet").read_bytes()
        total = len(file)
        suffix = re.fullmatch(r"bytes=-(\d+)", self.headers.get("Range", ""))
        bounded = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if suffix:
            start, end, fault = max(0, total - int(suffix[1])), total, "right"
        elif bounded:
            start, end = int(bounded[1]), min(int(bounded[2]) + 1, total)
        else:
            return self.answer(400, b"", None, 0, "first")
        body = file[start:end]
        right = f"bytes {start}-{end - 1}/{total}"
        if fault.isdigit():
            return self.answer(int(fault), b"no", None, 2, "first")
        half = len(body) // 2
        other = (FOLDER / "other.parquet").read_bytes()[start:end]
        shorter = f"bytes {start}-{start + half - 1}/{total}"
        shifted = f"bytes {start + 1}-{end}/{total}"
        answers = {
            "right": (206, body, right, len(body), "first"),
            # The connection ends before the declared length.
            "cut": (206, body[:half], right, len(body), "first"),
            # The declared length is too small, but the range is right.
            "early": (206, body[:half], right, half, "first"),
            "long": (206, body + b"more", right, len(body) + 4, "first"),
            "shifted": (206, body, shifted, len(body), "first"),
            "shorter": (206, body[:half], shorter, half, "first"),
            "ignored": (200, file, None, total, "first"),
            "swapped": (206, other, right, len(other), "second"),
        }
        self.answer(*answers[fault])


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()

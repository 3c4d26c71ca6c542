"""Creates a container of azurite: remote_container.py ENDPOINT CONTAINER"""

import base64
import hashlib
import hmac
import sys
import urllib.request
from email.utils import formatdate

# The account and key of azurite, which are the same everywhere.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

endpoint, container = sys.argv[1:]
date = formatdate(usegmt=True)
headers = {"x-ms-date": date, "x-ms-version": "2023-11-03"}
canonical = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
resource = f"/{ACCOUNT}/{ACCOUNT}/{container}\nrestype:container"
text = "PUT" + "\n" * 12 + canonical + resource
digest = hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()
headers["Authorization"] = f"SharedKey {ACCOUNT}:{base64.b64encode(digest).decode()}"
headers["Content-Length"] = "0"
url = f"{endpoint}/{ACCOUNT}/{container}?restype=container"
urllib.request.urlopen(urllib.request.Request(url, headers=headers, method="PUT"))

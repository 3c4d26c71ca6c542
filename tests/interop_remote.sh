#!/usr/bin/env bash
# Reads and writes against servers of object stores on this machine: moto (S3), azurite (Azure), nginx, and one with faults.
# A server that cannot be installed is skipped. All servers are stopped in the end.
set -euo pipefail
cd "$(dirname "$0")/.."

target="${CARGO_TARGET_DIR:-$PWD/target}"
installed="$target/servers"
work="$(mktemp -d)"
servers=()
stop() {
    for server in "${servers[@]}"; do kill "$server" 2> /dev/null || true; done
    for server in "${servers[@]}"; do wait "$server" 2> /dev/null || true; done
    rm -rf "$work"
}
trap stop EXIT

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# Starts a server in the background, and waits until its port accepts connections: start PORT COMMAND...
start() {
    local port="$1"
    "${@:2}" > "$work/$port.log" 2>&1 &
    servers+=("$!")
    for _ in $(seq 300); do
        if (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null; then return; fi
        sleep 0.1
    done
    cat "$work/$port.log"
    return 1
}

cargo build --quiet --manifest-path tests/remote/Cargo.toml --target-dir "$target"
check() {
    timeout 300 "$target/debug/herringbone-remote-servers" "$@" > "$work/out" 2>&1 || { cat "$work/out"; exit 1; }
}

python3 tests/remote_faults.py "$work" > "$work/port" &
servers+=("$!")
for _ in $(seq 100); do [ -s "$work/port" ] && break; sleep 0.1; done
[ -s "$work/port" ] || { echo "the faulty server does not start"; exit 1; }
check faulty "http://127.0.0.1:$(cat "$work/port")" "$work"
echo "faulty server: every fault is an error with the object and the range"

# The other doors to the library. Other checks build the command without URLs, so it is built here.
cargo build --quiet -p herringbone-command
doors=("command=$target/debug/herringbone")
# The engines and the Python package take long to build, so they take part if their own checks were here before.
if [ -d "$target/engines/debug" ]; then
    cargo build --quiet --manifest-path integrations/Cargo.toml -p herringbone-doors --target-dir "$target/engines"
    for engine in datafusion delta; do doors+=("$engine=$target/engines/debug/herringbone-doors $engine"); done
else
    echo "skipped: DataFusion and Delta at the servers: integrations/ci.sh builds them"
fi
python="$target/python/alone/bin/python"
if "$python" -c 'import herringbone' 2> /dev/null; then
    doors+=("python=$python tests/remote_door.py")
else
    echo "skipped: the Python package at the servers: integrations/python/ci.sh builds it"
fi
python3 tests/remote_manners.py "$work" > "$work/manners" &
servers+=("$!")
for _ in $(seq 100); do [ -s "$work/manners" ] && break; sleep 0.1; done
[ -s "$work/manners" ] || { echo "the server with many manners does not start"; exit 1; }
check manners "http://127.0.0.1:$(cat "$work/manners")" "$work" "${doors[@]}"
echo "server with many manners: all doors agree: async, blocking, ${doors[*]%%=*}"

moto="$installed/moto"
if [ -x "$moto/bin/moto_server" ] || {
    python3 -m venv "$moto" && "$moto/bin/pip" install --quiet --disable-pip-version-check 'moto[server,s3]==5.2.5'
} 2> "$work/log"; then
    port="$(free_port)"
    start "$port" "$moto/bin/moto_server" -H 127.0.0.1 -p "$port"
    python3 -c "import urllib.request as r; r.urlopen(r.Request('http://127.0.0.1:$port/herringbone', method='PUT'))"
    export AWS_ENDPOINT="http://127.0.0.1:$port" AWS_ALLOW_HTTP=true AWS_REGION=us-east-1
    export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test
    check s3 "$AWS_ENDPOINT" "$work" "${doors[@]}"
    echo "moto: S3"
else
    echo "skipped: moto, which pip cannot install"
fi

nginx="$(command -v nginx || true)"
folder="$installed/nginx"
if [ -z "$nginx" ] && [ ! -x "$folder/usr/sbin/nginx" ]; then
    # The program alone, without installing it.
    mkdir -p "$folder"
    (cd "$folder" && apt-get download nginx && dpkg -x nginx_*.deb .) > "$work/log" 2>&1 || true
fi
if [ -z "$nginx" ] && [ -x "$folder/usr/sbin/nginx" ]; then nginx="$folder/usr/sbin/nginx"; fi
if [ -n "$nginx" ] && "$nginx" -v 2> /dev/null; then
    port="$(free_port)"
    mkdir -p "$work/nginx/files"
    cat > "$work/nginx.conf" <<CONF
daemon off;
master_process off;
error_log stderr;
pid $work/nginx/pid;
events {}
http {
    access_log off;
    client_body_temp_path $work/nginx/body;
    proxy_temp_path $work/nginx/proxy;
    fastcgi_temp_path $work/nginx/fastcgi;
    uwsgi_temp_path $work/nginx/uwsgi;
    scgi_temp_path $work/nginx/scgi;
    server {
        listen 127.0.0.1:$port;
        location /ranges/ { alias $work/nginx/files/; }
        location /whole/ { alias $work/nginx/files/; max_ranges 0; }
        location /moved/ { rewrite ^/moved/(.*)\$ http://127.0.0.1:$port/ranges/\$1 redirect; }
        location /busy/ { return 503; }
    }
}
CONF
    start "$port" "$nginx" -e stderr -c "$work/nginx.conf"
    check nginx "http://127.0.0.1:$port" "$work/nginx/files" "${doors[@]}"
    echo "nginx: ranges, redirects, 200 with all, 503, 404 and a replaced file"
else
    echo "skipped: nginx, which is not installed and cannot be downloaded"
fi

azurite="$installed/azurite"
if [ -x "$azurite/node_modules/.bin/azurite-blob" ] || {
    command -v npm > /dev/null && timeout 120 npm install --silent --no-audit --no-fund --prefix "$azurite" azurite@3.37.0
} > "$work/log" 2>&1; then
    port="$(free_port)"
    start "$port" "$azurite/node_modules/.bin/azurite-blob" --skipApiVersionCheck --inMemoryPersistence --disableTelemetry \
        --blobHost 127.0.0.1 --blobPort "$port"
    python3 tests/remote_container.py "http://127.0.0.1:$port" herringbone
    # What azurite has everywhere.
    export AZURE_STORAGE_ACCOUNT_NAME=devstoreaccount1 AZURE_ALLOW_HTTP=true
    export AZURE_STORAGE_ACCOUNT_KEY=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==
    export AZURE_ENDPOINT="http://127.0.0.1:$port/$AZURE_STORAGE_ACCOUNT_NAME"
    check azure "http://127.0.0.1:$port" "$work" "${doors[@]}"
    echo "azurite: Azure"
else
    echo "skipped: azurite, which npm cannot install"
fi

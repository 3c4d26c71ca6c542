# A terminal for tests, that of tmux. Source it after `command` is set. Needs LC_ALL and tmux.

folder="$(mktemp -d)"
socket="herringbone-$$"
in_tmux() { tmux -L "$socket" "$@"; }
trap 'in_tmux kill-server 2> /dev/null || true; rm -rf "$folder" 2> /dev/null || true' EXIT

screen() { in_tmux capture-pane -p; }

# Waits for a line that matches a pattern.
await() {
    for _ in $(seq 400); do
        screen | grep -qE -- "$1" && return
        sleep 0.05
    done
    echo "expected a line like $1, but the screen is:"
    screen
    exit 1
}

keys() { in_tmux send-keys -- "$@"; }

# Types a command and a line after it, which appears when the command has ended.
start() {
    keys "clear; $1; echo ended:\$?" Enter
}

# Starts a shell in the terminal, which stores its settings.
open_terminal() {
    in_tmux -f /dev/null new-session -d -x 80 -y 24 "env -i LC_ALL=C.UTF-8 PATH='$PATH' TERM=screen HOME='$folder' bash --norc --noprofile"
    keys "PS1='> '; stty -g > $folder/before; echo ready" Enter
    in_tmux set -s set-clipboard on
    await "^ready"
}

resize() { in_tmux resize-window -x "$1" -y "$2"; }

# Closes a page. A key that follows Esc at once would be a key with Alt.
back() {
    keys Escape
    await "q quit$"
}

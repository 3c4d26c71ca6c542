# The common part of the `ci.sh` of workspaces, sourced from their folder. Its arguments are the name of the workspace, and
# its inputs from the root on. Prints `skipped` and exits if they are those of the last commit that passed.
root="$(git rev-parse --show-toplevel)"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}/$1"
export CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=none CARGO_TERM_COLOR=never

inputs=(integrations/unchanged.sh "${@:2}")
passed="$CARGO_TARGET_DIR/passed"
# `git diff` of a commit includes changes that are not committed, and no new files.
if [ -f "$passed" ] && git cat-file -e "$(cat "$passed")" 2> /dev/null &&
    git -C "$root" diff --quiet "$(cat "$passed")" -- "${inputs[@]}" &&
    [ -z "$(git -C "$root" status --porcelain -- "${inputs[@]}")" ]; then
    echo skipped
    exit
fi

# Records that the checks of the last commit passed.
pass() { git rev-parse HEAD > "$passed"; }

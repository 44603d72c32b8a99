# Long steps with progress: packages, locks, logged commands. Sourced by the scripts of this folder.
# Progress goes to stderr; stdout is for results.

toolchain=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(dirname "$toolchain")
. "$toolchain/versions"

# The built program, committed and embedded in the Go package there.
elf=$repo/sdk/localnet/haggle.so

home=${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}
HAGGLE_CACHE=${HAGGLE_CACHE:-${XDG_CACHE_HOME:-$home/.cache}/haggle}
export HAGGLE_CACHE

# Where installers put cargo and go, for shells that did not read a profile.
PATH=$PATH:${CARGO_HOME:-$home/.cargo}/bin:/usr/local/go/bin

say() { printf '%s\n' "haggle: $*" >&2; }
die() { say "$*"; exit 1; }

{ mkdir -p "$HAGGLE_CACHE"/{bin,log,lock,target} && [ -w "$HAGGLE_CACHE/lock" ]; } 2>/dev/null ||
    die "$HAGGLE_CACHE cannot be written to: set HAGGLE_CACHE to a folder that can"

# Other systems than Linux have shasum instead of sha256sum, and another stat.
sha256() {
    if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -c 1-64
}
file_size() { wc -c <"$1" | tr -d ' '; }

need_command() { # name, how to get it
    command -v "$1" >/dev/null || die "$1 is not on PATH: $2"
}

# Holds the named lock until this script and everything it started have ended.
take_lock() {
    local fd
    exec {fd}>"$HAGGLE_CACHE/lock/$1"
    flock --nonblock "$fd" && return
    say "waiting for another process that prepares $1"
    flock "$fd"
}

# Runs a command with its output in a log, and prints every few seconds how long it has run. The command has
# its own process group, so that an interrupt ends all of it.
run_step() { # label, command...
    local label=$1 log start pid code=0 seconds shown=0
    shift
    log=$HAGGLE_CACHE/log/$(printf '%s' "$label" | tr -c 'A-Za-z0-9.\n' -).log
    start=$SECONDS
    say "$label (log: $log)"
    setsid "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    trap 'kill -TERM -- "-$pid" 2>/dev/null; wait "$pid"; say "interrupted: $label"; exit 130' INT TERM HUP
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.2
        seconds=$((SECONDS - start))
        if [ -t 2 ]; then
            ((seconds > shown)) && printf '\rhaggle: %s: %d s ' "$label" "$seconds" >&2 && shown=$seconds
        elif ((seconds >= shown + 15)); then
            say "$label: $seconds s, $(tail -n 1 "$log" | tr -d '\r' | cut -c 1-100)"
            shown=$seconds
        fi
    done
    wait "$pid" || code=$?
    trap - INT TERM HUP
    [ -t 2 ] && ((shown > 0)) && printf '\r\033[K' >&2
    if ((code != 0)); then
        tail -n 30 "$log" >&2
        die "failed after $((SECONDS - start)) s: $label (whole log: $log)"
    fi
    say "$label: done in $((SECONDS - start)) s"
}

missing_packages() {
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
    done
}

# Installs the Debian packages that are not there yet, as root or through sudo.
need_packages() {
    local missing as_root=()
    command -v dpkg-query >/dev/null || die "this is not Debian or Ubuntu; install by hand what these packages contain: $*"
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]} > 0)) || return 0
    if ((EUID != 0)); then
        as_root=(sudo --non-interactive)
        { command -v sudo && sudo --non-interactive true; } >/dev/null 2>&1 ||
            die "packages are missing and this is not root; run: sudo apt-get install --no-install-recommends ${missing[*]}"
    fi
    take_lock apt
    local install=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends
        "${missing[@]}")
    # Package lists that are absent or outdated show in the dry run or in the download, so refresh them only then.
    if ! apt-get install --simulate --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
        run_step "apt-get update" "${as_root[@]}" apt-get update
    elif "${as_root[@]}" "${install[@]}" --download-only >"$HAGGLE_CACHE/log/apt-download.log" 2>&1; then
        :
    else
        run_step "apt-get update" "${as_root[@]}" apt-get update
    fi
    run_step "installing packages: ${missing[*]}" "${as_root[@]}" "${install[@]}"
}

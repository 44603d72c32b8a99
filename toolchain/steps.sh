# Long steps with progress: packages, locks, logged commands. Sourced by the scripts of this folder, which run
# on Linux and macOS, with bash 3.2 or later. Progress goes to stderr; stdout is for results.
# shellcheck disable=SC2034 # the scripts use the variables

toolchain=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(dirname "$toolchain")
. "$toolchain/versions"

# The built program, committed and embedded in the Go package there.
elf=$repo/sdk/localnet/haggle.so

home=${HOME:-$(cd ~ && pwd)}
HAGGLE_CACHE=${HAGGLE_CACHE:-${XDG_CACHE_HOME:-$home/.cache}/haggle}
export HAGGLE_CACHE

# Where installers put cargo and go, for shells that did not read a profile.
PATH=$PATH:${CARGO_HOME:-$home/.cargo}/bin:/usr/local/go/bin

say() { printf '%s\n' "haggle: $*" >&2; }
die() { say "$*"; exit 1; }

# The system, as in the names of releases: linux or darwin, amd64 or arm64.
case $(uname -s) in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    *) die "$(uname -s) is not supported: use Linux or macOS (on Windows, WSL 2)" ;;
esac
case $(uname -m) in
    x86_64 | amd64) machine=amd64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) die "the processor $(uname -m) is not supported: amd64 and arm64 are" ;;
esac

{ mkdir -p "$HAGGLE_CACHE"/{bin,log,lock,target} && [ -w "$HAGGLE_CACHE/lock" ]; } 2>/dev/null ||
    die "$HAGGLE_CACHE cannot be written to: set HAGGLE_CACHE to a folder that can"

# macOS has shasum instead of sha256sum, and another stat.
# shellcheck disable=SC2120 # the scripts pass files
sha256_list() { # file..., or none for stdin
    if command -v sha256sum >/dev/null; then
        sha256sum "$@" # guarded: shasum is next
    else
        shasum -a 256 "$@"
    fi
}
# shellcheck disable=SC2119
sha256() { sha256_list | cut -c 1-64; }
file_size() { wc -c <"$1" | tr -d ' '; }

need_command() { # name, how to get it
    command -v "$1" >/dev/null || die "$1 is not on PATH: $2"
}

# Holds the named lock until this script and everything it started have ended.
lock_fd=20
take_lock() {
    lock_fd=$((lock_fd + 1))
    # bash 3.2 cannot choose a number by itself.
    eval "exec $lock_fd>\"\$HAGGLE_CACHE/lock/\$1\""
    lock_file "$lock_fd" try && return
    say "waiting for another process that prepares $1"
    lock_file "$lock_fd" wait || die "cannot lock $HAGGLE_CACHE/lock/$1"
}

# Locks an open file by its number. macOS has no flock, but perl, whose lock is the same.
lock_file() { # number, try or wait
    local options=()
    if command -v flock >/dev/null; then
        [ "$2" = wait ] || options=(-n)
        flock ${options[@]+"${options[@]}"} "$1" # guarded: perl is next
    else
        perl -MFcntl=:flock -e 'open(my $file, ">&=", $ARGV[0]) or exit 2;
            exit !flock($file, LOCK_EX | ($ARGV[1] eq "wait" ? 0 : LOCK_NB))' "$1" "$2"
    fi
}

# Runs a command with its output in a log, and prints every few seconds how long it has run. The command has
# its own process group, so that an interrupt ends all of it.
run_step() { # label, command...
    local label=$1 log start pid code=0 seconds shown=0
    shift
    log=$HAGGLE_CACHE/log/$(printf '%s' "$label" | tr -c 'A-Za-z0-9.\n' -).log
    start=$SECONDS
    say "$label (log: $log)"
    # Job control gives the command its process group; macOS has no setsid.
    set -m
    "$@" >"$log" 2>&1 </dev/null &
    pid=$!
    set +m
    trap 'kill -TERM -- "-$pid" 2>/dev/null; wait "$pid" || true; say "interrupted: $label"; exit 130' INT TERM HUP
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

# Builds a Go command at its pinned version, once for each version of Go, and prints its path.
go_tool() { # name, version, package, note on the duration
    local binary folder
    binary=$HAGGLE_CACHE/bin/$1-$2-$(go env GOVERSION) || die "go does not tell its version"
    [ -x "$binary" ] || take_lock "$1"
    if [ ! -x "$binary" ]; then
        folder=$(mktemp -d "$HAGGLE_CACHE/$1.XXXXXX") || die "no folder for $1"
        # shellcheck disable=SC2064 # the folder is this one
        trap "rm -rf '$folder'" EXIT
        GOBIN=$folder run_step "building $1 $2${4:+ ($4)}" go install "$3@$2"
        mv "$folder/$1" "$binary" || die "$3 has built no $1"
    fi
    printf '%s\n' "$binary"
}

# Reports whether all commands are on PATH.
have() {
    local name
    for name in "$@"; do
        command -v "$name" >/dev/null || return 1
    done
}

# Installs the packages of tools that are missing, with the system's package manager. Call it only after looking
# for the tools. It says what it runs, and as whom. HAGGLE_INSTALL=no forbids it.
need_packages() { # what is missing, then apt:NAME, dnf:NAME or brew:NAME for each package
    local what=$1 manager='' name chosen=() install as_root=()
    shift
    for name in apt-get dnf brew; do
        if have "$name"; then
            manager=$name
            break
        fi
    done
    [ -n "$manager" ] ||
        die "$what is missing, and none of apt-get, dnf and brew is here to install it: install it by hand. Packages: $*"
    for name in "$@"; do
        [ "${name%%:*}" != "${manager%-get}" ] || chosen+=("${name#*:}")
    done
    ((${#chosen[@]} > 0)) || die "$what is missing, and no package of $manager is known to have it: install it by hand"
    case $manager in
        apt-get) install=(apt-get install -y --no-install-recommends) ;;
        dnf) install=(dnf install -y) ;;
        brew) install=(brew install) ;;
    esac
    install+=("${chosen[@]}")
    if [ "$manager" != brew ] && ((EUID != 0)); then
        as_root=(sudo)
    fi
    [ "${HAGGLE_INSTALL:-yes}" != no ] ||
        die "$what is missing; install it with: ${as_root[*]+${as_root[*]} }${install[*]}"
    if ((${#as_root[@]} > 0)); then
        { have sudo && sudo -n true; } >/dev/null 2>&1 ||
            die "$what is missing, and this is not root; run: sudo ${install[*]}"
        as_root=(sudo -n)
    fi
    say "$what is missing; running as $([ "$manager" = brew ] && id -un || echo root): ${install[*]}"
    # A subshell, because a script that needs packages twice would otherwise wait for its own lock.
    (
        take_lock packages
        if [ "$manager" = apt-get ]; then
            apt_install
        else
            run_step "installing packages: ${chosen[*]}" ${as_root[@]+"${as_root[@]}"} "${install[@]}"
        fi
    )
}

# The part of need_packages for apt-get: package lists can be absent or outdated. That shows in the dry run or in
# the download, so it refreshes them only then.
apt_install() {
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends
        "${chosen[@]}")
    if ! apt-get install -s --no-install-recommends "${chosen[@]}" >/dev/null 2>&1 ||
        ! ${as_root[@]+"${as_root[@]}"} "${apt[@]}" --download-only >"$HAGGLE_CACHE/log/apt-download.log" 2>&1; then
        run_step "apt-get update" ${as_root[@]+"${as_root[@]}"} apt-get update
    fi
    run_step "installing packages: ${chosen[*]}" ${as_root[@]+"${as_root[@]}"} "${apt[@]}"
}

# A C compiler, which cargo needs to link.
need_compiler() {
    have cc c++ || need_packages "a C compiler" apt:build-essential dnf:gcc dnf:gcc-c++ dnf:make
}

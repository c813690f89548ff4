# Read by the scripts beside it: they run in the project's root, and warn in one line.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
    printf '%s\n' "$*" >&2
    exit 1
}

# The first Python that has the modules named, whichever Python stands first in PATH.
python_with() {
    local python modules IFS=,
    modules="$*"
    for python in python3 /usr/bin/python3; do
        if command -v "$python" >/dev/null && "$python" -c "import $modules" 2>/dev/null; then
            echo "$python"
            return
        fi
    done
    return 1
}

# Where Node finds undici: Debian's own place, and the one that scripts/deps unpacks it to.
export NODE_PATH=/usr/share/nodejs:$PWD/.build/node/usr/share/nodejs

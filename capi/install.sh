#!/usr/bin/env bash
# Builds the drop-in BLAS and LAPACK, and installs it with its C header and its file for pkg-config.
#
#     capi/install.sh [--prefix DIR] [--libdir DIR] [--features LIST] [--library FILE] [--uninstall]
#
#     --prefix DIR      where to install; an absolute path (/usr/local)
#     --libdir DIR      the folder of libraries, below the prefix (lib)
#     --features LIST   cargo features of the library, such as opencl
#     --library FILE    installs this libsuperscalar_blas.so and builds nothing
#     --uninstall       removes the installed files; folders stay
#     --help            prints this
#
# Installed are:
#
#     PREFIX/LIBDIR/libsuperscalar_blas.so
#     PREFIX/LIBDIR/libopenblas-superscalar.so          the same file, under a name that threadpoolctl recognizes
#     PREFIX/LIBDIR/pkgconfig/superscalar-blas.pc
#     PREFIX/include/superscalar.h
#
# No other file is touched. With DESTDIR=DIR in the environment all of them are below DIR, as for packages.
# CARGO_TARGET_DIR is respected. The exit status is 0 if all went well, 2 for wrong arguments, and 1 otherwise.

set -euo pipefail

fail() {
    echo "install.sh: $1" >&2
    exit "${2:-1}"
}

usage() {
    sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=/usr/local libdir=lib features='' library='' action=install

while [ $# -gt 0 ]; do
    case $1 in
        --prefix | --libdir | --features | --library)
            [ -n "${2:-}" ] || fail "$1 needs a value" 2
            printf -v "${1#--}" %s "$2"
            shift
            ;;
        --prefix=* | --libdir=* | --features=* | --library=*)
            name=${1%%=*}
            [ -n "${1#*=}" ] || fail "$name needs a value" 2
            printf -v "${name#--}" %s "${1#*=}"
            ;;
        --uninstall) action=uninstall ;;
        --help | -h) usage && exit ;;
        *) fail "unknown argument $1; --help lists the arguments" 2 ;;
    esac
    shift
done

[[ $prefix = /* ]] || fail "--prefix $prefix: an absolute path is needed" 2
prefix=${prefix%/}
# An absolute folder of libraries is written as one below the prefix, which is how pkg-config's file names it.
if [[ $libdir = /* ]]; then
    [[ $libdir = "$prefix"/?* ]] || fail "--libdir $libdir: not below the prefix $prefix" 2
    libdir=${libdir#"$prefix"/}
fi
libdir=${libdir%/}
[[ /$libdir/ != *//* && /$libdir/ != */./* && /$libdir/ != */../* ]] ||
    fail "--libdir $libdir: a plain path is needed" 2

root=${DESTDIR:-}$prefix
libraries=$root/$libdir
installed=(
    "$libraries/libsuperscalar_blas.so"
    "$libraries/libopenblas-superscalar.so"
    "$libraries/pkgconfig/superscalar-blas.pc"
    "$root/include/superscalar.h"
)

uninstall() {
    local file
    for file in "${installed[@]}"; do
        if [ -e "$file" ] || [ -L "$file" ]; then
            rm "$file" || fail "$file cannot be removed"
            echo "removed $file"
        fi
    done
}

# Sets `library` to the file that cargo builds.
build() {
    command -v cargo >/dev/null || fail "no cargo: install Rust, or give a built library with --library"
    # From the root, so that a relative CARGO_TARGET_DIR means the same as for cargo there.
    cd "$here/.."
    cargo build --release --locked -p superscalar-blas ${features:+--features "$features"} || fail "the build failed"
    library=${CARGO_TARGET_DIR:-target}/release/libsuperscalar_blas.so
}

# put MODE FILE TARGET: a new file, so that programs which have the old one open are not disturbed.
put() {
    install -D -m "$1" "$2" "$3" || fail "$3 cannot be written: become root, or choose another --prefix"
    echo "installed $3"
}

# The file for pkg-config. It names the prefix from its own folder: two levels up for `lib`, three for `lib/x`.
pkg_config_file() {
    local version up
    version=$(sed -n '/^\[workspace\.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' "$here/../Cargo.toml")
    [ -n "$version" ] || fail "no version in Cargo.toml"
    up=$(sed 's,[^/]*,..,g' <<<"$libdir/pkgconfig")
    sed -e "s,@up@,$up," -e "s,@libdir@,$libdir," -e "s,@version@,$version," "$here/superscalar-blas.pc.in"
}

install_all() {
    [ -n "$library" ] || build
    [ -f "$library" ] || fail "no such library: $library"
    made=$(mktemp)
    trap 'rm -f "$made"' EXIT
    pkg_config_file >"$made"
    put 755 "$library" "${installed[0]}"
    # A copy where the file system has no hard links. A symbolic link would not do: threadpoolctl follows those.
    ln -f "${installed[0]}" "${installed[1]}" 2>/dev/null ||
        cp --remove-destination "${installed[0]}" "${installed[1]}" || fail "${installed[1]} cannot be written"
    echo "installed ${installed[1]}"
    put 644 "$made" "${installed[2]}"
    put 644 "$here/include/superscalar.h" "${installed[3]}"
}

explain() {
    local at=$prefix/$libdir triplet
    triplet=$(uname -m)-linux-gnu
    cat <<TEXT

One program with this library, and one whose threads threadpoolctl limits:
    LD_PRELOAD=$at/libsuperscalar_blas.so PROGRAM
    LD_PRELOAD=$at/libopenblas-superscalar.so PROGRAM

A program of yours:
    export PKG_CONFIG_PATH=$at/pkgconfig LD_LIBRARY_PATH=$at
    cc program.c \$(pkg-config --cflags --libs superscalar-blas)

All programs of a Debian system, as root (docs/drop-in.md says what to consider):
TEXT
    local name
    for name in libblas.so.3 liblapack.so.3; do
        echo "    update-alternatives --install /usr/lib/$triplet/$name $name-$triplet $at/libopenblas-superscalar.so 5"
        echo "    update-alternatives --set $name-$triplet $at/libopenblas-superscalar.so"
    done
}

if [ "$action" = uninstall ]; then
    uninstall
else
    install_all
    explain
fi

#!/usr/bin/env bash
# Builds the drop-in BLAS and LAPACK, and installs it with its C header and its pkg-config file.
#
#     capi/install.sh [--prefix DIR] [--libdir DIR] [--features LIST] [--library FILE] [--uninstall]
#
#     --prefix DIR      the folder to install to; an absolute path (default /usr/local)
#     --libdir DIR      the folder for libraries, below the prefix (default lib)
#     --features LIST   cargo features of the library, such as opencl
#     --library FILE    installs this libsuperscalar_blas.so and builds nothing
#     --uninstall       removes the installed files, but no folders
#     --help            prints this text
#
# The installed files are:
#
#     PREFIX/LIBDIR/libsuperscalar_blas.so
#     PREFIX/LIBDIR/libopenblas-superscalar.so          the same library under a name that threadpoolctl recognizes
#     PREFIX/LIBDIR/pkgconfig/superscalar-blas.pc
#     PREFIX/include/superscalar.h
#
# With DESTDIR=DIR in the environment they are below DIR, as packages need. CARGO_TARGET_DIR is respected. The exit
# status is 0 on success, 2 for wrong arguments, and 1 for other errors.

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
# The pkg-config file names the folder for libraries relative to the prefix.
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
    # A relative CARGO_TARGET_DIR is relative to the root, as for cargo.
    cd "$here/.."
    cargo build --release --locked -p superscalar-blas ${features:+--features "$features"} || fail "the build failed"
    library=${CARGO_TARGET_DIR:-target}/release/libsuperscalar_blas.so
}

# put MODE FILE TARGET: replaces TARGET by a new file, so that programs that have opened the old one are not affected.
put() {
    install -D -m "$1" "$2" "$3" || fail "$3 cannot be written: become root, or choose another --prefix"
    echo "installed $3"
}

# Prints the pkg-config file. It names the prefix relative to its own folder: two levels up for `lib`, three for
# `lib/x`.
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
    # A hard link or a copy, since threadpoolctl would resolve a symbolic link.
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

To run one program with this library, or with a name that lets threadpoolctl limit its threads:
    LD_PRELOAD=$at/libsuperscalar_blas.so PROGRAM
    LD_PRELOAD=$at/libopenblas-superscalar.so PROGRAM

To compile your own program:
    export PKG_CONFIG_PATH=$at/pkgconfig LD_LIBRARY_PATH=$at
    cc program.c \$(pkg-config --cflags --libs superscalar-blas)

To use it in all programs of a Debian system, as root (see docs/drop-in.md first):
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

#!/usr/bin/env bash
# Makes a package of Debian from an archive of `archive.sh` for Linux: tests/release/deb.sh ARCHIVE OUT.
set -euo pipefail
cd "$(dirname "$0")/../.."

archive="$1" out="$2"
version="$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)"
address="$(sed -n 's/^repository = "\(.*\)"$/\1/p' Cargo.toml)"
case "$archive" in
    *-x86_64-unknown-linux-gnu.tar.gz) architecture=amd64 ;;
    *-aarch64-unknown-linux-gnu.tar.gz) architecture=arm64 ;;
    *) echo "$archive: expected the archive of a Linux target with the C library of GNU"; exit 1 ;;
esac
stage="$(mktemp -d)"
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/archive"
tar -xzf "$archive" -C "$stage/archive" --strip-components 1
root="$stage/tree" share="$stage/tree/usr/share"
place() { install -D -m "$1" "${@:2}"; }

for program in herringbone herringbone-sql; do
    place 755 "$stage/archive/$program" "$root/usr/bin/$program"
done
for page in "$stage"/archive/man/*; do
    place 644 "$page" "$share/man/man1/$(basename "$page")"
    gzip -9n "$share/man/man1/$(basename "$page")"
done
place 644 "$stage/archive/completions/herringbone.bash" "$share/bash-completion/completions/herringbone"
place 644 "$stage/archive/completions/herringbone.fish" "$share/fish/vendor_completions.d/herringbone.fish"
place 644 "$stage/archive/completions/_herringbone" "$share/zsh/vendor-completions/_herringbone"
place 644 "$stage/archive/README.md" "$share/doc/herringbone/README.md"
cat "$stage/archive/LICENSE" "$stage/archive/THIRD_PARTY_NOTICES" > "$stage/copyright"
place 644 "$stage/copyright" "$share/doc/herringbone/copyright"

# The oldest C library that has all symbols which the programs need.
libc="$(readelf --wide --dyn-syms "$root"/usr/bin/* | grep -o 'GLIBC_2[0-9.]*' | sort -uV | tail -n 1)"
[ -n "$libc" ] || { echo "the programs of $archive name no symbol of the C library"; exit 1; }
needed="$(readelf --wide --dynamic "$root"/usr/bin/* | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort -u)"
if others="$(grep -vE '^(libc|libm|libdl|libpthread|librt|ld-linux-.*)\.so|^libgcc_s\.so' <<< "$needed")"; then
    echo "the programs of $archive need more libraries than Depends has: $others"
    exit 1
fi
mkdir "$root/DEBIAN"
cat > "$root/DEBIAN/control" << END
Package: herringbone
Version: $version
Architecture: $architecture
Maintainer: The authors of Herringbone
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: libc6 (>= ${libc#GLIBC_}), libgcc-s1
Recommends: ca-certificates
Section: utils
Priority: optional
Homepage: $address
Description: look into, check, convert and rewrite Apache Parquet files
 The command herringbone reads Parquet, CSV, JSON and Arrow files, on this
 machine and at URLs. herringbone-sql runs queries on them.
END
mkdir -p "$out"
dpkg-deb --root-owner-group -Zxz --build "$root" "$out/herringbone_${version}_$architecture.deb"

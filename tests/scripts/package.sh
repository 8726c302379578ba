#!/usr/bin/env bash
# Builds a Debian package of Sinew and checks that what is in it runs.
#
# Usage: tests/scripts/package.sh [SINEW [FOLDER]]; SINEW is the built program (target/dist/sinew, by cargo build --profile dist), and
# the package is written to FOLDER (the folder of the program). Exits with 1 if a check fails.
set -euo pipefail
root="$(cd "$(dirname "$0")/../.." && pwd)"
sinew="$(realpath "${1:-$root/target/dist/sinew}")"
folder="$(realpath "${2:-$(dirname "$sinew")}")"
version="$("$sinew" --version | cut -d' ' -f2)"
architecture="$(dpkg --print-architecture)"
package="$folder/sinew_${version}_$architecture.deb"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
tree="$work/tree"
share="$tree/usr/share"

install -D -m 755 "$sinew" "$tree/usr/bin/sinew"
strip --strip-unneeded "$tree/usr/bin/sinew"
install -D -m 644 "$root/assets/linux/sinew.desktop" "$share/applications/sinew.desktop"
install -D -m 644 "$root/assets/linux/sinew.svg" "$share/icons/hicolor/scalable/apps/sinew.svg"
install -D -m 644 "$root/assets/linux/sinew.xml" "$share/mime/packages/sinew.xml"
mkdir -p "$share/man/man1" "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
"$sinew" man -o "$share/man/man1" --quiet
gzip -9 --no-name "$share/man/man1"/*.1
"$sinew" completions bash >"$share/bash-completion/completions/sinew"
"$sinew" completions zsh >"$share/zsh/vendor-completions/_sinew"
"$sinew" completions fish >"$share/fish/vendor_completions.d/sinew.fish"

# Licences: those of Sinew, and of everything that is linked into it.
install -D -m 644 "$root/README.md" "$share/doc/sinew/README.md"
{
    printf 'Sinew is licensed under the MIT licence or the Apache licence 2.0, at your choice.\n\n'
    cat "$root/LICENSE-MIT"
    printf '\nThe Apache licence is in /usr/share/common-licenses/Apache-2.0.\n'
} >"$share/doc/sinew/copyright"
cargo metadata --format-version 1 --locked --filter-platform "$(rustc -vV | sed -n 's/^host: //p')" --manifest-path "$root/Cargo.toml" |
    python3 "$root/tests/scripts/notices.py" >"$share/doc/sinew/THIRD-PARTY"
gzip -9 --no-name "$share/doc/sinew/THIRD-PARTY"

libc="$(objdump -T "$sinew" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -V | tail -n 1)"
mkdir -p "$tree/DEBIAN"
cat >"$tree/DEBIAN/control" <<CONTROL
Package: sinew
Version: $version
Architecture: $architecture
Maintainer: The authors of Sinew <sinew@localhost>
Installed-Size: $(du -k -s "$tree" | cut -f1)
Depends: libc6 (>= $libc), libgcc-s1
Recommends: libvulkan1, mesa-vulkan-drivers, libxkbcommon-x11-0, libx11-xcb1, libxcursor1, libxi6, libxrandr2
Section: graphics
Priority: optional
Description: workbench for character skinning
 Sinew poses rigged characters by projective dynamics and by the classic
 skinning methods, side by side, and writes what is seen for other programs.
CONTROL
dpkg-deb --build --root-owner-group "$tree" "$package" >/dev/null

# What is in the package runs by itself.
dpkg-deb --extract "$package" "$work/installed"
"$work/installed/usr/bin/sinew" bake builtin:arm --method lbs --settle -o "$work/arm.obj" --no-cache --quiet
grep -q '^f ' "$work/arm.obj"
"$work/installed/usr/bin/sinew" info builtin:arm --json --no-cache >"$work/arm.json"
python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["name"] == "arm"' "$work/arm.json"
bash -n "$work/installed/usr/share/bash-completion/completions/sinew"
# Unpacked first: a pipe into grep -q breaks when grep stops reading, which pipefail reports as a failure.
gzip -d "$work/installed/usr/share/man/man1/"sinew{,-bake}.1.gz "$work/installed/usr/share/doc/sinew/THIRD-PARTY.gz"
for page in sinew sinew-bake; do
    grep -q '^\.SH NAME' "$work/installed/usr/share/man/man1/$page.1"
done
grep -q '^wgpu ' "$work/installed/usr/share/doc/sinew/THIRD-PARTY"
python3 -c 'import sys, xml.dom.minidom as m; [m.parse(path) for path in sys.argv[1:]]' \
    "$work/installed/usr/share/mime/packages/sinew.xml" "$work/installed/usr/share/icons/hicolor/scalable/apps/sinew.svg"
if command -v desktop-file-validate >/dev/null; then
    desktop-file-validate "$work/installed/usr/share/applications/sinew.desktop"
else
    echo "SKIPPED: the desktop file: desktop-file-validate is not installed"
fi
if command -v lintian >/dev/null; then
    lintian --fail-on error "$package"
else
    echo "SKIPPED: the rules of Debian: lintian is not installed"
fi
echo "$package: $(du -h "$package" | cut -f1)"

#!/bin/sh
# Installs the programs beside this script, without root: sh install.sh [--uninstall] [PREFIX]
#
# PREFIX is ~/.local by default, and /usr/local for root. Needs a POSIX shell, cp, mkdir, mv, find and rm alone.
set -eu
# Root unpacks with the owners of the archive or as another user: the programs belong to the user who installs them.
umask 022
here=$(cd "$(dirname "$0")" && pwd)
remove=
if [ "${1:-}" = --uninstall ]; then
	remove=1
	shift
fi
if [ "$(id -u)" = 0 ]; then
	prefix=/usr/local
else
	prefix=${HOME:?}/.local
fi
prefix=${1:-$prefix}
cd "$here"
find bin libexec share -type f | while read -r file; do
	# A running program can be replaced only under another name.
	rm -f "$prefix/$file"
	[ -n "$remove" ] && continue
	mkdir -p "$prefix/$(dirname "$file")"
	cp "$file" "$prefix/$file"
done
if [ -n "$remove" ]; then
	rmdir "$prefix/libexec/resource-tracker/shell" "$prefix/libexec/resource-tracker" "$prefix/share/doc/resource-tracker" 2>/dev/null || true
	echo "removed from $prefix"
	exit
fi
# The helper loads the drivers of GPUs, so it needs their libc. Where that is missing, the static one starts the other programs.
helper=$prefix/libexec/resource-tracker/resource-tracker-helper
if [ -e "$helper.static" ]; then
	status=0
	"$helper" >/dev/null 2>&1 </dev/null || status=$?
	# A helper that starts says how it is used, with 2. Without its libc the shell says 127, an older libc 1, and qemu 255.
	if [ "$status" = 2 ]; then
		rm -f "$helper.static"
	else
		mv -f "$helper.static" "$helper"
	fi
fi
"$prefix/bin/resource-tracker" --version
echo "installed in $prefix"
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) echo "$prefix/bin is not in PATH: add it there, or start $prefix/bin/resource-tracker" ;;
esac

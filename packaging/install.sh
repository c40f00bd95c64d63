#!/bin/sh
# Installs the programs beside this script, without root. Needs a POSIX shell, cp, mkdir, mv, find and rm alone.
set -eu
usage="usage: sh install.sh [--uninstall] [[--prefix] PREFIX]

Installs resource-tracker in PREFIX: ~/.local by default, and /usr/local for root.
  --uninstall   remove it from there
  --help        print this"
# Root unpacks with the owners of the archive or as another user: the programs belong to the user who installs them.
umask 022
here=$(cd "$(dirname "$0")" && pwd)
remove='' prefix=''
refuse() {
	printf 'install.sh: %s\n%s\n' "$1" "$usage" >&2
	exit 2
}
while [ $# -gt 0 ]; do
	case $1 in
	--help | -h)
		echo "$usage"
		exit
		;;
	--uninstall)
		remove=1
		shift
		continue
		;;
	--prefix=*) named=${1#--prefix=} ;;
	--prefix)
		[ $# -gt 1 ] || refuse "--prefix needs a folder"
		named=$2
		shift
		;;
	-*) refuse "unknown option $1" ;;
	*) named=$1 ;;
	esac
	shift
	[ -n "$named" ] || refuse "the name of the folder is empty"
	[ -z "$prefix" ] || refuse "two folders are named, $prefix and $named"
	prefix=$named
done
if [ -z "$prefix" ] && [ "$(id -u)" = 0 ]; then
	prefix=/usr/local
elif [ -z "$prefix" ]; then
	prefix=${HOME:?}/.local
fi
# Below the folder that the user is in, not below that of this script.
case $prefix in
/*) ;;
*) prefix=$(pwd)/$prefix ;;
esac
cd "$here"
if [ -n "$remove" ]; then
	find bin libexec share -type f | while read -r file; do
		rm -f "$prefix/$file"
	done
	rmdir "$prefix/libexec/resource-tracker/shell" "$prefix/libexec/resource-tracker" \
		"$prefix/share/doc/resource-tracker/docs/monitoring" "$prefix/share/doc/resource-tracker/docs/start" "$prefix/share/doc/resource-tracker/docs" \
		"$prefix/share/doc/resource-tracker" 2>/dev/null || true
	echo "removed from $prefix"
	exit
fi
# Each file takes its place by a rename: a program that is started meanwhile is the old or the new one.
find libexec share bin -type f | while read -r file; do
	target=$prefix/$file
	case $file in
	*/resource-tracker-helper)
		# The helper loads the drivers of GPUs, so it needs their libc. Where that is missing, the static one starts the other programs.
		status=0
		"$here/$file" >/dev/null 2>&1 </dev/null || status=$?
		# A helper that starts says how it is used, with 2. Without its libc the shell says 127, an older libc 1, and qemu 255.
		[ "$status" = 2 ] || [ ! -e "$file.static" ] || file=$file.static
		;;
	*/resource-tracker-helper.static) continue ;;
	esac
	mkdir -p "$(dirname "$target")"
	cp "$file" "$target.new-$$" && mv -f "$target.new-$$" "$target" || {
		rm -f "$target.new-$$"
		exit 1
	}
done
rm -f "$prefix/libexec/resource-tracker/resource-tracker-helper.static"
"$prefix/bin/resource-tracker" --version
echo "installed in $prefix"
case ":$PATH:" in
*":$prefix/bin:"*) ;;
*) echo "$prefix/bin is not in PATH: add it there, or start $prefix/bin/resource-tracker" ;;
esac

#!/bin/sh
# Installs resource-tracker for all users of a machine or cluster, from the unpacked archive beside this script. Needs install.sh and what
# that needs. docs/ROLLOUT.md explains each step.
set -eu
usage="usage: sh rollout.sh install|remove [OPTIONS]

install: the programs in PREFIX/VERSION, a module file, and the settings of the site
remove: one version with its module file; with the last one, the settings of the shells as well

  --prefix DIR    folder of all versions (default: /opt/resource-tracker)
  --modules DIR   folder of module files, none if empty (default: /etc/environment-modules/modules or /etc/lmod/modules if it
                  exists, else /etc/modulefiles)
  --profile       write /etc/profile.d/resource-tracker.sh too: every login shell finds the program without a module
  --runs FILE     a line of each run of all users goes to FILE (%h: the host); made with its folder if missing (default: none)
  --quota MIB     the most that the history of a user takes (default: 1024)
  --version V     the version to remove (default: that of the archive)
  --purge         remove: also the settings of the site; never recordings and lines of runs
  --from DIR      the unpacked archive (default: the folder of this script)
  --destdir DIR   a folder that stands for /, to try it or to make a package
  --help          print this"
umask 022
action='' prefix=/opt/resource-tracker modules=- profile='' runs='' quota=1024 version='' purge='' root=''
from=$(cd "$(dirname "$0")" && pwd)
refuse() {
	printf 'rollout.sh: %s\n%s\n' "$1" "$usage" >&2
	exit 2
}
while [ $# -gt 0 ]; do
	case $1 in
	--help | -h)
		echo "$usage"
		exit
		;;
	--profile) profile=1 ;;
	--purge) purge=1 ;;
	--prefix | --modules | --runs | --quota | --version | --from | --destdir)
		[ $# -gt 1 ] || refuse "$1 needs a value"
		case $1 in
		--prefix) prefix=$2 ;;
		--modules) modules=$2 ;;
		--runs) runs=$2 ;;
		--quota) quota=$2 ;;
		--version) version=$2 ;;
		--from) from=$2 ;;
		--destdir) root=$2 ;;
		esac
		shift
		;;
	install | remove)
		[ -z "$action" ] || refuse "$action or $1: give one of them"
		action=$1
		;;
	*) refuse "unknown word $1" ;;
	esac
	shift
done
[ -n "$action" ] || refuse "say install or remove"
if [ "$modules" = - ]; then
	modules=/etc/modulefiles
	# Where Environment Modules and Lmod look on Debian, and Environment Modules on Fedora.
	for known in /etc/lmod/modules /etc/environment-modules/modules; do
		[ ! -d "$root$known" ] || modules=$known
	done
fi
for path in "$prefix" ${modules:+"$modules"} ${runs:+"$runs"} ${root:+"$root"}; do
	case $path in
	*[!A-Za-z0-9/._+%@:=-]*) refuse "'$path' has characters that settings and module files cannot have" ;;
	/*) ;;
	*) refuse "'$path' must begin with /" ;;
	esac
done
case $quota in
'' | 0* | *[!0-9]*) refuse "--quota: '$quota' must be a whole number of MiB from 1 to 1048576" ;;
esac
[ ${#quota} -le 7 ] && [ "$quota" -le 1048576 ] || refuse "--quota: '$quota' must be a whole number of MiB from 1 to 1048576"
if [ -z "$version" ]; then
	[ -x "$from/bin/resource-tracker" ] && [ -f "$from/install.sh" ] ||
		refuse "$from is not the unpacked archive: it lacks install.sh or bin/resource-tracker"
	version=$("$from/bin/resource-tracker" --version | sed -n '1s/^resource-tracker \([0-9][0-9A-Za-z.+~-]*\).*/\1/p')
fi
case $version in
'' | .* | *[!0-9A-Za-z.+~-]*) refuse "'$version' is not a version" ;;
esac
here=$prefix/$version
etc=$root/etc/resource-tracker
shell=$root/etc/profile.d/resource-tracker.sh
module=${modules:+$root$modules/resource-tracker/$version}
default=${modules:+$root$modules/resource-tracker/.version}

# Writes standard input to a file in one step: a shell that starts meanwhile reads the old one or the new one.
put() {
	mkdir -p "$(dirname "$1")"
	cat >"$1.new-$$" && mv -f "$1.new-$$" "$1"
	echo "wrote $1"
}

if [ "$action" = remove ]; then
	if [ -x "$root$here/bin/resource-tracker" ]; then
		rm -rf "$root${here:?}"
		echo "removed $root$here"
	else
		echo "$root$here has no resource-tracker" >&2
	fi
	[ -z "$module" ] || rm -f "$module"
	last=$(ls "$root$prefix" 2>/dev/null | grep -v '^current$' | sort -V | tail -n 1 || true)
	if [ -n "$last" ]; then
		# The default of the others stays, unless this version was the default.
		if [ "$(readlink "$root$prefix/current" 2>/dev/null)" = "$version" ]; then
			ln -sfn "$last" "$root$prefix/current"
			[ -z "$default" ] || printf '#%%Module1.0\nset ModulesVersion "%s"\n' "$last" | put "$default"
			echo "the default is $last"
		fi
		exit
	fi
	rm -f "$root$prefix/current" "$shell" ${default:+"$default"}
	rmdir "$root$prefix" ${module:+"$(dirname "$module")"} 2>/dev/null || true
	if [ -n "$purge" ]; then
		rm -f "$etc/config.toml"
		rmdir "$etc" 2>/dev/null || true
	elif [ -e "$etc/config.toml" ]; then
		echo "kept $etc/config.toml (--purge removes it)"
	fi
	exit
fi

sh "$from/install.sh" --prefix "$root$here" | grep -v 'is not in PATH'
ln -sfn "$version" "$root$prefix/current"
[ -z "$module" ] || put "$module" <<END
#%Module1.0
# Made by rollout.sh.
proc ModulesHelp {} {
	puts stderr "Records the CPU time, memory, disk, network and GPUs of a job: resource-tracker COMMAND"
}
module-whatis "resource-tracker $version: the resources that a job really uses"
conflict resource-tracker
prepend-path PATH $here/bin
setenv TRACKER_HISTORY_MIB $quota
END
[ -z "$default" ] || printf '#%%Module1.0\nset ModulesVersion "%s"\n' "$version" | put "$default"
[ -z "$profile" ] || put "$shell" <<END
# Made by rollout.sh for shells that load no module.
case ":\$PATH:" in
*":$prefix/current/bin:"*) ;;
*) PATH=\$PATH:$prefix/current/bin ;;
esac
export TRACKER_HISTORY_MIB="\${TRACKER_HISTORY_MIB:-$quota}"
END
if [ -e "$etc/config.toml" ]; then
	echo "kept $etc/config.toml"
else
	setting=${runs:+"runs = \"$runs\""}
	put "$etc/config.toml" <<END
# Settings of all runs of this machine, the weakest of all: a user's resource-tracker.toml, TRACKER_ variables and options come before them.
# "man resource-tracker" names the keys.
[tracker]
$setting
END
fi
if [ -n "$runs" ]; then
	file=$root$(printf %s "$runs" | sed "s/%h/$(uname -n)/g")
	mkdir -p "$(dirname "$file")"
	if [ ! -e "$file" ]; then
		: >"$file"
		chmod 666 "$file"
		# Users may add lines, and cannot empty the file. Not every file system has this mark.
		chattr +a "$file" 2>/dev/null || echo "$file: without chattr +a a user can empty it; see docs/ROLLOUT.md"
	fi
fi
echo "resource-tracker $version is the default in $root$prefix"

#!/bin/sh
# Installs, upgrades and removes Warpwatch from its offline bundle, without a network: docs/install.md. POSIX sh.
set -eu
umask 022

usage() {
  cat <<'USAGE'
install.sh [ARCHIVE] [flags]      installs or upgrades; run it inside the unpacked bundle, or beside the archive and its SHA256SUMS
install.sh --uninstall [flags]    removes it; history and configuration stay

  --prefix DIR    where it goes (root: /opt/warpwatch, others: ~/.local/lib/warpwatch)
  --bin DIR       where the link `warpwatch` goes (root: /usr/local/bin, others: ~/.local/bin)
  --no-service    no systemd unit, nothing is started
  --uninstall     stop it and remove it
  --purge         with --uninstall: history and configuration too
  --help          this
USAGE
}

say() { printf 'warpwatch: %s\n' "$*"; }
fail() {
  printf 'warpwatch: %s\n' "$*" >&2
  exit 1
}
wrong() {
  printf 'warpwatch: %s; --help tells more\n' "$*" >&2
  exit 2
}

# Absolute, and without characters that mean something in a unit or a sed expression.
usable() {
  case $2 in /*) ;; *) wrong "$1: expected an absolute path, came $2" ;; esac
  case $2 in *[!A-Za-z0-9/._+-]*) wrong "$1: expected a path of letters, digits and / . _ + -, came $2" ;; esac
}

# --- What this host is, and where things go -----------------------------------------------------------------------------------------------------

places() {
  if [ "$(id -u)" = 0 ]; then
    user=
    : "${prefix:=/opt/warpwatch}" "${bin:=/usr/local/bin}"
    unit=/etc/systemd/system/warpwatch.service
    config=/etc/warpwatch data=/var/lib/warpwatch
  else
    user=--user
    : "${HOME:?expected HOME to be set}"
    # The user's unit names this folder by %h.
    : "${prefix:=$HOME/.local/lib/warpwatch}" "${bin:=$HOME/.local/bin}"
    unit=${XDG_CONFIG_HOME:-$HOME/.config}/systemd/user/warpwatch.service
    config=${XDG_CONFIG_HOME:-$HOME/.config}/warpwatch data=${XDG_STATE_HOME:-$HOME/.local/state}/warpwatch
  fi
  usable --prefix "$prefix"
  usable --bin "$bin"
}

# shellcheck disable=SC2086 # $user is one flag or nothing
manager() { systemctl $user "$@"; }
# Whether systemd is what runs this host, or this user's session.
has_systemd() {
  command -v systemctl >/dev/null || return 1
  if [ -n "$user" ]; then manager show-environment >/dev/null 2>&1; else [ -d /run/systemd/system ]; fi
}
unit_is_ours() { [ -f "$unit" ] && grep -q "^ExecStart=$prefix/current/warpwatch " "$unit"; }

# --- Taking a bundle: nothing that does not match its sums ------------------------------------------------------------------------------------------

# Leaves a complete, checked bundle in $staging.
take_archive() {
  archive=$1
  sums=$(dirname "$archive")/SHA256SUMS
  file=$(basename "$archive")
  [ -f "$archive" ] || fail "$archive: expected the bundle's archive, found none"
  [ -f "$sums" ] || fail "$sums: expected the sums of the archive beside it, found none; without them it is not installed"
  line=$(grep -E "^[0-9a-f]{64} [ *]$file\$" "$sums") || fail "$sums: expected a line for $file, found none"
  (cd "$(dirname "$archive")" && printf '%s\n' "$line" | sha256sum -c >/dev/null 2>&1) ||
    fail "$archive: its contents do not match SHA256SUMS; it is not installed. Copy it again"
  mkdir "$staging.archive"
  tar -xzof "$archive" -C "$staging.archive"
  rmdir "$staging"
  mv "$staging.archive"/* "$staging"
  rmdir "$staging.archive"
}

# Only what the sums name is taken: a folder in which somebody worked may hold more.
take_folder() {
  { cut -c67- "$1/SHA256SUMS" && echo SHA256SUMS; } >"$staging.list"
  tar -C "$1" -cf - -T "$staging.list" | tar -C "$staging" -xof - || fail "$prefix: the bundle cannot be copied there"
  rm "$staging.list"
}

check() {
  bad=$( (cd "$staging" && sha256sum -c SHA256SUMS 2>/dev/null) | grep -v ': OK$' || true)
  [ -z "$bad" ] || fail "expected what SHA256SUMS says, these differ: $(printf '%s' "$bad" | tr '\n' ' ')- nothing was installed"
  # Node alone is content with an older libc than SQLite.
  if ! version=$("$staging/warpwatch" --version 2>/dev/null) ||
    ! (cd "$staging" && bin/node -e "new (require('better-sqlite3'))(':memory:')") 2>/dev/null; then
    fail "the bundle does not run on this host: it needs Linux x86-64 with glibc 2.34 or newer (Debian 12, Ubuntu 22.04, RHEL 9)"
  fi
}

# --- Installing ----------------------------------------------------------------------------------------------------------------------------------

# A version never changes in its folder; `current` is switched by one rename, so that a start finds either the old or the new one, whole.
put() {
  name=$version-$(sha256sum <"$staging/SHA256SUMS" | cut -c1-12)
  before=$(readlink "$prefix/current" 2>/dev/null || true)
  before=${before##*/}
  if [ -d "$prefix/versions/$name" ] && (cd "$prefix/versions/$name" && sha256sum -c SHA256SUMS >/dev/null 2>&1); then
    rm -rf "$staging"
  else
    rm -rf "$prefix/versions/$name"
    chmod 755 "$staging"
    mv "$staging" "$prefix/versions/$name"
    # So that it starts in half the time; without it it starts as well.
    "$prefix/versions/$name/warpwatch" warm-up >/dev/null 2>&1 || true
  fi
  ln -sfn "versions/$name" "$prefix/current.new"
  mv -fT "$prefix/current.new" "$prefix/current"
  mkdir -p "$bin"
  if [ -e "$bin/warpwatch" ] && [ "$(readlink "$bin/warpwatch" || true)" != "$prefix/current/warpwatch" ]; then
    say "$bin/warpwatch is not ours and stays; call $prefix/current/warpwatch"
  else
    ln -sfn "$prefix/current/warpwatch" "$bin/warpwatch"
  fi
  if [ ! -e "$config/warpwatch.yaml" ]; then
    mkdir -p "$config"
    cp "$prefix/current/warpwatch.example.yaml" "$config/warpwatch.yaml"
  fi
}

# The version that ran before stays for the way back; older ones go.
prune() {
  for old in "$prefix/versions"/*; do
    case ${old##*/} in "$name" | "$before") ;; *) [ "$before" = "$name" ] || rm -rf "$old" ;; esac
  done
}

serve() {
  if [ "$service" = no ]; then
    say "no service was asked for; start it with $bin/warpwatch"
  elif ! has_systemd; then
    say "systemd does not run here, so there is no service; start it with $bin/warpwatch"
  else
    known=$([ -f "$unit" ] && echo yes || echo no)
    mkdir -p "$(dirname "$unit")"
    # Our own unit, with the place of this installation; changes belong into `systemctl edit`.
    sed -e "s|^ExecStart=[^ ]*|ExecStart=$prefix/current/warpwatch|" -e "s|^Documentation=.*|Documentation=file:$prefix/current/docs|" \
      "$prefix/current/deploy/systemd${user:+/user}/warpwatch.service" >"$unit.new"
    mv -f "$unit.new" "$unit"
    manager daemon-reload
    # Who disabled or stopped it wants it so after an upgrade too.
    if [ "$known" = yes ]; then manager try-restart warpwatch.service; else manager enable --now warpwatch.service 2>/dev/null; fi ||
      fail "the service does not start: journalctl${user:+ $user} -u warpwatch tells why; what was installed stays"
    if manager --quiet is-active warpwatch.service; then
      say "the service runs: systemctl${user:+ $user} status warpwatch, journalctl${user:+ $user} -u warpwatch -f"
      [ -z "$user" ] || say "it ends when you log out, unless: loginctl enable-linger"
    else
      say "the service is stopped, as it was; start it with systemctl${user:+ $user} start warpwatch"
    fi
  fi
}

install() {
  case $(uname -s)/$(uname -m) in
    Linux/x86_64) arch=x64 ;;
    Linux/aarch64 | Linux/arm64) arch=arm64 ;;
    *) fail "expected Linux on x86-64 or arm64, this is $(uname -s) on $(uname -m)" ;;
  esac
  if [ -z "$user" ] && [ "$service" = yes ] && [ -f /lib/systemd/system/warpwatch.service ]; then
    fail "the Debian package warpwatch is installed and would serve the same port: remove it first (apt remove warpwatch), or use --no-service"
  fi
  if [ -f "$unit" ] && ! unit_is_ours && [ "$service" = yes ]; then
    fail "$unit belongs to another installation: uninstall that first, or use --no-service"
  fi
  self=$(CDPATH='' cd -- "$(dirname "$0")" && pwd -P)
  if [ -z "$from" ] && [ ! -x "$self/bin/node" ]; then
    # Beside the archive. Several would be a guess.
    set -- "$self"/warpwatch-*-linux-$arch.tar.gz
    [ -f "$1" ] || fail "$self: expected warpwatch-VERSION-linux-$arch.tar.gz beside this script, found none"
    [ $# = 1 ] || fail "$self: expected one archive beside this script, found $#; name the one that is meant"
    from=$1
  fi
  mkdir -p "$prefix/versions" || fail "$prefix: cannot be written; run this as root, or name a folder of yours with --prefix"
  staging=$(mktemp -d "$prefix/.new.XXXXXX")
  trap 'rm -rf "$staging" "$staging.archive" "$staging.list"' EXIT
  trap 'exit 130' INT TERM HUP
  if [ -n "$from" ]; then take_archive "$from"; else take_folder "$self"; fi
  check
  put
  say "$version is in $prefix/current; configuration: $config/warpwatch.yaml, history: $data"
  case :$PATH: in *":$bin:"*) ;; *) say "$bin is not in PATH" ;; esac
  serve
  prune
}

# --- Removing ------------------------------------------------------------------------------------------------------------------------------------

uninstall() {
  if unit_is_ours; then
    if has_systemd; then manager disable --now warpwatch.service 2>/dev/null || fail "the service does not stop: systemctl${user:+ $user} status warpwatch"; fi
    rm -f "$unit"
    if has_systemd; then manager daemon-reload; fi
    [ -n "$user" ] || rm -rf /run/warpwatch
  fi
  if [ "$(readlink "$bin/warpwatch" || true)" = "$prefix/current/warpwatch" ]; then rm "$bin/warpwatch"; fi
  if [ -L "$prefix/current" ] && [ -d "$prefix/versions" ]; then
    rm -rf "$prefix/versions" "$prefix/current" "$prefix"/.new.*
    rmdir "$prefix" 2>/dev/null || say "$prefix holds files that are not ours; they stay"
    say "removed from $prefix"
  else
    say "nothing is installed in $prefix"
  fi
  if [ "$purge" = yes ]; then
    rm -rf "$data" "$config"
    say "history ($data) and configuration ($config) are removed"
  else
    for kept in "$data" "$config"; do [ ! -e "$kept" ] || say "$kept stays; --uninstall --purge removes it"; done
  fi
}

main() {
  prefix='' bin='' service=yes action=install purge=no from=''
  while [ $# -gt 0 ]; do
    case $1 in
    --prefix | --bin)
      [ $# -gt 1 ] || wrong "$1: expected a folder"
      if [ "$1" = --prefix ]; then prefix=${2%/}; else bin=${2%/}; fi
      shift
      ;;
    --no-service) service=no ;;
    --uninstall) action=uninstall ;;
    --purge) purge=yes ;;
    --help) usage && exit 0 ;;
    -*) wrong "expected a flag of this script, came $1" ;;
    *)
      [ -z "$from" ] || wrong "expected one archive, came $from and $1"
      from=$1
      ;;
    esac
    shift
  done
  [ "$purge" = no ] || [ "$action" = uninstall ] || wrong "--purge is for --uninstall"
  # Called through an installation's own copy, it is that installation that is meant.
  self=$(CDPATH='' cd -- "$(dirname "$0")" && pwd -P)
  case $self in */versions/*) [ -n "$prefix" ] || [ ! -L "${self%/versions/*}/current" ] || prefix=${self%/versions/*} ;; esac
  places
  if [ "$action" = install ]; then install; else uninstall; fi
}

# In one piece: a copy that is cut short, or removed while it runs, does nothing by halves.
main "$@"
exit 0

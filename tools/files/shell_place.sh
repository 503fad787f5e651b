# What a shell does for tools.files.shell_place where there is no Python. Any POSIX shell with
# coreutils or busybox. Paths are absolute, so none begins with a dash.

files_home() {
  printf '%s\0' "${HOME:-/}" "${TMPDIR:-/tmp}"
}

# The real path of what exists of $1, and the rest of it.
files_real() {
  files_path=$1 files_rest= files_links=0
  while ! files_found=$(readlink -f "$files_path" 2>/dev/null && echo x); do
    if [ -L "$files_path" ] && [ "$files_links" -lt 40 ]; then
      files_links=$((files_links + 1))
      files_to=$(readlink "$files_path" && echo x)
      files_to=${files_to%?x}
      case $files_to in
        /*) files_path=$files_to ;;
        *) files_path=${files_path%/*}/$files_to ;;
      esac
      continue
    fi
    case $files_path in */*[!/]*) ;; *) break ;; esac
    files_rest=/${files_path##*/}$files_rest
    files_path=${files_path%/*}
    [ -n "$files_path" ] || files_path=/
  done
  printf '%s\0%s\0' "${files_found%?x}" "$files_rest"
}

files_stat() {
  stat -L -c '%f %s' "$1"
}

# For each entry of the folder: what it is (f, d or o), l for a link, its name.
files_list() (
  [ -d "$1" ] || { stat -L "$1" >/dev/null && echo 'Not a directory' >&2; return 1; }
  cd "$1" 2>/dev/null && [ -r . ] || { echo 'Permission denied' >&2; return 1; }
  for files_each in * .[!.]* ..?*; do
    if [ -d "$files_each" ]; then files_kind=d
    elif [ -f "$files_each" ]; then files_kind=f
    elif [ -e "$files_each" ] || [ -L "$files_each" ]; then files_kind=o
    else continue; fi
    if [ -L "$files_each" ]; then files_kind=${files_kind}l; fi
    printf '%s/%s\0' "$files_kind" "$files_each"
  done
)

files_regular() {
  [ -f "$1" ] && return
  [ -e "$1" ] && { echo 'Not a regular file' >&2; return 1; }
  stat -L "$1" >/dev/null
}

files_read() {
  files_regular "$1" && cat "$1"
}

# Several files at once: before each, its size, or -1 if it cannot be read or has more than $1
# bytes. Ends early when about $2 bytes were sent.
files_read_all() {
  files_most=$1 files_room=$2
  shift 2
  for files_each; do
    [ "$files_room" -gt 0 ] || break
    files_size=-1
    if [ -f "$files_each" ] && [ -r "$files_each" ]; then
      files_size=$(wc -c <"$files_each") && [ "$files_size" -le "$files_most" ] || files_size=-1
    fi
    printf '%d\n' "$files_size"
    [ "$files_size" -le 0 ] || head -c "$files_size" "$files_each"
    files_room=$((files_room - files_size))
  done
}

# The first bytes, the number of line feeds, whether the last line has none, and some lines.
files_lines() {
  files_regular "$1" && [ -r "$1" ] || { cat "$1" >/dev/null; return 1; }
  printf '%d %d\n' "$(wc -l <"$1")" "$(tail -c 1 "$1" | wc -l)"
  tail -n "+$2" "$1" | head -n "$3" | head -c "$4"
}

files_make_folders() {
  files_path=$1 files_missing=
  while ! [ -e "$files_path" ]; do
    files_missing=$((files_missing + 1))
    files_path=${files_path%/*}
    [ -n "$files_path" ] || files_path=/
  done
  mkdir -p "$1" && printf '%d' "${files_missing:-0}"
}

files_remove() {
  if [ -e "$1" ] || [ -L "$1" ]; then rm -f "$1"; else stat "$1" >/dev/null; fi
}

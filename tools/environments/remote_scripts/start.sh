# Start of the persistent shell on a host: `sh -c <this text> sh LOOP`. Standard input brings a
# secret, the folder of a former shell and its saved state (or empty lines), then what LOOP reads.
#
# It leaves a relay beside it and becomes the shell. A command prints into a pipe; the relay passes
# that on as standard output, and adds the secret and the number of the command when all is there.
# How the command ended is told on standard error. No command knows the secret, so that nothing
# printed can be taken for an end. Where a background child holds the pipe for longer, somebody
# kills our `cat`, and another one drops what such a child prints: it must neither die of a broken
# pipe nor wait for ever at a full one.
loop=$1
IFS= read -r secret && IFS= read -r home && IFS= read -r saved || exit 120
if [ -z "$home" ] || ! [ -d "$home" ]; then
    saved='' home=''
    for folder in "$TMPDIR" /tmp /dev/shm "$HOME"; do
        [ -d "$folder" ] && home=$(mktemp -d "$folder/hermes-shell-XXXXXX" 2>/dev/null) && break
    done
fi
[ -n "$home" ] || { echo 'no folder can be written to: /tmp is full or read-only' >&2; exit 120; }
[ -f "$saved" ] || saved=''
rm -f "$home/output" "$home/control"
mkdir -p "$home/state" && mkfifo "$home/output" "$home/control" || exit 120
echo $$ >"$home/owner"

relay() {
    trap '' INT HUP
    while IFS= read -r number <&3; do
        case $number in '' | *[!0-9]*) break ;; esac
        exec 4<"$home/output"
        cat <&4 3>&- &
        child=$!
        echo "$child" >"$home/child"
        IFS= read -r status <&3
        cwd='' separator=''
        while IFS= read -r line <&3 && [ "$line" != // ]; do
            cwd=$cwd$separator$line separator='
'
        done
        printf '\0%s\0%s\0%s\0%s\0' "$secret" "$number" "$status" "$cwd" >&2
        wait "$child"
        if [ "$?" -gt 128 ]; then
            cat <&4 >/dev/null 2>&1 3>&- &
            rm -f "$home/output"
            mkfifo "$home/output"
        fi
        exec 4<&-
        printf '\0%s\0%s\0' "$secret" "$number"
    done
}
exec 3<>"$home/control" # before anybody writes to it: what nobody holds open is lost
relay </dev/null &
relay=$!
exec 3<&-

# In a session of its own, so that all it starts is found. The leader of a group cannot have one
# without a fork; then its descendants are looked for.
setsid='' began=0
if IFS= read -r stat </proc/$$/stat; then
    set -- ${stat##*) }
    [ "$3" = $$ ] || [ "$4" = $$ ] || setsid=$(command -v setsid)
    shift 19
    began=$1
fi 2>/dev/null
shell=sh
command -v bash >/dev/null && shell=bash
printf '\0%s\0%s\0%s\0%s\0' "$secret" 0 "$$ $began $relay $shell" "$home" >&2
case $shell in
bash) exec $setsid bash --noprofile --norc -c "$loop" bash "$home" "$saved" ;;
*) exec $setsid sh -c "$loop" sh "$home" "$saved" ;;
esac

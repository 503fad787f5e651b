# End a persistent shell and all it has started: sh -c <this text> sh PID BEGAN RELAY HOME [remove]
# Not if another process has its number by now: BEGAN is field 22 of its /proc/PID/stat, or 0.
# The shell goes first, so that it cannot start the next command of a list; what it has started may
# tidy up for a moment. The relay stays, to pass on the rest of the output, and is told to leave.
leader=$1 began=$2 relay=$3 home=$4 remove=$5
found=" $leader "

moment() { sleep 0.02 2>/dev/null || sleep 1; }

processes() {
    for stat in /proc/[0-9]*/stat; do
        IFS= read -r line <"$stat" || continue
        set -- ${line##*) }
        case $1 in Z | X) ;; *) echo "${line%% *} $2 $4" ;; esac
    done 2>/dev/null
}

# `found`: what belongs to it; `living`: what of this lives, without the shell itself.
look() {
    all=$(processes) grown=yes living=''
    while [ "$grown" ]; do
        grown='' living=''
        while read -r pid parent session; do
            case $found in *" $pid "*) living="$living $pid" && continue ;; esac
            [ "$pid" = "$relay" ] || [ "$parent" = "$relay" ] && continue
            [ "$session" = "$leader" ] || case $found in *" $parent "*) ;; *) continue ;; esac
            found="$found$pid " grown=yes
        done <<END
$all
END
    done
}

# Its state and when it was started; nothing if there is no such process.
about() {
    IFS= read -r line 2>/dev/null <"/proc/$1/stat" || return 1
    set -- ${line##*) }
    state=$1
    shift 19
    start=$1
}

# Is the shell there, gone, or is its number used by somebody else?
who=gone
if [ "$began" = 0 ]; then
    who=shell
elif about "$leader"; then
    who=stranger
    [ "$start" = "$began" ] && who=shell
fi
if [ "$who" != stranger ]; then
    look
    [ "$began" = 0 ] && kill -TERM -- "-$leader" 2>/dev/null
    [ "$who" = shell ] && kill -KILL "$leader" 2>/dev/null
    kill -TERM $living 2>/dev/null
    for _ in 1 2 3; do
        look
        [ "$living" ] || break
        moment
    done
    [ "$began" = 0 ] && kill -KILL -- "-$leader" 2>/dev/null
    for _ in 1 2 3 4 5 6 7 8 9; do
        [ "$living" ] || break
        kill -KILL $living 2>/dev/null
        moment
        look
    done
fi
if [ -p "$home/control" ]; then
    printf 'killed\n//\nquit\n' 1<>"$home/control"
    tries=0
    while [ "$tries" -lt 40 ]; do
        tries=$((tries + 1))
        about "$relay" && [ "$state" != Z ] || break
        moment
    done
    about "$relay" && [ "$state" != Z ] && IFS= read -r child <"$home/child" && kill "$child"
fi 2>/dev/null
# Where its pipe was removed it can be told nothing.
for _ in 1 2 3 4 5 6 7 8 9; do
    grep -q 'read -r secret' "/proc/$relay/cmdline" 2>/dev/null || break
    moment
done
grep -q 'read -r secret' "/proc/$relay/cmdline" 2>/dev/null && kill -KILL "$relay" 2>/dev/null
[ "$remove" ] && rm -rf -- "$home"
exit 0

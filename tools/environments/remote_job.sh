# What a background job needs in the place where it runs. POSIX sh, with or without /proc.
# `remote_jobs.py` sends this text, followed by one call of a hermes_job_* function.
# The folder of a job holds: run (what to execute), in (its input), out.N (its output from byte N
# on), first (oldest byte kept, line breaks before it), pid, holder (each: number, birth), exit.
umask 077

# When a process was started; its state in hermes_state. One that has ended is there until its
# parent looks.
hermes_birth() {
    if IFS= read -r hermes_line 2>/dev/null <"/proc/$1/stat"; then
        set -- ${hermes_line##*) }
        hermes_is=$1
        shift 19
        hermes_born_at=$1
    else
        hermes_line=$(ps -o stat= -o lstart= -p "$1" 2>/dev/null) || return 1
        set -- $hermes_line
        hermes_is=${1%"${1#?}"}
        shift
        hermes_born_at=$(echo "$*" | tr ' ' _)
    fi
}

hermes_runs() { hermes_birth "$1" && [ "$hermes_is" != Z ] && [ "$hermes_is" != X ]; }

# Does the process of a file of this form still run?
hermes_lives() {
    read -r hermes_pid hermes_born 2>/dev/null <"$1" || return 1
    hermes_runs "$hermes_pid" && [ "$hermes_born_at" = "$hermes_born" ]
}

hermes_note() { hermes_birth "$1"; echo "$1 $hermes_born_at" >"$2.new" && mv "$2.new" "$2"; }

# Start: folder, working folder, bytes to keep.
hermes_job_start() {
    cd "$1" || exit 1
    mkfifo in pipe || exit 1
    if command -v bash >/dev/null; then hermes_shell='bash --noprofile --norc'
    else hermes_shell=sh; fi
    hermes_new=$(command -v setsid)
    trap '' HUP
    ( hermes_job_keep "$1" "$2" "$3" ) </dev/null >/dev/null 2>&1 &
    hermes_tries=0
    while [ ! -e pid ] && [ $hermes_tries -lt 200 ]; do
        hermes_tries=$((hermes_tries + 1))
        sleep 0.02 2>/dev/null || sleep 1
    done
    cat pid
}

hermes_job_keep() {
    # Its input ends when the last process lets go of the writing end: this one.
    sleep 86400 >in &
    hermes_note $! holder
    (
        cd "$2" && exec $hermes_new $hermes_shell "$1/run" <"$1/in" >"$1/pipe" 2>&1
    ) &
    hermes_leader=$!
    hermes_note "$hermes_leader" pid
    # The leader may have been forked off by setsid only now: its birth stays the same.
    hermes_job_pump "$3" <pipe &
    wait "$hermes_leader"
    hermes_code=$?
    hermes_tries=0
    while [ ! -e drained ] && [ $hermes_tries -lt 10 ]; do
        hermes_tries=$((hermes_tries + 1))
        sleep 0.03 2>/dev/null || sleep 1
    done
    echo "$hermes_code $(date +%s)" >exit.new && mv exit.new exit
    hermes_job_close "$1"
}

# From standard input into files, the oldest removed when there are enough.
hermes_job_pump() {
    hermes_keep=$1 hermes_base=0 hermes_lines=0
    set --
    while :; do
        hermes_file=out.$hermes_base
        dd bs=16384 count=128 of="$hermes_file" 2>/dev/null || break
        hermes_size=$(wc -c <"$hermes_file")
        [ "$hermes_size" -gt 0 ] || break
        set -- "$@" "$hermes_base"
        hermes_base=$((hermes_base + hermes_size))
        while [ $# -gt 1 ] && [ $((hermes_base - $2)) -ge "$hermes_keep" ]; do
            hermes_lines=$((hermes_lines + $(wc -l <"out.$1")))
            echo "$2 $hermes_lines" >first.new && mv first.new first
            rm -f "out.$1"
            shift
        done
    done
    : >drained
}

hermes_job_close() {
    rm -f "$1/in"
    if hermes_lives "$1/holder"; then kill "$hermes_pid"; fi
}

# Its state, then a part of its output: folder, offset (negative: from the end), bytes.
hermes_job_look() {
    cd "$1" 2>/dev/null || { echo "gone"; return; }
    if [ -e exit ]; then hermes_state="exit $(cat exit)"
    elif hermes_lives pid; then hermes_state=running
    elif sleep 1; [ -e exit ]; then hermes_state="exit $(cat exit)"
    else hermes_state=lost; fi
    hermes_first=0 hermes_lines=0
    [ ! -e first ] || read -r hermes_first hermes_lines <first
    hermes_total=0
    for hermes_file in out.*; do
        [ -e "$hermes_file" ] || continue
        [ "${hermes_file#out.}" -lt "$hermes_total" ] || hermes_total=${hermes_file#out.}
    done
    [ ! -e "out.$hermes_total" ] || hermes_total=$((hermes_total + $(wc -c <"out.$hermes_total")))
    hermes_at=$2
    [ "$hermes_at" -ge 0 ] || hermes_at=$((hermes_total + hermes_at))
    [ "$hermes_at" -ge "$hermes_first" ] || hermes_at=$hermes_first
    [ "$hermes_at" -le "$hermes_total" ] || hermes_at=$hermes_total
    hermes_left=$((hermes_total - hermes_at))
    [ "$hermes_left" -le "$3" ] || hermes_left=$3
    echo "$hermes_state"
    echo "$hermes_first $hermes_lines $hermes_total $hermes_at"
    while [ "$hermes_left" -gt 0 ]; do
        hermes_base=-1
        for hermes_file in out.*; do
            hermes_start=${hermes_file#out.}
            if [ "$hermes_start" -le "$hermes_at" ] && [ "$hermes_start" -gt "$hermes_base" ]; then
                hermes_base=$hermes_start
            fi
        done
        [ "$hermes_base" -ge 0 ] || return
        hermes_skip=$((hermes_at - hermes_base))
        hermes_there=$(($(wc -c <"out.$hermes_base") - hermes_skip))
        [ "$hermes_there" -gt 0 ] || return
        [ "$hermes_there" -le "$hermes_left" ] || hermes_there=$hermes_left
        tail -c +$((hermes_skip + 1)) "out.$hermes_base" | head -c "$hermes_there"
        hermes_at=$((hermes_at + hermes_there)) hermes_left=$((hermes_left - hermes_there))
    done
}

# Send the bytes that `printf` makes of a text: folder, text, tenths of a second to wait.
hermes_job_write() {
    cd "$1" || exit 1
    if [ -e exit ] || [ ! -p in ]; then echo closed; return; fi
    ( printf "$2" >in && : >"written.$$" ) 2>/dev/null &
    hermes_writer=$! hermes_tries=0
    until [ -e "written.$$" ]; do
        hermes_tries=$((hermes_tries + 1))
        if [ "$hermes_tries" -gt "$3" ]; then
            kill "$hermes_writer"
            echo stuck
            return
        fi
        sleep 0.1 2>/dev/null || sleep 1
    done
    rm -f "written.$$"
    echo written
}

# Processes of the session that $1 leads, and all that descend from them or from $2...
hermes_members() {
    hermes_found=" $* " hermes_grown=1
    while [ -n "$hermes_grown" ]; do
        hermes_grown=
        for hermes_stat in /proc/[0-9]*/stat; do
            IFS= read -r hermes_line 2>/dev/null <"$hermes_stat" || continue
            hermes_one=${hermes_line%% *}
            case $hermes_found in *" $hermes_one "*) continue ;; esac
            set -- ${hermes_line##*) }
            case $1 in Z | X) continue ;; esac
            case $hermes_found in *" $2 "* | *" $4 "*)
                hermes_found="$hermes_found$hermes_one " hermes_grown=1 ;;
            esac
        done
    done
}

# TERM for all of them, KILL for those that are left: folder, seconds in between.
hermes_job_kill() {
    cd "$1" 2>/dev/null || return 0
    [ -e exit ] || : >killed
    read -r hermes_pid hermes_born <pid || return 1
    if [ ! -d /proc/self ]; then
        hermes_lives pid || return 0
        kill -TERM "-$hermes_pid" || kill "$hermes_pid"
        sleep "$2"
        kill -KILL "-$hermes_pid" 2>/dev/null
        return 0
    fi
    if ! hermes_lives pid; then  # its number may be another's by now; its session's is not
        [ ! -e drained ] && [ ! -d "/proc/$hermes_pid" ] || return 0
    fi
    hermes_patience=$(($(date +%s) + $2)) hermes_signal=TERM hermes_asked=" "
    while :; do
        hermes_members "$hermes_pid"
        hermes_alive=
        for hermes_one in $hermes_found; do
            hermes_runs "$hermes_one" || continue
            hermes_alive=1
            case $hermes_asked in *" $hermes_one "*) [ $hermes_signal = KILL ] || continue ;; esac
            hermes_asked="$hermes_asked$hermes_one "
            kill -$hermes_signal "$hermes_one" 2>/dev/null
        done
        [ -n "$hermes_alive" ] || return 0
        hermes_now=$(date +%s)
        [ "$hermes_now" -lt "$hermes_patience" ] || hermes_signal=KILL
        [ "$hermes_now" -lt $((hermes_patience + 5)) ] || return 1
        sleep 0.05 2>/dev/null || sleep 1
    done
}

# Make the three streams of one process from two terminals of a sandbox: Daytona streams bytes in
# both directions only to terminals. Run as ``sh FOLDER/relay ROLE`` by the login shell of each.
#
# The folder has: mark (what to print when ready), start (what to run), and the pipes in, out, err,
# out.ack, err.ack. ``out`` runs the process; it takes its input as lines of base64 (a dot ends it,
# and @NAME is what a file in the folder has) and prints its output in frames: a length, a newline, so many bytes; length 0 is the end. ``err``
# does the same for the errors, and takes the acknowledgements of both: a line ``out`` or ``err``
# for each frame. Not more than 6 frames are on their way: a terminal's slow reader is cut off.
# ``tty`` gives the terminal itself to the process.
cd "${0%/*}" || exit 125

await() {
    read -r _ <&5
    ahead=$((ahead - 1))
}

pump() {
    exec 3<&0 5<>"$1.ack" 6>&- 7>&- 8>&-
    : >"$1.ready"
    ahead=0
    while :; do
        dd bs=65536 count=1 <&3 >"$1.piece" 2>"$1.said" &
        echo "$!" >"$1.reader"
        wait "$!"
        echo >"$1.reader"
        [ -s "$1.piece" ] || break
        size "$1"
        cat "$1.piece"
        ahead=$((ahead + 1))
        [ "$ahead" -lt 6 ] || await
    done
    echo 0
    ahead=$((ahead + 1))
    while [ "$ahead" -gt 0 ]; do await; done
    echo done >"$1.reader"
}

# GNU, busybox and toybox say the number of bytes in the third line; if not, it is counted.
size() {
    { read -r _; read -r _; read -r bytes word _; } <"$1.said"
    [ "$word" = bytes ] || bytes=$(($(wc -c <"$1.piece")))
    echo "$bytes"
}

feed() {
    exec 6>&- 7>&- 8>&-
    : >in.ready
    while IFS= read -r line <&9; do
        case $line in
        .) return ;;
        @*) cat "${line#@}" && rm -f "${line#@}" ;;
        *) printf %s "$line" | base64 -d ;;
        esac
    done
}

pause() {
    sleep 0.02 2>/dev/null || sleep 1
}

until_there() {
    looks=0
    until [ -e "$1" ]; do
        looks=$((looks + 1))
        [ "$looks" -lt 1500 ] || exit 125 # half a minute, or more
        pause
    done
}

# Children that outlive the process may keep its output open: when nothing comes for a while, the
# readers are told that this was all.
drain() {
    quiet=0 before='' looks=0
    while [ "$looks" -lt 15000 ]; do # some minutes: then nobody reads any more
        looks=$((looks + 1))
        read -r out_reader <out.reader
        read -r err_reader <err.reader
        [ "$out_reader $err_reader" != "done done" ] || return
        case "$out_reader $err_reader" in
        "$before") quiet=$((quiet + 1)) ;;
        *) quiet=0 ;;
        esac
        before="$out_reader $err_reader"
        if [ "$quiet" -ge 25 ]; then
            for reader in $out_reader $err_reader; do
                [ "$reader" = done ] || kill "$reader"
            done 2>/dev/null
            quiet=0
        fi
        pause
    done
}

case $1 in
out)
    stty raw -echo
    cat mark
    exec 9<&0 2>/dev/null # the terminal is for frames alone
    if command -v setsid >/dev/null; then alone=setsid; else alone=; fi
    echo >out.reader
    # All pipes are held open from before they are used: nobody waits in an open, which a signal
    # may interrupt, and nothing is written that nobody will read.
    exec 6<>in 7<>out 8<>err
    : >held
    feed >in &
    pump out <out &
    until_there in.ready
    until_there out.ready
    until_there err.ready
    exec 5<in 6>&-
    $alone sh ./start <&5 >out 2>err 5<&- 7>&- 8>&- 9<&-
    code=$?
    exec 7>&- 8>&-
    drain
    rm -rf "$PWD"
    exit "$code"
    ;;
err)
    stty raw -echo
    cat mark
    exec 2>/dev/null
    echo >err.reader
    until_there held
    pump err <err &
    exec 6<>out.ack 7<>err.ack
    while read -r which; do
        case $which in
        out) echo >&6 ;;
        err) echo >&7 ;;
        *) exit 0 ;;
        esac
    done
    ;;
tty)
    cat mark
    sh ./start
    code=$?
    rm -rf "$PWD"
    pause # what was printed last must be on its way before the terminal is closed
    exit "$code"
    ;;
esac

# The persistent shell on a host, in bash or any other POSIX shell: ... -c <this text> sh HOME SAVED
# The lines are joined to one, so that line numbers in messages count from the start of the command
# and the whole is parsed before an alias of the user comes to life; hence a `;` after each
# statement. A command is five lines, the last three escaped for the %b of printf: its kind, its
# number, the folder, the command, the file that is its standard input. `start.sh` says who reads
# what is written to `control`.
{
__hermes_builtin=command;
if [ -n "${BASH_VERSION:-}" ]; then __hermes_builtin=builtin; fi;
if [ -n "$2" ]; then "$__hermes_builtin" . "$2" 2>/dev/null; fi;
"$__hermes_builtin" set +e;
if [ "$__hermes_builtin" = builtin ]; then
    builtin shopt -s expand_aliases;
    builtin unset BASH_EXECUTION_STRING;
fi;
__hermes_home=$1 __hermes_number=0;
"$__hermes_builtin" shift "$#";
"$__hermes_builtin" cd /;

# What changes parsing comes first, and no alias is alive while functions are read.
if [ "$__hermes_builtin" = builtin ]; then
    __hermes_save() {
        { builtin shopt -p; builtin printf 'shopt -u expand_aliases\n'; builtin umask -p;
          builtin declare -p; builtin declare -f; builtin declare -Fx; builtin alias -p;
          builtin set +o; } >|"$1";
    };
else
    __hermes_save() {
        { command echo "umask $(command umask)"; command export -p; } >|"$1";
    };
fi;

__hermes_tell() {
    "$__hermes_builtin" printf '%s\n' "$1" "$PWD" // 1<>"$__hermes_home/control";
};

# Runs when a command ends the shell.
__hermes_leave() {
    __hermes_status=$?;
    __hermes_save "$__hermes_home/state/$((__hermes_number % 2))";
    [ -p "$__hermes_home/control" ] && __hermes_tell "ended $__hermes_status";
};

__hermes_decode() {
    if [ "$__hermes_builtin" = builtin ]; then
        builtin printf -v "$1" %b "$__hermes_line";
    else
        __hermes_line=$(command printf '%b.' "$__hermes_line");
        command eval "$1=\${__hermes_line%.}";
    fi;
};

"$__hermes_builtin" trap __hermes_leave EXIT;
while IFS= TMOUT= "$__hermes_builtin" read -r __hermes_kind;
do
    if [ "$__hermes_kind" = drop ]; then
        IFS= TMOUT= "$__hermes_builtin" read -r __hermes_line <"$__hermes_home/child";
        "$__hermes_builtin" kill "$__hermes_line";
        "$__hermes_builtin" continue;
    fi;
    # All that the command itself has printed is before this word in the pipe.
    if [ "$__hermes_kind" = word ]; then
        IFS= TMOUT= "$__hermes_builtin" read -r __hermes_line;
        "$__hermes_builtin" printf '\0%s\0' "$__hermes_line" 1<>"$__hermes_home/output";
        "$__hermes_builtin" continue;
    fi;
    IFS= TMOUT= "$__hermes_builtin" read -r __hermes_number;
    IFS= TMOUT= "$__hermes_builtin" read -r __hermes_line; __hermes_decode __hermes_folder;
    IFS= TMOUT= "$__hermes_builtin" read -r __hermes_line; __hermes_decode __hermes_text;
    IFS= TMOUT= "$__hermes_builtin" read -r __hermes_line; __hermes_decode __hermes_input;
    # Somebody removed our folder: leaving is the only answer left.
    [ -p "$__hermes_home/control" ] && [ -p "$__hermes_home/output" ] ||
        "$__hermes_builtin" exit 121;
    __hermes_said=;
    [ . -ef "$__hermes_folder" ] && [ "$PWD" = "$__hermes_folder" ] ||
        "$__hermes_builtin" cd -- "$__hermes_folder" 2>/dev/null ||
        if [ "$__hermes_kind" = in ]; then
            # What was meant for one folder must not run in another.
            __hermes_said='nofolder ' __hermes_text='(exit 1)';
        else
            __hermes_said='moved ';
            until "$__hermes_builtin" cd -- "${__hermes_folder:-/}" 2>/dev/null; do
                __hermes_folder=${__hermes_folder%/*};
            done;
        fi;
    "$__hermes_builtin" printf '%s\n' "$__hermes_number" 1<>"$__hermes_home/control";
    "$__hermes_builtin" eval " $__hermes_text"
        >"$__hermes_home/output" 2>&1 <"$__hermes_input";
    __hermes_status=$?;
    __hermes_save "$__hermes_home/state/$((__hermes_number % 2))";
    [ -p "$__hermes_home/control" ] || "$__hermes_builtin" exit "$__hermes_status";
    __hermes_tell "$__hermes_said$__hermes_status";
done;
# The connection is lost, or nobody needs us any more. For some minutes another shell may go on
# with what is saved here; it says so in `owner`.
"$__hermes_builtin" trap - EXIT;
"$__hermes_builtin" printf 'quit\n' 1<>"$__hermes_home/control";
command sleep 300;
[ "$(command cat "$__hermes_home/owner")" = "$$" ] && command rm -rf -- "$__hermes_home";
}

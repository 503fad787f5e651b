# The loop of the persistent shell. `shell.py` starts it: bash -c <this text> bash HOME STATE CWD
# It joins the lines to one, so that line numbers in messages count from the start of the command
# and the whole is parsed before the user's aliases come to life; hence a `;` after each statement.
# Standard input brings requests of NUL-terminated fields. A command has a standard input and output
# of its own; while it runs, bash keeps ours on descriptors that no program inherits.
{
if [[ -n $2 ]]; then builtin source "$2"; PWD=$3; fi;
builtin set +e;
builtin shopt -s expand_aliases;
builtin unset BASH_EXECUTION_STRING;
__hermes_home=$1 __hermes_number=0;
builtin shift "$#";

# Written so that it can be sourced: what changes parsing comes first, and no alias is alive while
# functions are read.
__hermes_save() {
    { builtin shopt -p; builtin printf 'shopt -u expand_aliases\n'; builtin umask -p;
      builtin declare -p; builtin declare -f; builtin declare -Fx; builtin alias -p;
      builtin set +o; } >|"$1";
};

# Runs when a command ends the shell. The file `ended` says that the state is complete.
__hermes_leave() {
    command exec 2>/dev/null;
    __hermes_save "$__hermes_home/state/$__hermes_number" &&
        builtin printf '%s\0' "$PWD" >|"$__hermes_home/state/ended";
};

builtin trap __hermes_leave EXIT;
while IFS= TMOUT= builtin read -r -d '' __hermes_number &&
      IFS= TMOUT= builtin read -r -d '' __hermes_folder &&
      IFS= TMOUT= builtin read -r -d '' __hermes_input;
do
    IFS= TMOUT= builtin read -r -d '' __hermes_text <"$__hermes_home/command" || builtin :;
    # What was meant for one folder must not run in another.
    [[ . -ef $__hermes_folder && $PWD == "$__hermes_folder" ]] ||
        builtin cd -- "$__hermes_folder" ||
        __hermes_text='builtin echo "The folder cannot be entered; nothing was run."; (exit 1)';
    # The shell's own, too: a trap of the user prints there when the command ends the shell.
    command exec >"$__hermes_home/pipes/output.$__hermes_number" 2>&1;
    builtin eval -- "$__hermes_text"
        <"$__hermes_input" >"$__hermes_home/pipes/output.$__hermes_number" 2>&1;
    __hermes_status=$?;
    command exec >/dev/null 2>&1;
    __hermes_save "$__hermes_home/state/$__hermes_number" || builtin :;
    # Somebody removed our folder: leaving is the only answer left.
    [[ -p $__hermes_home/pipes/report ]] || builtin exit "$__hermes_status";
    # Opened for reading as well: must not block if Python has died.
    builtin printf '%s\0' "$__hermes_number" "$__hermes_status" "$PWD" 1<>"$__hermes_home/pipes/report";
done;
# The kernel is gone, or a command has meddled with our descriptors and a new shell will follow.
command sleep 1;
builtin kill -0 "$PPID" || command rm -rf -- "$__hermes_home";
}

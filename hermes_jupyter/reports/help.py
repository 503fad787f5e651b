"""``%hermes help``"""

from __future__ import annotations

HELP = """\
%%agent [options]        give the cell's text to the agent         (%%agent? lists the options)
%hermes WORDS ...        a one-line prompt
%hermes status           model, session, tools, and what is wrong
%hermes tools            what the agent can use; --why: what is missing; --schema NAME: its
                         parameters
%hermes call NAME ...    call a tool yourself, with {json} or words: key=value other="a b"
%hermes model [NAME]     show or choose the model ("local": the embedded one); --via-server [NAME]:
                         one whose key only the Jupyter server has; --direct: as before
%hermes fix [N]          find out why the last failed cell (or cell N) failed, and correct it
%hermes new [NAME]       begin a new conversation
%hermes list             the conversations of this kernel
%hermes sessions [WORD]  the stored conversations of all kernels, or those with a word;
                         --children: those of agents that worked for them, too
%hermes resume [ID]      go on with a stored conversation (an id, its end, or a name)
%hermes fork [ID] [NAME] go on with a copy of a conversation
%hermes rename [ID] NAME call it something else
%hermes export [ID] FILE write it to a file: .md, .ipynb or .json
%hermes delete ID        remove it for good
%hermes attach           show the running turn here (after a page reload; works while busy), and
                         ask what a turn in the background waits for
%hermes stop             stop the running turns (works while busy)
%hermes jobs             turns in the background, and background processes; jobs stop N ends one
%hermes say TEXT         tell the agent something while it works (works while busy)
%hermes continue         go on with a turn that was interrupted, stopped or broken
%hermes last             show the last turn once more, and what its calls got; --trace: all calls
%hermes eject [TURN] [FILE]  the last turn, or another, as plain code without an agent
%hermes usage            tokens used, how many of them from the provider's cache, and what they
                         cost if somebody says so; --calls: the last model calls
%hermes compact          make the conversation shorter now: old results cut, notes on the rest
%hermes audit [N]        the last N decisions about calls, by people, rules and modes
%hermes undo [N]         take back what the last turn changed, or turn N; --preview shows what it
                         would do; --force also what you have changed since
%hermes redo             take the last undo back
%hermes diff [N]         what the last turn changed, or turn N
%hermes restore N [PATH] have files as they were before turn N and all that came after it
%hermes checkpoints      the turns that can be undone
%hermes trash [ID]       files that the agent's tools deleted; with ID, bring one back
%hermes memory           what is remembered; forget ID removes an entry
%hermes skills [NAME]    what it knows how to do; with NAME, the text
%hermes terminal [NAME]  where commands run; with NAME, have them run there from now on
%hermes doctor           check that everything works; --ask: that you can be asked, too
%hermes version

In a prompt, {name} stands for the value of a variable. Before anything destructive runs you are
asked. Settings: %config Hermes"""

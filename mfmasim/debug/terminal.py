"""The debugger in a terminal: commands as gdb names them, read from a terminal, a file or a pipe."""

from __future__ import annotations

import cmd
import sys
from typing import IO, TYPE_CHECKING

from mfmasim.debug import views
from mfmasim.debug.breakpoints import Breakpoint
from mfmasim.debug.values import shown
from mfmasim.debug.watches import READ, WRITE
from mfmasim.errors import MfmasimError, unknown
from mfmasim.observe import SEVERITIES
from mfmasim.visible import LAYOUT, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from mfmasim.debug.session import Session, Stop


LISTED = 5
"""Lines before and after the current one."""
SHORT = {
    "b": "break", "c": "continue", "d": "delete", "f": "frame", "i": "info", "l": "list", "n": "next", "p": "print",
    "q": "quit", "s": "step", "si": "stepi", "bt": "backtrace", "where": "backtrace", "fin": "finish",
    "rs": "reverse-step", "rn": "reverse-next", "rc": "reverse-continue", "rsi": "reverse-stepi", "h": "help",
    "rfin": "reverse-finish", "u": "until", "ru": "reverse-until", "dis": "disassemble", "x": "memory",
    "exit": "quit", "r": "run", "start": "run",
}  # fmt: skip
INFO = ("args", "breakpoints", "findings", "frames", "lds", "locals", "registers", "sources", "waves")


class Terminal(cmd.Cmd):
    """One session at a prompt. `ended` says afterwards whether the program may go on with further launches."""

    prompt = "(mfmasim) "

    def __init__(self, session: Session, source: IO[str] | None = None, out: IO[str] | None = None) -> None:
        """Debug `session`.

        Args:
            session: the recording.
            source: where commands come from; None is the keyboard. Commands of a file or pipe are shown.
            out: where answers go; None is standard output.
        """
        super().__init__(stdin=source, stdout=out or sys.stdout)
        self.use_rawinput = source is None
        self.session = session
        self.quit = False
        """Whether no further launch is to be debugged."""

    # The loop

    def cmdloop(self, intro: str | None = None) -> None:
        """Read commands until the session ends."""
        self.say(intro or self.introduction())
        try:
            super().cmdloop("")
        except KeyboardInterrupt:
            if not self.stdin.isatty():  # commands of a file or a pipe end with it
                raise
            self.say("")
            self.cmdloop(" ")
        except UnicodeDecodeError:
            raise MfmasimError("debug: the commands are not text in UTF-8") from None

    def introduction(self) -> str:
        """The introduction: the target of the session."""
        session, report = self.session, self.session.report
        total, found = sum(report.counts.values()), session.all_findings
        head = (
            f"{session.kernel.title} on {report.arch}: {_many(session.recorder.launch.waves, 'wave')}, {total:,} "
            f"wave-instructions, {_many(len(found), 'finding')}"
        )
        extra = [] if session.lines.rows else ["no source lines: compile with -g to see lines and variables"]
        return "\n".join([head, *extra, views.stopped(session)])

    def say(self, text: str) -> None:
        """Answer."""
        self.stdout.write(visible(text, LAYOUT) + "\n")
        self.stdout.flush()

    def precmd(self, line: str) -> str:
        """Show commands that come from a file, and leave comments out."""
        if line == "EOF":
            if not self.use_rawinput:
                self.stdout.write("\n")
            return "quit"
        if not self.use_rawinput:
            self.stdout.write(visible(line.rstrip("\n")) + "\n")
        return line.partition("#")[0] if line.lstrip().startswith("#") else line

    def emptyline(self) -> bool:
        """Repeat the last command at a keyboard, do nothing in a file."""
        return super().emptyline() if self.use_rawinput and self.lastcmd else False

    def onecmd(self, line: str) -> bool:
        """Execute a command; an error is one line."""
        if not line.strip():
            return self.emptyline()
        self.lastcmd = line
        word, _, rest = line.strip().partition(" ")
        word, slash, form = word.partition("/")
        name = SHORT.get(word, word)
        found: Callable[..., bool | None] | None = getattr(self, f"do_{name.replace('-', '_')}", None)
        try:
            if found is None:
                raise unknown("command", word, sorted(self._commands()))
            return bool(found(rest.strip(), form) if slash else found(rest.strip()))
        except TypeError as error:
            if slash and "positional" in str(error.args):
                self.say(f"{word}: takes no format")
                return False
            raise
        except MfmasimError as error:
            self.say(str(error))
            return False

    def _commands(self) -> list[str]:
        return [name[3:].replace("_", "-") for name in dir(self) if name.startswith("do_")]

    def _moved(self, stop: Stop) -> None:
        del stop
        self.say(views.stopped(self.session))

    def _count(self, text: str) -> int:
        if text and not (text.isdecimal() and 0 < int(text) < 1 << 31):
            raise MfmasimError(f"{text!r}: a number of times is expected")
        return int(text or 1)

    def _number(self, text: str, what: str) -> int:
        if not text.isdecimal():
            raise MfmasimError(f"{what} {text!r}: a number is expected")
        return int(text)

    # Moving

    def _times(self, text: str, move: Callable[[], Stop]) -> None:
        for _ in range(self._count(text)):
            stop = move()
            if stop.reason in ("start", "end"):
                break
        self._moved(stop)

    def do_step(self, text: str) -> None:
        """Step [N]: to the next line, into inlined calls."""
        self._times(text, self.session.step)

    def do_reverse_step(self, text: str) -> None:
        """reverse-step [N]: back to the line before."""
        self._times(text, lambda: self.session.step(backward=True))

    def do_next(self, text: str) -> None:
        """Next [N]: to the next line, past inlined calls."""
        self._times(text, lambda: self.session.step(over=True))

    def do_reverse_next(self, text: str) -> None:
        """reverse-next [N]: back, past inlined calls."""
        self._times(text, lambda: self.session.step(over=True, backward=True))

    def do_stepi(self, text: str) -> None:
        """Stepi [N]: one instruction of the current wave."""
        self._moved(self.session.step_instruction(self._count(text)))

    def do_reverse_stepi(self, text: str) -> None:
        """reverse-stepi [N]: take back one instruction."""
        self._moved(self.session.step_instruction(self._count(text), backward=True))

    def do_finish(self, text: str) -> None:
        """finish: until the inlined call is over."""
        del text
        self._moved(self.session.finish())

    def do_reverse_finish(self, text: str) -> None:
        """reverse-finish: back to the line that made the inlined call."""
        del text
        self._moved(self.session.finish(backward=True))

    def do_continue(self, text: str) -> None:
        """Continue [N]: until a breakpoint, a watch or a finding stops; N times."""
        self._times(text, self.session.resume)

    def do_reverse_continue(self, text: str) -> None:
        """reverse-continue [N]: the same backwards."""
        self._times(text, lambda: self.session.resume(backward=True))

    def do_until(self, text: str) -> None:
        """Until PLACE: the current wave runs to a line, address or mnemonic."""
        self._moved(self.session.run_to(text))

    def do_reverse_until(self, text: str) -> None:
        """reverse-until PLACE: the same backwards."""
        self._moved(self.session.run_to(text, backward=True))

    def do_goto(self, text: str) -> None:
        """Goto N: to the current wave's Nth instruction, counted from 0."""
        self._moved(self.session.goto(self._number(text, "goto")))

    def do_run(self, text: str) -> None:
        """run: back to the beginning of the launch."""
        del text
        session = self.session
        self._moved(
            session.go(session.history.next_of(session.wave, session.at.__class__(0)), session.stop.__class__("start"))
        )

    # Breakpoints

    def do_break(self, text: str) -> None:
        """Break PLACE [wave N] [if CONDITION]: PLACE is LINE, FILE:LINE, *ADDRESS, a kernel, a function, a mnemonic."""
        made, remark = self.session.add_breakpoint(text)
        self.say(f"breakpoint {made.number} at {made.text}" + (f" ({remark})" if remark else ""))

    def _watch(self, text: str, kinds: set[str]) -> None:
        made = self.session.add_watch(text, frozenset(kinds))
        self.say(f"watch {made.number} on {' and '.join(sorted(kinds))}s of {made.text}")

    def do_watch(self, text: str) -> None:
        """Watch WHAT: stop before writes of C[0,1], As[12], v17 lane 3, s4, *0xADDRESS SIZE."""
        self._watch(text, {WRITE})

    def do_rwatch(self, text: str) -> None:
        """Rwatch WHAT: stop before reads."""
        self._watch(text, {READ})

    def do_awatch(self, text: str) -> None:
        """Awatch WHAT: stop before reads and writes."""
        self._watch(text, {READ, WRITE})

    def do_catch(self, text: str) -> None:
        """Catch ID|CHECK|SEVERITY|all|none: continue stops where such a finding begins."""
        wanted = tuple(text.replace(",", " ").split())
        known = {one for finding in self.session.all_findings for one in (finding.id, finding.check)}
        known |= {*SEVERITIES, "all", "none"}
        for one in wanted:
            if one not in known:
                raise unknown("finding", one, sorted(known), "of this launch")
        self.session.finding_stops = () if "none" in wanted else wanted
        self.say(f"stops at findings: {', '.join(self.session.finding_stops) or 'none'}")

    def _found(self, text: str) -> Breakpoint:
        number = self._number(text, "breakpoint")
        found = self.session.breakpoints.get(number)
        if found is None:
            raise unknown("breakpoint", text, map(str, self.session.breakpoints))
        return found  # type: ignore[return-value]

    def do_delete(self, text: str) -> None:
        """Delete N: remove a breakpoint or watch."""
        self.session.remove(self._number(text, "breakpoint"))

    def do_enable(self, text: str) -> None:
        """Enable N."""
        self._found(text).enabled = True

    def do_disable(self, text: str) -> None:
        """Disable N."""
        self._found(text).enabled = False

    def do_condition(self, text: str) -> None:
        """Condition N EXPRESSION: a breakpoint stops where it holds in a lane."""
        from mfmasim.debug.expressions import parsed

        number, _, condition = text.partition(" ")
        found = self._found(number)
        if not isinstance(found, Breakpoint):
            raise MfmasimError(f"breakpoint {number} is a watch; conditions belong to breakpoints")
        if condition:
            parsed(condition)
        found.condition = condition

    def do_ignore(self, text: str) -> None:
        """Ignore N COUNT: the next COUNT hits do not stop."""
        number, _, count = text.partition(" ")
        found = self._found(number)
        if not isinstance(found, Breakpoint):
            raise MfmasimError(f"breakpoint {number} is a watch; hits are ignored of breakpoints")
        found.ignore = self._number(count, "ignore")

    # Looking

    def do_print(self, text: str, form: str = "") -> None:
        """print[/FORMAT] EXPRESSION: in the current lane; FORMAT such as x, f16, bf16, fp8, i8 reads packed bits."""
        self.say(f"{text} = {views.printed(self.session, text, form)}")

    def do_lanes(self, text: str, form: str = "") -> None:
        """lanes[/FORMAT] EXPRESSION: in every active lane."""
        self.say(views.by_lane(self.session, text, form))

    def do_fragment(self, text: str) -> None:
        """Fragment A|B|C|D|...: an operand of the matrix instruction as a matrix."""
        self.say(views.fragment(self.session, text or "A"))

    def do_place(self, text: str) -> None:
        """Place OPERAND REGISTER: which elements of a fragment a register of the current lane holds."""
        operand, _, register = text.partition(" ")
        self.say(views.held(self.session, operand, register.strip()))

    def do_memory(self, text: str, form: str = "") -> None:
        """memory[/FORMAT] EXPRESSION [COUNT]: dwords from an address on."""
        self.say(views.memory(self.session, text, form or "x"))

    def do_disassemble(self, text: str) -> None:
        """Disassemble [N]: instructions around the current one."""
        self.say(views.disassembled(self.session, self._count(text) if text else LISTED))

    def do_list(self, text: str) -> None:
        """List [LINE]: the source around a line."""
        frame = self.session.frames[min(self.session.frame, len(self.session.frames) - 1)]
        lines = self.session.lines.source(frame.file)
        if not lines:
            raise MfmasimError(f"{frame.file or 'the source'} is not found; --directory FOLDER says where it is")
        line = self._number(text, "line") if text else frame.line
        first = max(1, line - LISTED)
        shown_ = enumerate(lines[first - 1 : line + LISTED], first)
        self.say("\n".join(f"{'>' if number == frame.line else ' '}{number:>5}  {one}" for number, one in shown_))

    def do_backtrace(self, text: str) -> None:
        """backtrace: the inlined calls."""
        del text
        self.say("\n".join(f"#{k} {one.name} {one.source}".rstrip() for k, one in enumerate(self.session.frames)))

    def do_frame(self, text: str) -> None:
        """Frame N: names mean those of an outer call."""
        number = self._number(text or "0", "frame")
        if number >= len(self.session.frames):
            raise MfmasimError(f"frame {number}: there are frames 0 to {len(self.session.frames) - 1}")
        self.session.frame = number
        one = self.session.frames[number]
        self.say(f"#{number} {one.name} {one.source}".rstrip())

    def do_wave(self, text: str) -> None:
        """Wave N: make a wave of the launch current."""
        self.session.select(wave=self._number(text, "wave") if text else None)
        self.say(views.stopped(self.session))

    def do_lane(self, text: str) -> None:
        """Lane N: make a lane current."""
        self.session.select(lane=self._number(text, "lane") if text else None)
        self.say(f"lane {self.session.lane}")

    def do_who(self, text: str) -> None:
        """Who wrote WHAT: go back to the instruction, wave and lane that wrote it last."""
        word, _, what = text.partition(" ")
        if word != "wrote" or not what.strip():
            raise MfmasimError("who wrote WHAT is expected, such as who wrote C[0,1]")
        self.session.who_wrote(what.strip())
        self.say(views.stopped(self.session))

    def do_finding(self, text: str) -> None:
        """Finding N: go to where a finding begins."""
        self._moved(self.session.to_finding(self._number(text, "finding")))

    def do_info(self, text: str) -> None:
        """Info args|breakpoints|findings|frames|lds|locals|registers|sources|waves."""
        word, _, rest = text.partition(" ")
        close = [one for one in INFO if word and one.startswith(word)]
        if not close:
            raise unknown("subject", word, INFO, "of info")
        self.say(getattr(self, f"_info_{close[0]}")(rest.strip()) or "none")

    def _info_breakpoints(self, text: str) -> str:
        del text
        return "\n".join(
            f"{one.number}  {one.text}"
            + (f" wave {one.wave}" if isinstance(one, Breakpoint) and one.wave is not None else "")
            + (f" if {one.condition}" if one.condition else "")
            + ("" if one.enabled else " (disabled)")
            + f", {one.hits} hit{'s' * (one.hits != 1)}"
            for one in self.session.breakpoints.values()
        )

    def _info_findings(self, text: str) -> str:
        del text
        return "\n".join(
            f"{number}  {one.severity} {one.id} {one.source}: {one.message}"
            for number, one in enumerate(self.session.all_findings)
        )

    def _info_frames(self, text: str) -> str:
        del text
        return "\n".join(f"#{k} {one.name} {one.source}".rstrip() for k, one in enumerate(self.session.frames))

    def _variables(self, *, parameters: bool) -> str:
        names = self.session.names
        return "\n".join(
            f"{one.name} = {shown(value, names.lane, names.describe)}"
            for one, value in names.variables()
            if one.parameter == parameters
        )

    def _info_locals(self, text: str) -> str:
        del text
        if not self.session.lines.information.has_variables:
            return "there is no debug information of variables: compile with -g; info registers works without"
        return self._variables(parameters=False)

    def _info_args(self, text: str) -> str:
        del text
        return views.arguments(self.session)

    def _info_lds(self, text: str) -> str:
        return views.lds(self.session, text)

    def _info_registers(self, text: str) -> str:
        return views.registers(self.session, text)

    def _info_sources(self, text: str) -> str:
        del text
        return "\n".join(self.session.lines.files)

    def _info_waves(self, text: str) -> str:
        del text
        return views.waves(self.session)

    def do_quit(self, text: str) -> bool:
        """quit: end the session; of a program, let it run on without the debugger."""
        del text
        self.quit = True
        return True

    def do_detach(self, text: str) -> bool:
        """detach: end this session; the next launch of the program is debugged again."""
        del text
        return True

    def do_help(self, arg: str) -> None:
        """Help [COMMAND]."""
        name = SHORT.get(arg, arg)
        if name:
            found = getattr(self, f"do_{name.replace('-', '_')}", None)
            if found is None:
                raise unknown("command", arg, sorted(self._commands()))
            self.say(_help(found))
            return
        self.say("\n".join(_help(getattr(self, f"do_{one.replace('-', '_')}")) for one in self._commands()))


def _help(command: object) -> str:
    text = command.__doc__ or ""
    return text[:1].lower() + text[1:]


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"

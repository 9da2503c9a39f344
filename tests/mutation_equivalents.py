"""Mutants of the detectors that mean the same as the original, each with the reason why no test can tell."""

_TWICE = "the same is asked again where the value is used; each of the two alone is enough"
_NEVER = "what the guard keeps out cannot come here: the caller has looked already"
_ANY = "nobody asks how many there were, only whether there were any"
_NEW = "where nothing has happened yet, what was begun is as good as new"
_PLACE = "no line holds two of these rows, so that equal cannot come"

EQUIVALENT: dict[str, str] = {
    "length_stop.length_stop: for one in cut if one.reply.output -> for one in cut if True": _TWICE,
    "length_stop._claim: one.reply.output and sizes[one.reply.output] > 1 -> sizes[one.reply.output] > 1": _TWICE,
    "length_stop._is_refusal: unmeasured and reply.text is not None and (faults.classify(reply.text) == 'refusal')"
    " -> unmeasured and faults.classify(reply.text) == 'refusal'": "no words are never classed as a refusal",
    "manual_continue._carries_on: not before.resumed and before.prompt is not None and (one.asked[-1] is"
    " before.prompt) -> not before.resumed and one.asked[-1] is before.prompt": _NEVER,
    "manual_continue._claims: if one.prompt is None -> if False": _NEVER,
    "starved_summary._claim: for one in starved if one.end is not None -> for one in starved if True": _NEVER,
    "crash_loop._rows: crash.spawn and crash.at_once -> crash.at_once": "without a start nothing is at once",
    "crash_loop._Compactions.open_at: self._open[at - 1] >= _since(crash) -> self._open[at - 1] >"
    " _since(crash)": _PLACE,
    "crash_loop._Compactions.near: last[0] < _since(crash) -> last[0] <= _since(crash)": _PLACE,
    "crash_loop._since: 0 -> 1": "no row stands before place 1",
    "usage_outlier._claim: 1 -> 0 #2": "what would be plausible is never less than 1",
    "usage_outlier._claim: worst.value / worst.plausible if worst.plausible else None -> worst.value /"
    " worst.plausible if True else None": "what would be plausible is never less than 1",
    "usage_outlier._claim: round(ratio, 4) if ratio else None -> round(ratio, 4) if True else None": _NEVER,
    "_cut.suspects: attempt.end and attempt.outcome == 'summary' -> attempt.outcome == 'summary'": "an attempt"
    " without an end made no summary",
    "_cut._ends_in_a_word: 1 -> 2": "the last line is the last part, however many parts are split off",
    "_cut._ends_in_a_word: bool(body) and body[-1].isalpha() and (not last.lstrip().startswith('#')) ->"
    " body[-1].isalpha() and (not last.lstrip().startswith('#'))": _NEVER,
    "_units.shortened: len(rows) <= EVIDENCE -> len(rows) < EVIDENCE": "of just so many rows the two halves are all",
    "no_summary._Count.rate: round(len(self.without) / len(self.tries), 4) if self.tries else None ->"
    " round(len(self.without) / len(self.tries), 4) if True else None": _NEVER,
    "no_summary._Count.faults: one.end is not None and one.end.fault in names -> one.end.fault in names": _NEVER,
    "no_summary._hollow: one.end and one.end.fault is None and (one.end.outcome == 'summary') -> one.end.fault is"
    " None and one.end.outcome == 'summary'": _NEVER,
    "no_summary._hollow: end.text or '' -> end.text": "a summary whose text is not recorded is never hollow",
    "no_summary._model_calls: sum(known) if ends else None -> sum(known) if True else None": _NEVER,
    "context_blowup._claim: (first.row,) if first.row is peak.row else (first.row, peak.row) -> (first.row,) if False"
    " else (first.row, peak.row)": "a row that is given twice is one line of the finding",
    "context_blowup._measured: session.cap or 0 -> session.cap": _NEVER,
    "runaway_cost.runaway_cost: cost and session.cost -> cost": "recovery's cost is part of the session's",
    "silent_stall.silent_stall: session.parent or '' -> session.parent": "no session has an empty name, nor none",
    "silent_stall._idle: 0 -> 1 #2": _NEVER,
    "silent_stall._open_end: last.kind == 'compacted' and last.outcome == 'unknown' -> last.outcome =="
    " 'unknown'": "only the end of a compaction has an outcome",
    "ineffective_compaction.ineffective_compaction: 1 -> 0": "all of a run are of one kind",
    "ineffective_compaction._results: 0 -> 1": "the first attempt sets it",
    "ineffective_compaction._stated: attempt.after is None and attempt.start is not None and (attempt.end is not"
    " None) -> attempt.after is None and attempt.start is not None": _NEVER,
    "ineffective_compaction._next_request: 1 -> 2": "of failed replies in order the first is the earliest",
    "ineffective_compaction._next_request: one.prompt.seq < first.seq -> one.prompt.seq <= first.seq": _PLACE,
    "context_blowup._measured: 0 -> 1": _NEVER,
    "context_blowup._at: (sample.context if measure == 'context' else sample.messages) or 0 -> sample.context if"
    " measure == 'context' else sample.messages": _NEVER,
    "context_blowup._over: if not session.cap -> if False": "without a window nothing is over it",
    "context_blowup._size: None if size is None else session.window(row) -> None if False else"
    " session.window(row)": _TWICE,
    "context_blowup._size: size is None or not cap -> not cap": _TWICE,
    "context_blowup._stated: session.cap or 0 -> session.cap": _NEVER,
    "context_blowup._stated: 0 -> 1": "a window is never less than 1",
    "context_blowup._stated: 0 -> 1 #2": _NEVER,
    "compaction_loop._ended_by: last.prompt.seq < last.first.seq -> last.prompt.seq <= last.first.seq": _PLACE,
    "_loops.loops: 1 -> 2 #3": "what stands behind the last link is cut off when a loop is judged",
    "_loops._judged: 1 -> 2": "the first of the two most common is the most common",
    "context_blowup._refused_again: 0 -> 1 #2": "the first refused request sets it to 0 before it is used",
    "context_blowup._refused_again: row.fault == 'overflow' or not refused -> row.fault == 'overflow'": "the next"
    " refused request sets it to 0 before it is used",
    "_messages._judged: 0 -> 1": "neither 0 nor 1 character is too long",
    "_messages._judged: 0 -> 1 #2": "neither 0 nor 1 character is long",
    "_messages._plain: if shortened.isascii() -> if False": "ASCII has no accents: a shortcut",
    "_messages._unspaced: _NEVER if plain.isascii() else _any_of(name) -> _NEVER if False else _any_of(name)": "none of"
    " these phrases is ASCII: a shortcut",
    "_messages._is_unspaced: not plain.isascii() and _UNSPACED.search(plain) is not None -> _UNSPACED.search(plain) is"
    " not None": "none of these characters is ASCII: a shortcut",
    "_messages._parts: min(len(words), at + longest) -> max(len(words), at + longest)": "a slice ends with the list,"
    " and no phrase is longer than the longest",
    "_messages._longest: 1 -> 2": "no phrase is longer than the longest",
    "silent_stall._went_on: row.line > (last.line or sys.maxsize) -> row.line >= (last.line or sys.maxsize)": _PLACE,
    "failure_loop.failure_loop: if len(session.failed) < failures -> if False": "with fewer failures no run is long"
    " enough: a shortcut",
    "oversized_replay.oversized_replay: _loops(session.events) if session.replays else () -> _loops(session.events) if"
    " True else ()": "without a replay there is no loop: a shortcut",
    "failure_loop._Run: 0 -> 1 #2": "the first failure makes it 1, and a run without one is never told",
    "failure_loop._runs: if run.failed or run.compactions or event.kind == 'prompt' -> if True": _NEW,
    "oversized_replay._Loop: False -> True": "the first replay sets it",
    "oversized_replay._loops: event.origin == 'human' and loop.rows -> event.origin == 'human'": _NEW,
    "oversized_replay._loops: if loop.replays or loop.rows -> if True": _NEW,
    "oversized_replay._loops: row.seq > loop.replays[0].seq -> row.seq >= loop.replays[0].seq": "a"
    " replay is a prompt and stands at no reply's place",
}

"""Format `text`: each finding with its source line, then the verdict of each platform."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from osbctl.findings import Finding, Severity, ValidationResult, Verdict
from osbctl.messages import is_secret_path, text_of
from osbctl.platforms import Platform, format_platforms
from osbctl.platforms.verdict import MAX_REFUSALS, VerdictKind
from osbctl.reports import Report
from osbctl.text import AnsiStyle, escape_line, excerpt_with_carets, plural, wrap_line

_NOT_ACCEPTED = {
    VerdictKind.REFUSES: "refused by",
    VerdictKind.CRASHES: "crashes",
    VerdictKind.UNCLEAR: "unclear on",
}

_MAX_RULES = 4
"""Maximum number of rules listed after a refusing verdict."""
_FIXED = {True: " (fixable)", False: " (fixable with --unsafe)", None: ""}


def render_text(report: Report) -> str:
    """Render a report; each entry begins with `path:line:column: severity: message [rule]`."""
    paint = AnsiStyle(report.color)
    lines = [*_document_lines(report, paint)]
    if not report.quiet:
        if len(report.results) > 1:
            left_out = sum(result.left_out for result in report.results)
            counts = _format_counts(list(report.findings()), left_out)
            lines.append(wrap_line(f"{plural(len(report.results), 'document')}: {counts}", report.width))
        ending = _format_fixable_count(report)
        lines += [wrap_line(paint(ending, "bold"), report.width)] if ending else []
    return "\n".join(lines).rstrip("\n") + "\n" if lines else ""


def _document_lines(report: Report, paint: AnsiStyle) -> Iterator[str]:
    for result in report.results:
        for finding in result.findings:
            if report.concise:
                yield _finding_headline(finding, paint, result.editable)
            else:
                yield from _finding_lines(finding, paint, report.width, result.editable)
        if report.concise and not report.quiet:
            yield _concise_summary(result, paint)
        elif not report.quiet:
            yield from _summary_lines(result, paint, report.width)


def format_findings(findings: Iterable[Finding], color: bool = False, width: int = 0) -> str:
    """Findings as text, for the error of a command that cannot continue because of them; arguments as in `Report`."""
    return "\n".join(line for finding in findings for line in _finding_lines(finding, AnsiStyle(color), width))


def _finding_lines(finding: Finding, paint: AnsiStyle, width: int = 0, show_fix: bool = False) -> Iterator[str]:
    """The lines of an entry, wrapped to `width` columns (0: not wrapped); `show_fix` as in `_finding_headline`."""
    yield wrap_line(_finding_headline(finding, paint, show_fix), width)
    place = finding.location
    if place and place.excerpt.strip() and not is_secret_path(finding.path):
        margin = f"  {place.line} |"
        room = max(20, width - len(margin) - 3) if width else 100
        from osbctl.masking import mask_secrets  # only an excerpt needs it

        line = mask_secrets(place.excerpt, place.secrets)
        shown, carets = excerpt_with_carets(line, place.column, place.end, min(room, 100))
        yield f"{paint(margin, 'dim')} {shown}"
        yield f"{paint(' ' * (len(margin) - 1) + '|', 'dim')} {paint(carets, 'bold')}"
    yield from (wrap_line(line, width, " " * 6) for line in _detail_lines(finding, paint))


def _detail_lines(finding: Finding, paint: AnsiStyle) -> Iterator[str]:
    if places := format_other_places(finding):
        yield f"    also at {places}"
    if finding.refused_by_text:
        yield f"    {finding.refused_by_text}"
    for quote in finding.quotes:
        yield f"    {quote.platform.label}: “{escape_line(text_of(quote.sentence))}”"
    if finding.advice:
        yield f"    {paint('hint:', 'info')} {escape_line(finding.advice)}"
    yield ""


def format_other_places(finding: Finding) -> str:
    """The other places of a group as `line:column`, with the source where it is not that of the first; at most ten."""
    (_, *others), more = finding.places_to_name()
    same_source = f"{finding.location.source}:" if finding.location else ""
    places = [escape_line(str(other.location).removeprefix(same_source)) for other in others]
    return ", ".join(places) + (f" and {more:,} more" if more else "")


def _finding_headline(finding: Finding, paint: AnsiStyle, show_fix: bool = False) -> str:
    """The first line of an entry; if `show_fix`, it says whether `osbctl fix` can repair it."""
    where = f"{escape_line(str(finding.location))}: " if finding.location else ""
    severity = paint(finding.severity.value, finding.severity.value)
    rule = paint(f"[{finding.rule}]", "dim")
    way = _FIXED[is_safely_fixable(finding)] if show_fix else ""
    return f"{paint(where, 'bold')}{severity}: {escape_line(finding.message)} {rule}{paint(way, 'safe') if way else ''}"


def is_safely_fixable(finding: Finding) -> bool | None:
    """True if `osbctl fix` repairs it; False if that needs --unsafe, None if the author must decide."""
    return any(fix.safe for fix in finding.fixes) if finding.fixes else None


def _format_fixable_count(report: Report) -> str:
    """Number of findings that `osbctl fix` would repair, as text. Empty for 0."""
    counts: Counter[bool | None] = Counter()
    for findings in [result.findings for result in report.results if result.editable]:
        safely = {finding.path for finding in findings if is_safely_fixable(finding)}  # unsafe ones there vanish, too
        counts.update(is_safely_fixable(f) for f in findings if is_safely_fixable(f) or f.path not in safely)
    if not counts[True]:
        return f"{counts[False]:,} fixable with `osbctl fix --unsafe`" if counts[False] else ""
    more = f", {counts[False]:,} more with --unsafe" if counts[False] else ""
    return f"{counts[True]:,} fixable with `osbctl fix`{more}"


def _summary_lines(result: ValidationResult, paint: AnsiStyle, width: int) -> Iterator[str]:
    headline = f"{paint(escape_line(result.name), 'bold')}: {_format_counts(result.findings, result.left_out)}"
    yield wrap_line(headline, width)
    # An unreadable document has no verdicts, and its findings say why.
    verdicts = {p: verdict for p, verdict in result.verdicts.items() if verdict.kind is not VerdictKind.UNREADABLE}
    texts = {p.label: _format_verdict(p, verdict, result, paint) for p, verdict in verdicts.items()}
    if len(texts) == len(Platform) and len(set(texts.values())) == 1:
        texts = {"every platform": next(iter(texts.values()))}
    column = max(map(len, texts), default=0)
    for label, text in texts.items():
        yield wrap_line(f"  {label:<{column}}  {text}", width, " " * (column + 4))
    yield ""


def _concise_summary(result: ValidationResult, paint: AnsiStyle) -> str:
    """A document in one line: numbers of findings, and platforms that do not accept it."""
    parts = [paint(escape_line(result.name), "bold") + ": " + _format_counts(result.findings, result.left_out)]
    for kind, word in _NOT_ACCEPTED.items():
        platforms = [platform for platform, verdict in result.verdicts.items() if verdict.kind is kind]
        parts += [f"{paint(word, kind.value)} {format_platforms(platforms)}"] if platforms else []
    return "; ".join(parts)


def _format_verdict(platform: Platform, verdict: Verdict, result: ValidationResult, paint: AnsiStyle) -> str:
    """Verdict of a platform, with the number and the rules of its refusals."""
    kind = paint(verdict.kind.value, verdict.kind.value)
    if verdict.why:
        return f"{kind}: {escape_line(verdict.why)}"
    if verdict.kind is not VerdictKind.REFUSES:
        return kind
    more = verdict.reasons > MAX_REFUSALS
    number = f"more than {MAX_REFUSALS:,} reasons" if more else plural(verdict.reasons, "reason")
    rules = dict.fromkeys(finding.rule for finding in result.findings if platform in finding.refused_by)
    left = f" and {len(rules) - _MAX_RULES:,} more" if len(rules) > _MAX_RULES else ""
    return f"{kind} ({number}): {', '.join([*rules][:_MAX_RULES])}{left}" if rules else f"{kind} ({number})"


def _format_counts(findings: Sequence[Finding], left_out: int) -> str:
    numbers = {severity: sum(f.severity is severity for f in findings) for severity in Severity}
    parts = [
        f"{number:,} info" if severity is Severity.INFO else plural(number, severity.value)
        for severity, number in numbers.items()
        if number
    ]
    if left_out:
        parts = [*(parts or ["nothing shown"]), f"{left_out:,} hidden"]
    return ", ".join(parts) or "no findings"

# SPDX-License-Identifier: Apache-2.0
"""Reads C++ far enough to find conditions and tables: comments and literals masked, brackets matched, expressions split at
their logical operators. It relies on the tree's clang-format: a comparison has a blank on both sides, a template has none."""
import re

OPEN = {"(": ")", "[": "]", "{": "}"}
CLOSE = {close: open_ for open_, close in OPEN.items()}


def masked(text):
    """The text with comments and literals blanked, each character where it was."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|^#[^\n]*',
        re.S | re.M)
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def matching(code, start):
    """Where the bracket that opens at `start` closes."""
    depth = 0
    for at in range(start, len(code)):
        if code[at] in OPEN:
            depth += 1
        elif code[at] in CLOSE:
            depth -= 1
            if depth == 0:
                return at
    raise ValueError("no bracket closes the one at %d" % start)


def split(code, begin, end, separators):
    """[begin, end) at the separators that are in no bracket, as (begin, end) without blanks around."""
    parts, depth, at, first = [], 0, begin, begin
    while at < end:
        if code[at] in OPEN:
            depth += 1
        elif code[at] in CLOSE:
            depth -= 1
        found = next((s for s in separators if depth == 0 and code.startswith(s, at)), None)
        if found:
            parts.append(trimmed(code, first, at))
            at += len(found)
            first = at
            continue
        at += 1
    parts.append(trimmed(code, first, end))
    return parts


def trimmed(code, begin, end):
    while begin < end and code[begin].isspace():
        begin += 1
    while end > begin and code[end - 1].isspace():
        end -= 1
    return begin, end


def in_brackets(code, begin, end):
    """Is all of it one pair of round brackets?"""
    return begin < end and code[begin] == "(" and matching(code, begin) == end - 1


COMPARISON = re.compile(r"\s(<=|>=|<|>|==|!=)\s")


def comparison(code, begin, end):
    """The one comparison of a leaf that is in no bracket, as (begin, end) of its operator, or None."""
    found, depth = [], 0
    for at in range(begin, end):
        if code[at] in OPEN:
            depth += 1
        elif code[at] in CLOSE:
            depth -= 1
        elif depth == 0:
            match = COMPARISON.match(code, at, end)
            if match:
                found.append(match.span(1))
    return found[0] if len(found) == 1 else None


def one_line(text):
    """For names: comments out, blanks made one."""
    return " ".join(re.sub(r"//[^\n]*", " ", text).split())

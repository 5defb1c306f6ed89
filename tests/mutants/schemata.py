# SPDX-License-Identifier: Apache-2.0
"""Generated mutants. Every guard, predicate and row of a transition table of a file becomes a choice that a number in the
environment makes at run time, so that one build holds all mutants of a file and each costs only a run of its tests.

What is made:
  guard     a whole `if` condition is true, false, or the opposite
  operand   one operand of && is taken as true, or one of || as false, in a condition or a predicate
  border    < becomes <=, >= becomes >, and so on, in both
  predicate what is returned or assigned, if it is a comparison or made of && and ||, is the opposite
  row       a row of a table is another row of it
  cell      a cell of a table is another one of its column
"""
import re
from dataclasses import dataclass, field

import cpp_text as cpp

BORDERS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
HEADER = '#include "loom_mutant.hpp"\n'
SWITCH = """// Which mutant is on: the number in LIGHTLOOM_MUTANT, or none. What was reached is written to LIGHTLOOM_MUTANT_REACHED at exit.
#pragma once
#include <cstdio>
#include <cstdlib>
// A condition that is there twice warns of what the tree's own text does not.
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wint-in-bool-context"
#pragma GCC diagnostic ignored "-Wunused-const-variable"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Warray-bounds"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
namespace loom_mutant {
inline constexpr int kMost = 20'000;
struct Switch {
  int on = 0;
  const char* report = nullptr;
  bool reached[kMost] = {};
  Switch() : report(std::getenv("LIGHTLOOM_MUTANT_REACHED")) {
    const char* number = std::getenv("LIGHTLOOM_MUTANT");
    on = number == nullptr ? 0 : std::atoi(number);
  }
  ~Switch() {
    std::FILE* file = report == nullptr ? nullptr : std::fopen(report, "a");
    if (file == nullptr) return;
    for (int i = 0; i < kMost; ++i) {
      if (reached[i]) std::fprintf(file, "%d\\n", i);
    }
    std::fclose(file);
  }
};
inline Switch& the_switch() {
  static Switch one;
  return one;
}
constexpr bool is_on(int number) {
  if consteval {
    return false;
  } else {
    Switch& all = the_switch();
    if (all.report != nullptr) all.reached[number] = true;
    return all.on == number;
  }
}
inline bool is_on_at_start(int number) { return is_on(number); }
}  // namespace loom_mutant
#define LOOM_MUTANT_ON(number) (::loom_mutant::is_on(number))
/// In what is made once, at start: a compiler would ask the other one at compile time.
#define LOOM_MUTANT_ON_AT_START(number) (::loom_mutant::is_on_at_start(number))
"""


def shortened(text):
    return text if len(text) <= 160 else text[:157] + "..."


@dataclass
class Mutant:
    file: str
    line: int
    kind: str
    what: str  # the text that is changed, and into what
    number: int = 0
    name: str = field(default="")


class Schemata:
    """Mutants of one file. `numbers` yields the next free number."""

    def __init__(self, path, text, numbers):
        self.path, self.text, self.code, self.numbers = path, text, cpp.masked(text), numbers
        self.mutants = []
        self.tables = []  # (begin, end) of table definitions, which hold no conditions

    def make(self):
        """The file with all of its mutants in it."""
        edits = self.table_edits()
        edits += self.condition_edits()
        text = self.text
        for begin, end, new in sorted(edits, reverse=True):
            text = text[:begin] + new + text[end:]
        seen = {}
        for mutant in sorted(self.mutants, key=lambda each: each.number):
            seen[mutant.what] = seen.get(mutant.what, 0) + 1
            again = "" if seen[mutant.what] == 1 else " #%d" % seen[mutant.what]
            mutant.name = "%s | %s%s" % (mutant.file, mutant.what, again)
        return HEADER + "#line 1\n" + text if "#pragma once" not in text else text.replace(
            "#pragma once", "#pragma once\n" + HEADER, 1)

    def add(self, begin, kind, what):
        mutant = Mutant(self.path, self.text.count("\n", 0, begin) + 1, kind, what, next(self.numbers))
        self.mutants.append(mutant)
        return "LOOM_MUTANT_ON(%d)" % mutant.number

    def source(self, begin, end):
        return self.text[begin:end]

    def named(self, begin, end):
        return cpp.one_line(self.source(begin, end))

    # --- conditions ---------------------------------------------------------------------------------------------------

    def condition_edits(self, first=0, last=None):
        """Of all conditions in a stretch of the file that are in no other one."""
        edits, done = [], first
        for match in re.finditer(r"\bif \(|\breturn\b|(?<=[\w\])]) = ", self.code):
            begin, end = match.start(), match.end()
            in_table = any(b <= begin < e for b, e in self.tables)
            if begin < done or in_table or (last is not None and begin >= last):
                continue
            if match.group(0) == "if (":
                edits.append(self.guard_edit(end - 1))
                done = edits[-1][1] if edits[-1][0] < edits[-1][1] else done
                continue
            begin, end = cpp.trimmed(self.code, end, self.statement_end(end))
            if self.is_logical(begin, end):
                edits.append((begin, end, self.predicate(begin, end)))
                done = end
        return edits

    def rewritten(self, first, last):
        """The text of a stretch with the conditions of its lambdas as choices."""
        text = self.text[first:last]
        for begin, end, new in sorted(self.condition_edits(first, last), reverse=True):
            text = text[:begin - first] + new + text[end - first:]
        return text

    def statement_end(self, at):
        depth = 0
        while at < len(self.code):
            if self.code[at] in cpp.OPEN:
                depth += 1
            elif self.code[at] in cpp.CLOSE:
                depth -= 1
            if depth < 0 or (self.code[at] == ";" and depth == 0):
                return at
            at += 1
        return at

    def is_logical(self, begin, end):
        """An expression whose value is surely a bool: operands of && and ||, or one comparison."""
        if any(len(cpp.split(self.code, begin, end, [mark])) > 1 for mark in ("?", ",", " << ")):
            return False
        return len(cpp.split(self.code, begin, end, ["||", "&&"])) > 1 or cpp.comparison(self.code, begin, end) is not None

    def guard_edit(self, opening):
        closing = cpp.matching(self.code, opening)
        parts = cpp.split(self.code, opening + 1, closing, [";"])
        begin, end = parts[-1]
        declaration = re.match(r"(?:const )?[\w:<>,\s&*]+[&*\s]\b(\w+) = ", self.code[begin:end])
        if declaration:
            value = declaration.group(1)
            label = "if (%s)" % self.named(begin, end)
            on_false = self.add(begin, "guard", label + " -> false")
            return end, end, "; (%s ? false : bool(%s))" % (on_false, value)
        label = shortened("if (%s)" % self.named(begin, end))
        on_true = self.add(begin, "guard", label + " -> true")
        on_false = self.add(begin, "guard", label + " -> false")
        opposite = self.add(begin, "guard", label + " -> opposite")
        inner = self.expression(begin, end, label, None)
        return begin, end, "(%s ? true : %s ? false : %s ? !(%s) : bool(%s))" % (on_true, on_false, opposite, inner, inner)

    def predicate(self, begin, end):
        label = shortened(self.named(begin, end))
        opposite = self.add(begin, "predicate", label + " -> opposite")
        inner = self.expression(begin, end, label, None)
        return "(%s ? !(%s) : bool(%s))" % (opposite, inner, inner)

    def expression(self, begin, end, label, neutral):
        """The expression with its operands and borders as choices. `neutral`: the value that drops it from what it is in."""
        code = self.code
        for separators, value in ((["||"], "false"), (["&&"], "true")):
            parts = cpp.split(code, begin, end, separators)
            if len(parts) > 1 and len(cpp.split(code, begin, end, ["?"])) == 1:
                join = " %s " % separators[0]
                return join.join(self.expression(b, e, label, value) for b, e in parts)
        if cpp.in_brackets(code, begin, end) and len(cpp.split(code, begin + 1, end - 1, ["||", "&&"])) > 1:
            inner = self.expression(*cpp.trimmed(code, begin + 1, end - 1), label, None)
            return self.choice(begin, end, "(%s)" % inner, label, neutral)
        if code[begin] == "!" and cpp.in_brackets(code, begin + 1, end):
            inner = self.expression(*cpp.trimmed(code, begin + 2, end - 1), label, None)
            return self.choice(begin, end, "!(%s)" % inner, label, neutral)
        return self.choice(begin, end, self.border(begin, end, label), label, neutral)

    def choice(self, begin, end, inner, label, neutral):
        if neutral is None:
            return inner
        on = self.add(begin, "operand", "%s: without %s" % (label, self.named(begin, end)))
        return "(%s ? %s : bool(%s))" % (on, neutral, inner)

    def border(self, begin, end, label):
        at = cpp.comparison(self.code, begin, end)
        operator = at and self.code[at[0]:at[1]]
        if operator not in BORDERS:
            return self.rewritten(begin, end)
        left, right = self.rewritten(begin, at[0]), self.rewritten(at[1], end)
        on = self.add(begin, "border", "%s: %s with %s" % (label, self.named(begin, end), BORDERS[operator]))
        return "(%s ? (%s%s%s) : (%s%s%s))" % (on, left, BORDERS[operator], right, left, operator, right)

    # --- tables -------------------------------------------------------------------------------------------------------

    def table_edits(self):
        edits = []
        pattern = re.compile(r"\bconstexpr (?=[^;=()]*\b(?:Row|\w+Row|Reaction|\w+Reaction)\b[^;=()]*\bk\w+(?:\[\])?\s*=?\s*\{)")
        for match in pattern.finditer(self.code):
            opening = self.code.index("{", match.end())
            closing = cpp.matching(self.code, opening)
            self.tables.append((match.start(), closing))
            edits.append((match.start(), match.start() + len("constexpr"), "const"))
            name = re.search(r"\b(k\w+)(?:\[\])?\s*=?\s*$", self.code[match.end():opening]).group(1)
            line = self.code[self.code.rfind("\n", 0, match.start()) + 1:match.start()]
            is_local = line.startswith(" ") and "static" not in line
            rows = self.row_edits(name, opening, closing)
            edits += rows if is_local else [(b, e, t.replace("_ON(", "_ON_AT_START(")) for b, e, t in rows]
        return edits

    def row_edits(self, name, opening, closing):
        begin, end = cpp.trimmed(self.code, opening + 1, closing)
        if self.code[begin] == "{" and cpp.matching(self.code, begin) == end - 1:
            begin, end = begin + 1, end - 1
        rows = [self.cells(*part) for part in cpp.split(self.code, begin, end, [","]) if part[0] < part[1]]
        edits = []
        for index, row in enumerate(rows):
            other = rows[index - 1] if index > 0 else rows[1]
            text = "{%s}" % ", ".join(self.named(b, e) for b, e in row) if len(row) < 7 else ""
            on_row = self.add(row[0][0], "row", "%s: row %d %s -> the one beside it" % (name, index + 1, text)) if len(row) > 1 else None
            for column, (b, e) in enumerate(row):
                values = [self.named(*each[column]) for each in rows]
                mine = values[index]
                new = next((v for v in values[index + 1:] + values[:index] if v != mine), None)
                new = new or next((self.named(*each) for each in row if self.named(*each) != mine and len(rows) == len(row)), None)
                result = self.source(b, e)
                if new:
                    on = self.add(b, "cell", "%s: cell %d of row %d %s: %s -> %s" % (name, column + 1, index + 1, text, mine, new))
                    result = "(%s ? %s : %s)" % (on, new, result)
                if on_row:
                    result = "(%s ? %s : %s)" % (on_row, self.named(*other[column]), result)
                edits.append((b, e, result))
        return edits

    def cells(self, begin, end):
        if self.code[begin] == "{" and cpp.matching(self.code, begin) == end - 1:
            return [part for part in cpp.split(self.code, begin + 1, end - 1, [","]) if part[0] < part[1]]
        return [(begin, end)]

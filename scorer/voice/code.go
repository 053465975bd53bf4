package voice

import (
	"strings"

	"hippocampus/internal/lazyregexp"
)

var (
	// logged matches the beginnings of lines of logs and of stack traces.
	logged = lazyregexp.New(`^\s*(?:` +
		`\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d|\[?\d\d:\d\d:\d\d\b|` +
		`(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d+ \d\d:\d\d:\d\d |` +
		`\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL|CRITICAL)(?:\]|:|\s\s)|\[(?i:error|warn|warning|info|debug)\]|` +
		`npm (?:ERR!|WARN|error)|(?:\d{1,3}\.){3}\d{1,3} |(?:[\w.]+=(?:"[^"]*"|\S+) ){2}|` +
		`Traceback \(|File ".*", line \d|at [\w.$<>/]+\(.*\)|Exception in |Caused by: |[\w.]*(?:Error|Exception): |` +
		`panic: |goroutine \d+ \[|fatal error: |exit status \d|[\w./$]+\(0x[0-9a-f]+|` +
		`/[\w./-]+:\d+)`)

	// prompt is a line of a terminal: the rest of its paragraph is the terminal's answer.
	prompt = lazyregexp.New(`^\s*(?:\$ \S|[\w.-]+@[\w.-]+[:~].*[$#] |[A-Z]:\\[^>]*>|>>> )`)

	// coded matches the beginnings of lines of code.
	coded = lazyregexp.New(`^\s*(?:` +
		`import [\w.]+(?: as \w+)?;?$|import [{*"'(]|from [\w.]+ import |package [\w.]+;?$|#!/|#include\b|using [\w.]+;|` +
		`(?:async )?def \w+\(|class \w+\s*[(:{]|(?:func|fn|function) ?[\w(].*[({]|` +
		`(?:public|private|protected) (?:static |final |class |void |[\w<>\[\]]+ \w+ ?[=(;])|` +
		`(?:const|let|var) [\w{}\[\], ]+(?: [\w\[\].*]+)? ?=|var [\w, ]+ [\w\[\]*]*[.\[\]*][\w.\[\]*]+$|\{\{|` +
		`export (?:default |const |function |class |[A-Z_]+=)|` +
		`(?:type|struct|interface|enum|impl|trait|namespace) \w+.*\{$|` +
		`(?:for|while|if|elif|else if|switch)\b.*[({=].*[:{]\s*$|(?:try|else|finally):$|` +
		`(?:SELECT|WITH)\b.*\bFROM\b|INSERT INTO |UPDATE \w+ SET |DELETE FROM |(?:CREATE|DROP|ALTER) (?:TABLE|INDEX|VIEW) |` +
		`(?i:select .+ from .+;$)|` +
		`</?[a-zA-Z][\w-]*(?: [^<>]*)?/?>|<!--|"[\pL\w-]+"\s*:\s|[{\[]\s*"[^"]*"\s*:|SELECT\b.*;|` +
		`[{}\[\]()]+[,;]?\s*$|=[A-Z]+\(|` +
		`//|/\*|"""|'''|@\w+(?:\(.*\))?$|` +
		`[\w.\[\]]+ ?(?::=|\+=|-=) ?\S|[\w.\[\]]+ = \S|[\w.]+\(.*\);?\s*$|` +
		`(?:sudo|git|npm|npx|yarn|docker|kubectl|curl|wget|pip3?|apt-get|brew|chmod|mkdir|ssh|tar) [\w./-]+(?:$| [^.!?]*$)` +
		`)`)
)

// isCode reports whether a line, without spaces at its end, begins or ends as a line of code.
func isCode(text string) bool {
	if before, ok := strings.CutSuffix(text, ";"); ok && strings.ContainsAny(before, codeMarks) {
		return true
	}
	before, opens := strings.CutSuffix(text, "{")
	if opens && strings.ContainsAny(before, codeMarks) {
		return true
	}
	if !opens {
		before = strings.TrimSuffix(text, "(")
	}
	return strings.HasSuffix(strings.TrimRight(before, " \t"), "=>") || coded.MatchString(text)
}

// codeMarks are characters that sentences which end with a semicolon or a brace lack.
const codeMarks = "=(){}<>[]$_"

// markLogs marks lines of logs, traces of a stack, and lines of terminals.
func markLogs(lines []line) {
	typed := false
	for i, l := range lines {
		switch {
		case l.isBlank():
			typed = false
		case l.kind != Own:
		case prompt.MatchString(l.content()):
			typed = true
			lines[i].kind = Log
		case typed, logged.MatchString(l.content()):
			lines[i].kind = Log
		}
	}
	fill(lines, Log)
}

// comment begins a comment of a program.
var comment = lazyregexp.New(`^\s*(?:#|--|\*|;;)(?: |$)`)

// markCode marks lines of code that no fence encloses, with the blocks that braces enclose and the comments next to
// them.
func markCode(lines []line) {
	for i, l := range lines {
		if l.kind == Own && isCode(l.content()) {
			lines[i].kind = Code
		}
	}
	fill(lines, Code)
	fillBlocks(lines)
	after := false // code
	for i := range lines {
		after = joinComment(lines, i, after)
	}
	after = false
	for i := len(lines) - 1; i >= 0; i-- {
		after = joinComment(lines, i, after)
	}
}

// joinComment marks a comment next to code. It reports whether the line after it in the order of reading is next to
// code.
func joinComment(lines []line, i int, next bool) bool {
	l := lines[i]
	if l.isBlank() {
		return next
	}
	if next && l.kind == Own && comment.MatchString(l.content()) {
		lines[i].kind = Code
	}
	return lines[i].kind == Code
}

// fillBlocks marks the lines between code that ends with "{" or "(" and the first code that begins with "}" or ")" in
// the same column, and those between lines of code with a mark of three quotes.
func fillBlocks(lines []line) {
	opened := map[int]int{} // lines by their columns
	filled := 0             // lines before it need no mark any more
	docstring := -1         // line that opens one
	for i, l := range lines {
		if l.kind != Code {
			continue
		}
		text := l.trimmed()
		if strings.Count(text, `"""`)%2 == 1 {
			if docstring >= 0 {
				mark(lines[docstring:i], Code)
				docstring = -1
			} else {
				docstring = i
			}
		}
		column := strings.Index(l.text, text)
		if start, isOpen := opened[column]; isOpen && strings.IndexAny(text, "})") == 0 {
			mark(lines[max(start, filled):i], Code)
			filled = i
			delete(opened, column)
		}
		if strings.HasSuffix(text, "{") || strings.HasSuffix(text, "(") {
			opened[column] = i
		}
	}
}

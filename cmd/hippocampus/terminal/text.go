package terminal

import (
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// Line returns text on one line, without control characters, which could change the terminal.
func Line(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// Text returns text without control characters other than line breaks.
func Text(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = clean(line)
	}
	return strings.Join(lines, "\n")
}

// clean replaces control characters by spaces, and drops characters that change the direction of text.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		}
		return r
	}, text)
}

// Width returns how many columns a line takes; characters of Chinese take two.
func Width(line string) int { return uniseg.StringWidth(line) }

// Truncate shortens a line to a width. The end of a shortened line is "…".
func Truncate(line string, width int) string {
	if Width(line) <= width {
		return line
	}
	var kept strings.Builder
	left, state := width-1, -1
	for line != "" {
		var cluster string
		var columns int
		cluster, line, columns, state = uniseg.FirstGraphemeClusterInString(line, state)
		if left -= columns; left < 0 {
			break
		}
		kept.WriteString(cluster)
	}
	return kept.String() + "…"
}

// Wrap breaks text into lines of at most a width where Unicode's line breaking algorithm allows. A longer word gets a
// line of its own. A width of 0 keeps the lines of the text.
func Wrap(text string, width int) []string {
	if width <= 0 {
		return strings.Split(text, "\n")
	}
	var lines []string
	line, state := "", -1
	for text != "" {
		var segment string
		var mustBreak bool
		segment, text, mustBreak, state = uniseg.FirstLineSegmentInString(text, state)
		if line != "" && Width(strings.TrimRight(line+segment, " \n")) > width {
			lines, line = append(lines, strings.TrimRight(line, " ")), ""
		}
		line += segment
		if mustBreak {
			lines, line = append(lines, strings.TrimRight(line, " \n")), ""
		}
	}
	return lines
}

// pad fills a line with spaces up to a width, on its right or on its left.
func pad(line string, width int, left bool) string {
	space := strings.Repeat(" ", max(0, width-Width(line)))
	if left {
		return space + line
	}
	return line + space
}

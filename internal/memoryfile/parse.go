package memoryfile

import (
	"regexp"
	"strings"

	"hippocampus/internal/memory"
)

var (
	headingLine = regexp.MustCompile(`^(#{1,6})[ \t]+(.*?)[ \t]*#*\s*$`)
	bulletLine  = regexp.MustCompile(`^[-*+][ \t]+\S`)
	fenceLine   = regexp.MustCompile("^ {0,3}(?:(```+)[^`]*|(~~~+).*)\\s*$")
	// marker is the comment of a bullet. Groups: id of a memory, id of an instruction, revision.
	marker = regexp.MustCompile(`[ \t]*<!-- (?:m:([0-9a-f-]{36})|(i:[^\s<>"]+))(?: rev:([0-9a-z._]+))? -->`)
	// rule is a thematic break, such as "- - -", without its first character.
	rule = regexp.MustCompile(`^[-*_ \t]*$`)
)

// read reads the lines from start on into parts.
func (d *Document) read(lines []string, start int) error {
	section, depth := memory.Type(""), 0
	end, begun := "", 0 // of the code block or the comment that the line is in
	for i := start; i < len(lines); {
		line, next := lines[i], i+1
		p := &part{raw: line, section: section}
		fence := fenceLine.FindStringSubmatch(line)
		heading := headingLine.FindStringSubmatch(line)
		switch {
		case end != "":
			if strings.Contains(line, end) {
				end = ""
			}
		case fence != nil:
			end, begun = fence[1]+fence[2], next
		case heading != nil:
			if named := d.form.typeOf(heading[2]); named != "" || len(heading[1]) <= depth {
				section, depth = named, len(heading[1])
			}
			p.section, p.heading = section, true
		case bulletLine.MatchString(line):
			next = endOfBullet(lines, next)
			raw := strings.Join(lines[i:next], "")
			if bullet := readBullet(raw); bullet != nil {
				bullet.Line = i + 1
				p.raw, p.bullet = raw, bullet
			} else {
				next = i + 1
			}
		case opensComment(line):
			end, begun = "-->", next
		}
		d.parts = append(d.parts, p)
		i = next
	}
	if end != "" {
		return memory.Errorf(memory.KindInvalid,
			"line %d of the file begins a code block or a comment without an end: add a line with %s", begun, end)
	}
	return nil
}

// opensComment reports whether a comment that begins in a line goes on after it.
func opensComment(line string) bool {
	begin := strings.LastIndex(line, "<!--")
	return begin >= 0 && !strings.Contains(line[begin:], "-->")
}

// endOfBullet returns the index after the last line of a bullet. Indented lines, and the blank lines between them,
// belong to the bullet.
func endOfBullet(lines []string, next int) int {
	for i := next; i < len(lines); i++ {
		switch line := lines[i]; {
		case strings.TrimSpace(line) == "":
		case strings.HasPrefix(line, "  "), strings.HasPrefix(line, "\t"):
			next = i + 1
		default:
			return next
		}
	}
	return next
}

// readBullet reads a bullet; nil if it is empty or a thematic break.
func readBullet(raw string) *Bullet {
	b := &Bullet{}
	lines := strings.Split(raw[1:], "\n")
	for i, line := range lines[1:] {
		if rest, found := strings.CutPrefix(line, "  "); found {
			line = rest
		} else {
			line = strings.TrimPrefix(line, "\t")
		}
		lines[i+1] = line
	}
	text := strings.Join(lines, "\n")
	if found := marker.FindAllStringSubmatch(text, -1); found != nil {
		last := found[len(found)-1]
		b.ID, b.rev = last[1]+last[2], last[3]
		text = marker.ReplaceAllString(text, "")
	}
	b.Text = canonical(unescape(text))
	if b.Text == "" || b.ID == "" && rule.MatchString(b.Text) {
		return nil
	}
	return b
}

// canonical returns a text as a bullet can hold it: without white space around it or at the ends of its lines.
func canonical(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRightFunc(line, isSpace)
	}
	return strings.TrimFunc(strings.Join(lines, "\n"), isSpace)
}

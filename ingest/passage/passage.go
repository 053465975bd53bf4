// Package passage reads the text of documents, and cuts it into passages:
//
//	plain text, Markdown, HTML -> blocks below their headings -> passages
//
// A passage consists of whole blocks, such as paragraphs, list items and rows of tables, and begins with the headings
// above it. A block that is too long is cut at the ends of sentences.
package passage

import (
	"strings"
	"unicode/utf8"

	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Document is what was read.
type Document struct {
	Title    string // that the text gives itself, one line; empty: no title
	Passages []Passage
}

// Passage is a part of a document.
type Passage struct {
	Heading string // the headings above it, at most memory.MaxCitedRunes, as in "Leave > Holiday"
	Content string // the headings in a line of their own, and the text
}

// Read reads a document. It has no passages if it has no visible text. The time grows in proportion to the content.
func Read(content string, as memory.ContentType) Document {
	content = strings.ToValidUTF8(strings.ReplaceAll(content, "\x00", "\uFFFD"), "\uFFFD")
	var r reader
	switch as {
	case memory.HTML:
		r.html(content)
	case memory.Markdown:
		r.markdown(content)
	default:
		r.plain(content)
	}
	return Document{Title: r.title, Passages: r.passages()}
}

// partRunes is the number of characters of a passage, without its headings, as of the parts of a long message.
func partRunes(s string) int {
	if text.IsChinese(s) {
		return 240
	}
	return 600
}

// block is a piece of text that is cut only if it is too long.
type block struct {
	heading string
	text    string
}

// reader collects blocks.
type reader struct {
	title    string
	headings [6]string // by level
	blocks   []block
}

// add adds a block below the present headings.
func (r *reader) add(s string) {
	if s = strings.TrimSpace(text.StripControls(s)); s != "" {
		r.blocks = append(r.blocks, block{heading: r.path(), text: s})
	}
}

// head begins a section. The first heading of the first level is the title if the text has no other.
func (r *reader) head(level int, s string) {
	s = clip(strings.Join(strings.Fields(text.StripControls(s)), " "), memory.MaxTitleRunes)
	if s == "" {
		return
	}
	if r.title == "" && level == 1 {
		r.title = s
	}
	r.headings[level-1] = s
	clear(r.headings[level:])
}

// path is the present headings without the title. The innermost ones stay if it is too long.
func (r *reader) path() string {
	var names []string
	for level, name := range r.headings {
		if name != "" && !(level == 0 && name == r.title) {
			names = append(names, name)
		}
	}
	path := strings.Join(names, " > ")
	for len(names) > 1 && utf8.RuneCountInString(path) > memory.MaxCitedRunes {
		names = names[1:]
		path = strings.Join(names, " > ")
	}
	return clip(path, memory.MaxCitedRunes)
}

// passages packs the blocks of each section.
func (r *reader) passages() (list []Passage) {
	var packed []string
	heading, size := "", 0
	flush := func() {
		if len(packed) == 0 {
			return
		}
		content := strings.Join(packed, "\n")
		if heading != "" {
			content = heading + "\n" + content
		}
		list = append(list, Passage{Heading: heading, Content: content})
		packed, size = nil, 0
	}
	for _, b := range r.blocks {
		most := partRunes(b.text)
		for _, part := range text.Divide(b.text, most) {
			n := utf8.RuneCountInString(part)
			if b.heading != heading || size+n > most {
				flush()
			}
			heading = b.heading
			packed, size = append(packed, part), size+n
		}
	}
	flush()
	return list
}

// clip returns the first runes of a text.
func clip(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimSpace(string([]rune(s)[:most]))
}

var blankLine = lazyregexp.New(`\n[ \t\r]*\n`)

// plain reads paragraphs, which blank lines separate.
func (r *reader) plain(content string) {
	for _, paragraph := range blankLine.Split(strings.ReplaceAll(content, "\r\n", "\n"), -1) {
		r.add(paragraph)
	}
}

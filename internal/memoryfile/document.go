// Package memoryfile reads and writes a user's memories as a Markdown file that people edit:
//
//	bytes -> Form.Parse -> Document -> Merge (with the present memories) -> Plan: what to add, change and forget
//	                  Document -> Show (with the memories after that) -> Bytes
//
// One bullet is one memory. Its comment holds the memory's id, and a revision that is computed from the text and the
// type which were last written, so that Merge distinguishes changes of the file from changes of the server without a
// record of earlier synchronizations. Every byte outside of the bullets stays as it is.
package memoryfile

import (
	"strings"

	"hippocampus/internal/memory"
)

// Memory is a memory, or an instruction, as a file shows it.
type Memory struct {
	ID      string // of a memory, or as of IDOfInstruction
	Type    memory.Type
	Content string
}

// Document is a parsed file.
type Document struct {
	User, Agent string // of the front matter; empty: it names no user or agent
	Revision    string // of the memories that the file showed when it was written; empty: unknown

	form  *Form
	front *frontMatter
	parts []*part
	bom   bool
	eol   string // the line ending of what is written into the file
	open  bool   // the last line has no line ending
}

// part is a line that is not a memory, or a bullet.
type part struct {
	raw     string      // with line endings
	section memory.Type // of the section that it is in; empty: the section names no type
	heading bool
	bullet  *Bullet
}

// Bullet is one memory of a file.
type Bullet struct {
	Line int    // of the file, from 1
	ID   string // empty: the memory is to be added
	Type memory.Type
	Text string // as it is compared and stored

	rev      string // of the comment; empty: the comment has no revision
	surplus  bool   // repeats another bullet
	conflict bool
	rival    string // the memory that a conflict is about
}

// Split makes a changed bullet a memory of its own, since the memory that it states was changed or forgotten elsewhere.
func (b *Bullet) Split() {
	b.rival, b.ID = b.ID, ""
	b.conflict = true
}

// Rival is the id of the memory that a conflict is about; empty without a conflict.
func (b *Bullet) Rival() string { return b.rival }

const bom = "\ufeff"

// maxLines is about ten lines for each memory that a file can show.
const maxLines = 50_000

// Parse reads a file of the form. Errors: a front matter of another form or version of the format, text that is not
// UTF-8, or more than maxLines lines.
func (f *Form) Parse(file string) (*Document, error) {
	d := &Document{form: f, eol: "\n"}
	file, d.bom = strings.CutPrefix(file, bom)
	if first, _, found := strings.Cut(file, "\n"); found && strings.HasSuffix(first, "\r") {
		d.eol = "\r\n"
	}
	if file != "" && !strings.HasSuffix(file, "\n") {
		file += d.eol
		d.open = true
	}
	if strings.Count(file, "\n") > maxLines {
		return nil, memory.Errorf(memory.KindInvalid, "the file has more than %d lines: shorten it", maxLines)
	}
	var lines []string
	for line := range strings.Lines(file) {
		lines = append(lines, line)
	}
	used, err := d.readFront(lines)
	if err != nil {
		return nil, err
	}
	if err := d.read(lines, used); err != nil {
		return nil, err
	}
	return d, nil
}

// Bytes returns the file.
func (d *Document) Bytes() string {
	var text strings.Builder
	if d.bom {
		text.WriteString(bom)
	}
	text.WriteString(d.front.text())
	for _, p := range d.parts {
		text.WriteString(p.raw)
	}
	if !d.open {
		return text.String()
	}
	return strings.TrimSuffix(text.String(), d.eol)
}

// bullets lists the bullets in their order.
func (d *Document) bullets() []*part {
	var found []*part
	for _, p := range d.parts {
		if p.bullet != nil {
			found = append(found, p)
		}
	}
	return found
}

package files

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"hippocampus/internal/memoryfile"
)

// report states the effects of a synchronization. Its lists hold ids.
type report struct {
	File      string     `json:"file"`
	Added     []string   `json:"added"`
	Changed   []string   `json:"changed"`
	Forgotten []string   `json:"forgotten"`
	Conflicts []conflict `json:"conflicts"`
	// Shown are the memories that the file lacked and that were added to it.
	Shown []string `json:"shown"`
	// Cleaned counts the characters of the sent file that became U+FFFD.
	Cleaned int `json:"cleaned,omitempty"`
	// Secrets counts the secrets that were cut out of the sent file and replaced by [secret].
	Secrets int `json:"secrets,omitempty"`
}

// newReport returns an empty report, whose lists are not null in JSON.
func newReport() report {
	return report{
		Added: []string{}, Changed: []string{}, Forgotten: []string{}, Conflicts: []conflict{}, Shown: []string{},
	}
}

// conflict is a memory that both sides changed.
type conflict struct {
	ID     string `json:"id"`      // of the memory that has the server's text, or is forgotten
	KeptAs string `json:"kept_as"` // id of the memory with the text of the file
	Line   int    `json:"line"`    // of the file that was sent
}

// line is the report as a header.
func (r report) line() string {
	line := fmt.Sprintf("added=%d, changed=%d, forgotten=%d, shown=%d, conflicts=%d",
		len(r.Added), len(r.Changed), len(r.Forgotten), len(r.Shown), len(r.Conflicts))
	if r.Cleaned > 0 {
		line += fmt.Sprintf(", cleaned=%d", r.Cleaned)
	}
	if r.Secrets > 0 {
		line += fmt.Sprintf(", secrets=%d", r.Secrets)
	}
	return line
}

// written has the fields of the answer to a write that a report needs.
type written struct {
	Secrets []struct{} `json:"secrets"` // that were cut out of the request
}

// add records that a bullet was stored under an id.
func (r *report) add(b *memoryfile.Bullet, id string) {
	b.ID = id
	if b.Rival() == "" {
		r.Added = append(r.Added, id)
	} else {
		r.Conflicts = append(r.Conflicts, conflict{ID: b.Rival(), KeptAs: id, Line: b.Line})
	}
}

// clean replaces NUL characters and bytes that are not UTF-8 by U+FFFD, and counts them.
func clean(text string) (cleaned string, count int) {
	if utf8.ValidString(text) && !strings.Contains(text, "\x00") {
		return text, 0
	}
	var b strings.Builder
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		if r == 0 || r == utf8.RuneError && size == 1 {
			count++
			r = utf8.RuneError
		}
		b.WriteRune(r)
		rest = rest[size:]
	}
	return b.String(), count
}

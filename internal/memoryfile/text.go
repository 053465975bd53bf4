package memoryfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"hippocampus/internal/memory"
)

func isSpace(r rune) bool { return unicode.IsSpace(r) }

// A comment within a text is escaped, since it could be the comment of another bullet.
var (
	comment        = regexp.MustCompile(`<(\\*)!--`)
	escapedComment = regexp.MustCompile(`<\\(\\*)!--`)
)

func escape(text string) string   { return comment.ReplaceAllString(text, `<\$1!--`) }
func unescape(text string) string { return escapedComment.ReplaceAllString(text, `<$1!--`) }

// tagOf returns an id as it is written in a comment.
func tagOf(id string) string {
	if strings.HasPrefix(id, instructionID) {
		return id
	}
	return "m:" + id
}

// markerOf is the comment of a memory.
func markerOf(m Memory) string {
	return fmt.Sprintf("<!-- %s rev:%s -->", tagOf(m.ID), revOf(m.Type, canonical(m.Content)))
}

// bulletOf is the bullet of a memory.
func bulletOf(m Memory, eol string) string {
	lines := strings.Split(escape(canonical(m.Content)), "\n")
	for i, line := range lines[1:] {
		if line != "" {
			lines[i+1] = "  " + line
		}
	}
	return "- " + strings.Join(lines, eol) + " " + markerOf(m) + eol
}

// marked returns the bytes of a bullet with the comment of a memory, and with no other change.
func marked(raw string, m Memory) string {
	if found := marker.FindAllStringIndex(raw, -1); found != nil {
		last := found[len(found)-1]
		if strings.TrimLeft(raw[last[0]:last[1]], " \t") == markerOf(m) && len(found) == 1 {
			return raw
		}
		raw = marker.ReplaceAllString(raw, "")
	}
	text := strings.TrimRightFunc(raw, isSpace)
	return text + " " + markerOf(m) + raw[len(text):]
}

// hashDigits is the number of hexadecimal digits of a text's hash in a revision.
const hashDigits = 12

// revOf is the revision of a memory: a hash of its canonical text, and its type.
func revOf(kind memory.Type, text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:hashDigits] + "." + string(kind)
}

// RevisionOf is the revision of a file: a hash of the memories that it shows, whatever their order.
func RevisionOf(shown []Memory) string {
	lines := make([]string, len(shown))
	for i, m := range shown {
		lines[i] = m.ID + " " + revOf(m.Type, canonical(m.Content)) + "\n"
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return hex.EncodeToString(sum[:])[:2*hashDigits]
}

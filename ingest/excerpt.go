package ingest

import (
	"strings"
	"unicode/utf8"
)

// maxExcerpt bounds the stored part of a refused answer or an error, in bytes.
const maxExcerpt = 1000

// excerpt makes a text storable: bounded, valid UTF-8, not empty, without NUL.
func excerpt(s string) string {
	cut := s[:min(len(s), maxExcerpt)]
	for cut != "" && len(cut) < len(s) && !utf8.RuneStart(s[len(cut)]) {
		cut = cut[:len(cut)-1]
	}
	cut = strings.ToValidUTF8(strings.ReplaceAll(cut, "\x00", ""), "\uFFFD")
	if strings.TrimSpace(cut) == "" {
		return "(empty)"
	}
	return cut
}

package text

import (
	"strings"
	"unicode"
)

// Sentences cuts a text after the marks that end sentences and after line ends. The
// sentences keep their marks and spaces: joined they are the text.
func Sentences(s string) []string {
	var list []string
	start, ended := 0, false
	worded := false // it has more than the number of a list item
	for i, r := range s {
		switch {
		case r == '\n':
			list = append(list, s[start:i+1])
			start, ended, worded = i+1, false, false
		case strings.ContainsRune("。！？；", r):
			ended = true
		case strings.ContainsRune(".!?;", r):
			// It ends a sentence if a space follows, unlike the points in "3.5" and "e.g.x".
		case unicode.IsSpace(r) && i > start && strings.IndexByte(".!?;", s[i-1]) >= 0:
			ended = ended || worded
		case ended && !unicode.IsSpace(r) && !strings.ContainsRune(`”’"'」』)）`, r):
			list = append(list, s[start:i])
			start, ended, worded = i, false, false
		}
		worded = worded || !strings.ContainsRune("0123456789. \n", r)
	}
	if start < len(s) {
		list = append(list, s[start:])
	}
	return list
}

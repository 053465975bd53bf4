package memorytool

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode"

	"hippocampus/internal/text"
)

// maxParagraph is the number of characters from which a paragraph is divided: a longer memory is found less well.
const maxParagraph = 1000

// heading matches a line of Markdown that is a heading.
var heading = regexp.MustCompile(`^#{1,6}\s`)

// Paragraphs divides a content at blank lines and before headings, which belong to the paragraph that follows them.
// Longer paragraphs are divided after lines and sentences.
func Paragraphs(content string) []string {
	var all []string
	var lines []string
	worded := false // lines hold more than headings
	end := func() {
		all = append(all, text.Divide(strings.Join(lines, "\n"), maxParagraph)...)
		lines, worded = nil, false
	}
	for line := range strings.SplitSeq(content, "\n") {
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		isHeading := heading.MatchString(line)
		if worded && (line == "" || isHeading) {
			end()
		}
		if line != "" {
			lines = append(lines, line)
			worded = worded || !isHeading
		}
	}
	end()
	return all
}

func hashOf(paragraph string) string {
	sum := sha256.Sum256([]byte(paragraph))
	return hex.EncodeToString(sum[:])
}

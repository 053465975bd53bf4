package chinese

import (
	_ "embed"
	"strings"
)

// Statement is one statement about the life of a user, with two questions that it answers. A line of
// testdata/lives.tsv has the fields, separated by tabs.
type Statement struct {
	User string
	Text string
	Near string // a question that shares a pair of characters with the text; no other user's life answers it
	Far  string // a question that shares no pair of characters with the text
}

//go:embed testdata/lives.tsv
var lives string

// Statements returns the 60 statements, user by user.
func Statements() (list []Statement) {
	for line := range strings.Lines(lives) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		list = append(list, Statement{User: f[0], Text: f[1], Near: f[2], Far: f[3]})
	}
	return list
}

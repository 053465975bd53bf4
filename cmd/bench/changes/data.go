package changes

import (
	_ "embed"
	"strings"
)

// Pair is a change of mind: two statements of one user, and a question about the present. A line of testdata/pairs.tsv
// has its fields, separated by tabs.
type Pair struct {
	Language string `json:"language"` // en or zh
	Kind     string `json:"kind"`     // what changes, such as home or plan
	Older    string `json:"older"`
	Newer    string `json:"newer"`
	Question string `json:"question"`
}

// Languages lists the languages of the pairs.
var Languages = []string{"en", "zh"}

var (
	//go:embed testdata/pairs.tsv
	pairs string
	//go:embed testdata/others.tsv
	others string
)

// Pairs returns the pairs of a language.
func Pairs(language string) (list []Pair) {
	for line := range strings.Lines(pairs) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if f[0] == language {
			list = append(list, Pair{Language: f[0], Kind: f[1], Older: f[2], Newer: f[3], Question: f[4]})
		}
	}
	return list
}

// Others returns n of the 400 statements of a language that are about other things than its pairs. They lie equally far
// apart in the list, whose ten statements in a row are about the same thing; user chooses where they begin.
func Others(language string, n, user int) (list []string) {
	var all []string
	for line := range strings.Lines(others) {
		if statement, ok := strings.CutPrefix(line, language+"\t"); ok {
			all = append(all, strings.TrimSuffix(statement, "\n"))
		}
	}
	for i := range n {
		list = append(list, all[(i*len(all)/n+user)%len(all)])
	}
	return list
}

package changes

import (
	_ "embed"
	"fmt"
	"os"
	"strings"
)

// Pair is a change of mind: two statements of one user, and a question about the present. A line of testdata/pairs.tsv
// has its fields, separated by tabs.
type Pair struct {
	Language string `json:"language"` // en, zh or de
	Kind     string `json:"kind"`     // what changes, such as home or plan
	Older    string `json:"older"`
	Newer    string `json:"newer"`
	Question string `json:"question"`
}

// Languages lists the languages of the pairs.
var Languages = []string{"en", "zh", "de"}

var (
	//go:embed testdata/pairs.tsv
	pairs string
	//go:embed testdata/others.tsv
	others string
)

// Pairs returns the pairs of a language.
func Pairs(language string) []Pair { return pairsIn(pairs, language) }

// PairsOf reads a file in the form of testdata/pairs.tsv, and returns a function from a language to its pairs.
func PairsOf(file string) (func(language string) []Pair, error) {
	lines, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading pairs: %w", err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(string(lines), "\n"), "\n") {
		if strings.Count(line, "\t") != 4 {
			return nil, fmt.Errorf("line %d of %s does not have five fields, separated by tabs", i+1, file)
		}
	}
	return func(language string) []Pair { return pairsIn(string(lines), language) }, nil
}

func pairsIn(file, language string) (list []Pair) {
	for line := range strings.Lines(file) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if f[0] == language {
			list = append(list, Pair{Language: f[0], Kind: f[1], Older: f[2], Newer: f[3], Question: f[4]})
		}
	}
	return list
}

// Others returns n of the 400 statements of a language, 40 in German, that are about other things than its pairs. It
// takes them at equal distances from the list, in which every ten consecutive statements are about one thing; user
// chooses the first.
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

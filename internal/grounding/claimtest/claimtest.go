// Package claimtest measures which texts of a language model a check takes: honest texts, which say what their sources
// say, and invented ones, which add something. A file has blocks between empty lines:
//
//	# a comment
//	a line of the sources
//	+ a text that says what the sources say
//	- a text that adds something
package claimtest

import (
	_ "embed"
	"strings"
	"testing"
)

// Block is some sources, and texts about them.
type Block struct {
	Sources          []string
	Honest, Invented []string
}

// Read reads the blocks of a file.
func Read(file string) (blocks []Block) {
	for part := range strings.SplitSeq(file, "\n\n") {
		var b Block
		for line := range strings.Lines(part) {
			line = strings.TrimSpace(line)
			if claim, ok := strings.CutPrefix(line, "+ "); ok {
				b.Honest = append(b.Honest, claim)
			} else if claim, ok := strings.CutPrefix(line, "- "); ok {
				b.Invented = append(b.Invented, claim)
			} else if line != "" && line[0] != '#' {
				b.Sources = append(b.Sources, line)
			}
		}
		if len(b.Sources) > 0 {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// mostInvented is the share of invented texts that a check may take, in percent.
const mostInvented = 5

// Check fails unless at least 97 % of the honest and at most 5 % of the invented texts of some files are taken,
// and logs the figures of each file. why returns why a text is refused, "" if it is taken.
func Check(t *testing.T, files []File, why func(sources []string, claim string) string) {
	t.Helper()
	check(t, files, mostInvented, why)
}

// mostOpposites is the share of opposites that a check may take, in percent. A check knows no synonyms except those of
// relatives, and does not complete a sentence from the one before it.
const mostOpposites = 27

// CheckOpposites is Check for the files of Opposites: at most 27 % of their opposites may be taken.
func CheckOpposites(t *testing.T, why func(sources []string, claim string) string) {
	t.Helper()
	check(t, Opposites(), mostOpposites, why)
}

// CheckUpTo is Check with another share of invented texts that may be taken, in percent.
func CheckUpTo(t *testing.T, most int, files []File, why func(sources []string, claim string) string) {
	t.Helper()
	check(t, files, most, why)
}

func check(t *testing.T, files []File, most int, why func(sources []string, claim string) string) {
	t.Helper()
	var all counts
	for _, f := range files {
		var c counts
		for _, b := range Read(f.Text) {
			c.honest, c.invented = c.honest+len(b.Honest), c.invented+len(b.Invented)
			for _, claim := range b.Honest {
				if reason := why(b.Sources, claim); reason == "" {
					c.honestTaken++
				} else {
					t.Logf("refused: %s: %s", claim, reason)
				}
			}
			for _, claim := range b.Invented {
				if why(b.Sources, claim) == "" {
					c.inventedTaken++
					t.Logf("taken: %s", claim)
				}
			}
		}
		t.Logf("%s: %+v", f.Name, c)
		all.add(c)
	}
	if all.honest == 0 || 100*all.honestTaken < 97*all.honest {
		t.Errorf("fewer than 97 %% of the honest texts are taken: %+v", all)
	}
	if all.invented == 0 || 100*all.inventedTaken > most*all.invented {
		t.Errorf("more than %d %% of the invented texts are taken: %+v", most, all)
	}
}

// File is a file of blocks.
type File struct{ Name, Text string }

// counts are numbers of texts.
type counts struct{ honest, honestTaken, invented, inventedTaken int }

func (c *counts) add(other counts) {
	c.honest, c.honestTaken = c.honest+other.honest, c.honestTaken+other.honestTaken
	c.invented, c.inventedTaken = c.invented+other.invented, c.inventedTaken+other.inventedTaken
}

// Texts about conversations. The invented ones say the opposite of what was said. Lines are "name: words".
var (
	//go:embed opposites.txt
	opposites string
	//go:embed opposites_held.txt
	heldOpposites string
	//go:embed opposites_third.txt
	thirdOpposites string
)

// Texts about conversations. The invented ones add something.
var (
	//go:embed summaries.txt
	summaries string
	//go:embed summaries_held.txt
	heldSummaries string
)

// Summaries are files of texts about conversations on 7 May 2031, a Wednesday. The invented texts add something. The
// second file was held back until the rules had been changed with the first one.
func Summaries() []File {
	return []File{{Name: "summaries.txt", Text: summaries}, {Name: "summaries_held.txt", Text: heldSummaries}}
}

// Opposites are files of texts about conversations on 7 May 2031, a Wednesday. The invented texts say the opposite of
// what was said, or make a fact of a wish or a condition. The second file was held back until the rules had been
// changed with the first one, the third until they had been changed with both.
func Opposites() []File {
	return []File{{Name: "opposites.txt", Text: opposites}, {Name: "opposites_held.txt", Text: heldOpposites},
		{Name: "opposites_third.txt", Text: thirdOpposites}}
}

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// relativeDate matches dates that can be understood only on the day on which they were said.
var relativeDate = regexp.MustCompile(`(?i)\b(?:yesterday|today|tomorrow|tonight|` +
	`the (?:day|week|month|year) (?:before|after)|` +
	`(?:last|next|this|coming) (?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|week|weekend|month|year|` +
	`spring|summer|autumn|winter|morning|evening)|(?:days?|weeks?|months?|years?) ago)\b|` +
	`昨天|今天|明天|后天|前天|昨晚|今晚|明晚|[上下这本]个?(?:周|月|星期|季度)|去年|今年|明年|前一天|第二天`)

// asSaid matches lines of the golden documents that quote users word for word: the titles of conversations, their
// latest messages, and the messages that facts were taken from.
var asSaid = regexp.MustCompile(`^ *derived_from |^user: |\d events, (?:ended|open)`)

// The texts that models made of the two weeks state dates, and no relative dates such as "the day before".
func TestTwoWeeks_RememberNoRelativeDates(t *testing.T) {
	t.Parallel()
	documents, err := filepath.Glob("testdata/twoweeks/*.txt")
	if err != nil || len(documents) != 5 {
		t.Fatalf("documents %v, %v", documents, err)
	}
	quoted := 0
	for _, path := range documents {
		document, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(document)) {
			found := relativeDate.FindString(line)
			switch {
			case found == "":
			case asSaid.MatchString(line):
				quoted++
			default:
				t.Errorf("%s: %q in %s", path, found, line)
			}
		}
	}
	if quoted == 0 {
		t.Error("no line quotes a user with a relative date: the expression finds nothing")
	}
}

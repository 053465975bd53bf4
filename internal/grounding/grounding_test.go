package grounding

import (
	_ "embed"
	"slices"
	"strings"
	"testing"
	"time"
)

// statements holds in each line the invented words ("-": no words), a statement, and its sources.
//
//go:embed testdata/statements.tsv
var statements string

func TestInvented_ReturnsWhatNoSourceHas(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(statements) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		var want []string
		if fields[0] != "-" {
			want = strings.Split(fields[0], ", ")
		}
		got := Invented(fields[1], Texts(fields[2:]...)...)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: invented %q, want %q", fields[1], got, want)
		}
	}
}

func TestInvented_AcceptsDatesNearASource(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 5, 7, 20, 0, 0, 0, time.UTC) // a Wednesday
	for _, c := range []struct {
		statement, source string
		invented          bool
	}{
		{"User moved on 6 May 2031.", "We moved yesterday.", false},
		{"User moved to a new flat in May 2031.", "We moved.", false},
		{"User moved on Wednesday.", "We moved.", false},
		{"User will move on 2031-06-01.", "We'll move next month.", false},
		{"User moved on Friday.", "We moved.", true},
		{"User moved in 2019.", "We moved yesterday.", true},
		{"User moved in June.", "We moved.", true},
		{"用户2031年5月6日搬了家。", "我们昨天搬家了。", false},
		{"用户2019年搬了家。", "我们昨天搬家了。", true},
		{"用户六月搬了家。", "我们搬家了。", true},
	} {
		if got := Invented(c.statement, Source{c.source, at}); (got != nil) != c.invented {
			t.Errorf("%s from %s: invented %q", c.statement, c.source, got)
		}
	}
}

// A conclusion may not name a relative or an illness that its sources lack. It may find a trait that no source names.
func TestWhy_NamesAddedPersonsAndConditions(t *testing.T) {
	t.Parallel()
	has := Read(Texts("User skips every party.", "User's brother has asthma.", "用户的妹妹睡不着。")...)
	for statement, why := range map[string]string{
		"User's brother has asthma.":          "",
		"User is shy.":                        "",
		"用户的妹妹失眠。":                            "",
		"User's cousin skips every party.":    `adds "cousin", which its sources do not have`,
		"User's brother has asthma, epilepsy": `adds "epilepsy", which its sources do not have`,
		"用户的表哥失眠。":                            `adds "表哥", which its sources do not have`,
	} {
		if got := has.Why(statement); got != why {
			t.Errorf("%s: %q, want %q", statement, got, why)
		}
	}
}

package times

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hippocampus/internal/growthtest"
	_ "hippocampus/internal/rapidtest"
)

// A day is named in several ways. For each of them, one of the spans contains the day.
func TestInQuestion_SpanContainsTheDayThatWasNamed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		zone := time.FixedZone("", rapid.IntRange(-12, 14).Draw(t, "offset")*3600)
		at := time.Unix(rapid.Int64Range(1e9, 3e9).Draw(t, "at"), 0).In(zone)
		n := rapid.IntRange(1, 300).Draw(t, "days before")
		day := midnight(at).AddDate(0, 0, -n)
		noon := day.Add(12 * time.Hour)
		ways := []string{
			fmt.Sprintf("What did I do %d days ago?", n), fmt.Sprintf("%d天前我做了什么？", n),
			day.Format("Who came on 2 January?"), day.Format("Who came on January 2, 2006?"),
			day.Format("Who came in January?"), day.Format("What did I do on 2006-01-02?"),
			day.Format("What did I do on 1/2?"), day.Format("2006年1月2日我做了什么？"), day.Format("1月2号我做了什么？"),
			fmt.Sprintf("What did I do %d weeks ago?", (n+3)/7), fmt.Sprintf("%d个星期前我做了什么？", (n+3)/7),
		}
		if n <= 7 {
			ways = append(ways, day.Format("What did I do last Monday?"))
		}
		question := rapid.SampledFrom(ways).Draw(t, "question")
		if (n+3)/7 == 0 {
			question = ways[0]
		}
		spans := InQuestion(question, at)
		if !slices.ContainsFunc(spans, func(s Span) bool { return !noon.Before(s.From) && noon.Before(s.Until) }) {
			t.Fatalf("%q, asked at %v, names %v, without %v", question, at, spans, day)
		}
	})
}

func FuzzInQuestion(f *testing.F) {
	for _, seed := range []string{"yesterday ", "from 5 to 16 August ", "the end of the", "3/4", "二十", "去年", "十月底", "每周一",
		"[", "twenty-", "'s", "\xff", "since June until May", "29 February 2100", "9999", "上上周末"} {
		f.Add("", seed)
		f.Add("between ", seed)
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		for _, s := range append(InQuestion(head+unit, now), InStatement(head+unit, now)...) {
			if !s.Until.After(s.From) || s.Words == "" || s.Days() < 1 {
				t.Fatalf("%q names %+v", head+unit, s)
			}
		}
		growthtest.Check(t, head, unit, func(text string) { InQuestion(text, now) })
	})
}

func BenchmarkInQuestion(b *testing.B) {
	for name, text := range map[string]string{
		"no time":         "What does Nora like to grow in the garden behind her house?",
		"no time Chinese": "诺拉喜欢在屋后的花园里种什么？",
		"a time":          "What did Nora plant at the end of March?",
		"a time Chinese":  "诺拉三月底种了什么？",
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				InQuestion(text, now)
			}
		})
	}
}

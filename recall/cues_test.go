package recall

import (
	"testing"
	"time"
	"unicode/utf8"

	"hippocampus/internal/growthtest"
	"hippocampus/internal/text"
)

func TestQueryCues_NameTheSpeaker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query, content string
		want           bool
	}{
		{"What does Nora grow?", "[2024-03-01] Nora: tomatoes", true},
		{"What does nora grow?", "[2024-03-01] Nora: tomatoes", false},
		{"Where is Ann Lee's dog?", "Ann Lee: in the garden", true},
		{"Where is Ann's dog?", "Ann Lee: in the garden", false},
		{"王建国种什么？", "[2024-03-01] 王建国: 西红柿", true},
		{"建国种什么？", "[2024-03-01] 王建国: 西红柿", true},
		{"欧阳雪梅和雪梅的狗", "欧阳雪梅: 在院子里", true},
		{"王家种什么？", "王建国: 西红柿", false},
		{"李强种什么？", "李强: 西红柿", true},
		{"强种种什么？", "李强: 西红柿", false},
	} {
		w := queryCuesOf(c.query, begin)
		if got := w.namesSpeaker(cuesOf(c.content).speaker); got != c.want {
			t.Errorf("%q names the speaker of %q: %v, want %v", c.query, c.content, got, c.want)
		}
	}
}

func TestCues_StateATime(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]bool{
		"We went last summer.": true, "In 2019 we moved.": true, "The summer is hot.": false, "I like tea.": false,
		"我们昨天去了海边。": true, "十月起换工作": true, "她3月生日": true, "下周三考试": true, "礼拜五见": true,
		"我喜欢喝茶。": false, "他会拉琴": false, "月亮很圆": false,
	} {
		if statesTime(content) != want {
			t.Errorf("statesTime(%q) = %v", content, !want)
		}
	}
	for query, want := range map[string]bool{
		"他几时走？": true, "哪个月考试？": true, "When is it?": true, "他是谁？": false,
	} {
		if w := queryCuesOf(query, begin); w.asksWhen != want {
			t.Errorf("%q asks when: %v", query, w.asksWhen)
		}
	}
}

func TestQueryCues_AskForThePast(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 3, 21, 10, 0, 0, 0, time.UTC)
	for query, want := range map[string]bool{
		"Where did I live before?": true, "Where did we use to live?": true, "What was my old number?": true,
		"Where did I work in March?": true, "我以前住在哪里？": true, "她曾经做什么工作？": true,
		"What are the plans we had in August?": true, "Where was I in August?": true, "August 2030": true,
		"What did I eat today?": true, "Where did I live last year?": true, "上个月我住在哪里？": true,
		"Where do I live this year?": false, "Where are we going in August?": false, "Will I travel in May?": false,
		"Where do I live?": false, "How old is my daughter?": false, "我住在哪里？": false, "": false,
		"Find me something for Friday evening.": false, "What should we eat on Friday?": false, "周五晚上有什么推荐？": false,
	} {
		cues := queryCuesOf(query, at)
		if got := cues.asksForPast(at); got != want {
			t.Errorf("%q asks for the past: %v", query, got)
		}
	}
}

func FuzzCues(f *testing.F) {
	for _, seed := range []string{"[2024-03-01] Nora: tomatoes?", "王建国：昨天去了吗？", "a.b'c d ", "[image:", "May 3rd, 2024 ",
		"1st of may 2020", "?", "3月", "什么", "[x] ", "A ", "Ada's "} {
		f.Add("", seed)
		f.Add("Nora: what ", seed)
		f.Add("[", seed)
	}
	at := time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, head, unit string) {
		content := head + unit
		c := cuesOf(content)
		if !(c.question >= 0 && c.question <= 1) || len(c.speaker) > 3*len(content) {
			t.Fatalf("%q has the cues %+v", content, c)
		}
		q := queryCuesOf(content, begin)
		q.namesSpeaker(c.speaker)
		d := document{created: at.UnixMicro(), about: aboutOf(content, at)}
		if match := q.dateMatch(&d); !(match >= 0 && match <= 1) {
			t.Fatalf("%q matches a date by %v", content, match)
		}
		if len(q.dates) > len(content) || len(q.names) > len(content) {
			t.Fatalf("%q has %d dates and %d names", content, len(q.dates), len(q.names))
		}
		growthtest.Check(t, head, unit, func(content string) { cuesOf(content) })
		growthtest.Check(t, head, unit, func(query string) { queryCuesOf(query, begin) })
	})
}

func FuzzQueryTerms(f *testing.F) {
	for _, seed := range []string{"", "What does Nora grow?", "什么时候去的北京", "x ", "什么", "茶", "a1", "a\xff"} {
		f.Add("", seed)
		f.Add("茶", seed)
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		query := head + unit
		seen := map[string]bool{}
		for _, term := range queryTerms(query) {
			r, size := utf8.DecodeRuneInString(term)
			if term == "" || seen[term] || size == len(term) && text.IsUnspaced(r) {
				t.Fatalf("%q has the term %q", query, term)
			}
			seen[term] = true
		}
		growthtest.Check(t, head, unit, func(query string) { queryTerms(query) })
	})
}

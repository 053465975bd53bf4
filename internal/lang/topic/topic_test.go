package topic

import (
	"testing"

	"hippocampus/internal/text"
)

func of(content string) Set { return Of(content, text.Lexemes(content)) }

func TestOf_FindsWhatConcernsTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"The user has no children.", "Our daughter was born in May.", true},
		{"I'm a vegetarian.", "I had a steak last night.", true},
		{"我没有孩子。", "我女儿五月出生了。", true},
		{"用户吃素", "昨晚我吃了一块牛排", true},
		{"我有一只猫", "My kitten sleeps a lot.", true},
		{"I collect stamps.", "Our daughter was born in May.", false},
		{"我收集邮票。", "我女儿五月出生了。", false},
		{"", "Our daughter was born in May.", false},
	} {
		if got := of(c.a)&of(c.b) != 0; got != c.want {
			t.Errorf("%q and %q: %t, want %t", c.a, c.b, got, c.want)
		}
	}
}

func TestLoad_ReadsEachTopic(t *testing.T) {
	t.Parallel()
	all := Set(0)
	for _, topics := range load().lexemes {
		all |= topics
	}
	n := 0
	all.Each(func(topic int) {
		if topic != n {
			t.Errorf("no English word has the topic %d", n)
		}
		n++
	})
	if n < 30 || n > Max {
		t.Errorf("there are %d topics", n)
	}
}

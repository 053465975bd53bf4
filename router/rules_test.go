package router

import (
	"slices"
	"strings"
	"testing"

	"hippocampus/internal/growthtest"
	"hippocampus/internal/memory"
)

const (
	pref, work, life, social, task = memory.Preferences, memory.Profession, memory.Lifestyle, memory.Social, memory.Tasks
	chat, all                      = memory.GeneralChat, memory.Domain("") // all: no domain stands out
)

// labelled are queries, each with a domain that its route must have.
var labelled = []struct {
	query string
	want  memory.Domain
}{
	{"What is my name?", pref},
	{"How old am I?", pref},
	{"When is my birthday?", pref},
	{"What music do I like?", pref},
	{"What's my favourite colour?", pref},
	{"Am I allergic to anything?", pref},
	{"Recommend me a movie for tonight", pref},
	{"Which foods do I hate?", pref},
	{"Do I prefer tea or coffee?", pref},
	{"What do I do for work?", work},
	{"Who is my boss?", work},
	{"Which university did I go to?", work},
	{"What programming languages do I code in?", work},
	{"What was my thesis about?", work},
	{"What am I studying?", work},
	{"Help me improve my resume", work},
	{"How is the compiler project going?", work},
	{"Where do I live?", life},
	{"What are my hobbies?", life},
	{"Which instrument do I play?", life},
	{"Where did I travel last summer?", life},
	{"What car do I drive?", life},
	{"Do I have any health problems?", life},
	{"How often do I go to the gym?", life},
	{"What's my wife's job?", social},
	{"What is my dog called?", social},
	{"How many children do I have?", social},
	{"Tell me about my best friend", social},
	{"Am I married?", social},
	{"What does my sister do?", social},
	{"What are my plans for next week?", task},
	{"When is my dentist appointment?", task},
	{"What did I decide about the desk?", task},
	{"Do I have a meeting on Friday?", task},
	{"Remind me what I need to do tomorrow", task},
	{"What are my goals?", task},
	{"Hello!", chat},
	{"hi there, how are you?", chat},
	{"Thanks a lot!!", chat},
	{"ok, great, see you later", chat},
	{"Good morning 😀", chat},
	{"lol", chat},
	{"How's it going?", chat},
	{"👍", chat},
	{"Explain quantum entanglement", all},
	{"What did Caroline say about pottery?", all},

	{"我叫什么名字？", pref},
	{"我今年多大了", pref},
	{"我喜欢什么音乐？", pref},
	{"我对什么过敏？", pref},
	{"给我推荐一部电影", pref},
	{"我讨厌吃什么", pref},
	{"我的生日是哪天？", pref},
	{"我是做什么工作的？", work},
	{"我在哪家公司上班", work},
	{"我的论文写的什么", work},
	{"我大学学的什么专业？", work},
	{"我会写什么代码", work},
	{"我住在哪里？", life},
	{"我的爱好是什么", life},
	{"我会弹什么乐器？", life},
	{"我每天跑步多久", life},
	{"我老家在哪", life},
	{"我身体有什么问题吗", life},
	{"我老婆叫什么？", social},
	{"我的猫几岁了", social},
	{"我有几个孩子", social},
	{"我男朋友是做什么的", social},
	{"我妈妈住哪里", social},
	{"我下周有什么安排？", task},
	{"我什么时候去北京出差", task},
	{"明天几点开会", task},
	{"我有什么计划", task},
	{"我决定了什么", task},
	{"你好", chat},
	{"你好呀！在吗？", chat},
	{"谢谢你，辛苦了", chat},
	{"好的，知道了", chat},
	{"哈哈哈哈哈", chat},
	{"早上好，吃了吗", chat},
	{"再见，明天见", chat},
	{"解释一下量子纠缠", all},
}

func TestRules_RouteLabelledQueries(t *testing.T) {
	t.Parallel()
	named := 0
	for _, row := range labelled {
		domains := routeByRules(row.query).Domains
		ok := slices.Contains(domains, row.want)
		switch row.want {
		case all:
			ok = len(domains) == 0
		case chat:
			ok = slices.Equal(domains, []memory.Domain{chat})
		}
		if !ok || len(domains) > MaxDomains {
			t.Errorf("%q goes to %q, want %q", row.query, domains, row.want)
		}
		named += len(domains)
	}
	t.Logf("%d queries, %.2f domains each", len(labelled), float64(named)/float64(len(labelled)))
}

func TestRules_RecogniseOnlyPlainSmallTalk(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"Hi, what is my name?", "Thanks. Where do I live?", "hello world program", "ok so my wife", "你好，我叫什么",
		"好的，那我明天要做什么", "谢谢，顺便问一下我住哪", "great wall", "goodness",
	} {
		if IsSmallTalk(query) {
			t.Errorf("%q is taken for small talk", query)
		}
	}
	if IsSmallTalk(strings.Repeat("hi ", 1000)) {
		t.Error("a thousand greetings are taken for small talk")
	}
}

func TestVocabulary_HasNoDuplicates(t *testing.T) {
	t.Parallel()
	for _, d := range memory.Domains {
		seen := map[string]bool{}
		for _, line := range lines(string(d)) {
			if seen[line] {
				t.Errorf("%s holds %q twice", d, line)
			}
			seen[line] = true
		}
		if len(seen) < 50 {
			t.Errorf("%s holds only %d entries", d, len(seen))
		}
	}
}

func FuzzRules(f *testing.F) {
	for _, row := range labelled {
		f.Add("", row.query)
	}
	for _, unit := range []string{"x", "hi ", "'", "work in ", "家", "é"} {
		f.Add("good ", unit)
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		query := head + unit
		domains := routeByRules(query).Domains
		for i, d := range domains {
			if i >= MaxDomains || !slices.Contains(memory.Domains, d) || slices.Contains(domains[:i], d) {
				t.Fatalf("%q goes to the domain %d, %q", query, i, d)
			}
		}
		if small := slices.Contains(domains, memory.GeneralChat); small != IsSmallTalk(query) || small && len(domains) > 1 {
			t.Fatalf("%q goes to %v, small talk %v", query, domains, small)
		}
		growthtest.Check(t, head, unit, func(text string) { routeByRules(text) })
	})
}

package voice

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hippocampus/internal/growthtest"
)

func TestSpans_DivideByVoice(t *testing.T) {
	t.Parallel()
	for _, want := range [][]Span{
		{{"I live in Lisbon.", Own}, {` My boss said "I am moving to Berlin."`, Quote}, {" He left.", Own}},
		{{`"I am tired" is what she says,`, Quote}, {" but I'm fine.", Own}},
		{{"我住在上海。", Own}, {"我老板说：“我要搬去北京了。”", Quote}, {"我不去。", Own}},
		{{"> I live in Ohio.\n", Quote}, {"I'm a nurse.", Own}},
		{{"Why?\n", Own}, {"```\nI am code\n\n```\n", Code}, {"I'm a nurse.", Own}},
		{{"type T struct {\n\tmy int\n\n\tname string\n}\n", Code}, {"Why?", Own}},
		{{"10:00:01 I am up\n10:00:02 I am down\n\n", Log}, {"I drive.", Own}},
		{{"Answer this:\n\nDear Ada,\nI moved.\nBest regards,\nTom\n\n", Mail}, {"I am ill.", Own}},
		{{"Dear Kim,\n\nI am ill.\n\nYours,\nPeter\n\n", Mail}, {"Summarise this mail.", Own}},
		{{"Hi Mark,\n\nI moved to Bergen.\n\nTake care,\nLiv\n\n", Mail}, {"What should I reply?", Own}},
		{{"Ann,\n\nI quit my job.\n\nSee you soon,\nBen\n\n", Mail}, {"Is this good news?", Own}},
		{{"Hey Jo!\nI'm pregnant.\nxoxo\nMia\n\n", Mail}, {"Help me answer her.", Own}},
		{{"Dear Sir or Madam,\n\nI am a plumber.\n\nYours truly,\nK. Hale\n\n", Mail}, {"Is this polite?", Own}},
		{{"小安：\n\n我现在住在苏州。\n\n此致\n敬礼\n王涛\n\n", Mail}, {"这封信我该怎么回？", Own}},
		{{"妈妈：\n我在深圳找到工作了。\n祝身体健康！\n小雨\n\n", Mail}, {"这样写可以吗？", Own}},
		{{"I drive.", Own}, {" She sent me this:\nTom: I am ill.\nAda: Oh no\nTom: I quit.", Chat}},
		{{"My boss wrote: I moved to Rome.", Quote}},
		{{"I told my boss: I am ill.", Own}},
		{{"我同事说：我搬家了。", Quote}},
		{{"我跟同事说：我搬家了。", Own}},
		{{"Tom 10:21\nI am ill.\nAda 10:22\nI drive.", Chat}},
		{{"Tom: I am ill.\nAda: Oh no\nTom: I quit my job.\n\n", Chat}, {"What now?", Own}},
		{{"Translate this to French: ", Own}, {"I live by the sea.\n", Document}, {"I'm a nurse.", Own}},
		{{"请帮我润色下面这段话。\n\n", Own}, {"我叫小明。", Document}},
		{{"I live by the sea.\n\n", Document}, {"Translate the text above.", Own}},
		{{"Translate into German.\n", Own}, {"I am ill.", Document}},
		{{"翻译成英文\n", Own}, {"我住在上海。", Document}},
	} {
		var text strings.Builder
		for _, s := range want {
			text.WriteString(s.Text)
		}
		if diff := cmp.Diff(want, Spans(text.String())); diff != "" {
			t.Error(diff)
		}
	}
}

// Text that users write about themselves in the forms of mails, chats, notes and titles is their own.
func TestSpans_LeaveTheUserTheirOwn(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`My dog is called "Bo" and my favourite book is "The Lord of the Rings".`,
		"我的狗叫“豆豆”，我最喜欢的乐队是「五月天」。",
		"Hello,\n\nI am Maria and I live in Rome. What can you do?\n\nBest regards,\nMaria",
		"Dear assistant,\nI'm a nurse.",
		"您好，\n我住在上海。",
		"Background: I am a nurse and live in Oslo.\nGoal: I want to lose ten kilos.",
		"背景：我是一名护士，住在上海。\n目标：我想减十公斤。",
		"Name: Ada\nAge: 34\nCity: Oslo",
		"Note: I'm vegan.",
		"注意：\n我对花生过敏。\n另外：\n我住在上海。", "Well,\nI'm a nurse.\nSee you soon at the clinic, I work there.",
		"My plan:\n- 10:00 I see my dentist\n- 12:30 I meet Ana",
		"Can you improve my diet?\n\nI'm vegetarian and live in Lisbon.",
		"Can you check my report? I work at Siemens.\n\nI live in Munich.",
		"I translate texts for a living: novels, mostly.\n\nI live in Rome.",
		"I write and edit articles for a magazine.\nI live in Rome.",
		"我在翻译公司写文章。\n我住在上海。",
		"I love tea; my wife loves coffee;\nI don't like $5 coffee.",
		"I use Go (and Rust) at work.\nI'm learning SQL, select a book for me.",
		"git is hard. I use docker every day.\n# About me\nI make games.",
		"I'm 5'7 and my sister's 6'1, that's 'tall'.",
		"From Oslo to Rome: I travel a lot.\nhttps://example.com is my page.",
		"   I live in Lisbon.",
	} {
		for _, s := range Spans(text) {
			if s.Kind != Own {
				t.Errorf("%q: %q is %s", text, s.Text, s.Kind)
			}
		}
	}
}

func FuzzSpans(f *testing.F) {
	for _, unit := range []string{
		`"I am it" `, "“我是”", "'a ", "`", "> a\n", "```\n", "From: a\n", "Dear a,\nb\nRegards\n", "a: I am b\n",
		"f({\n})\n", "\"\"\"\n",
		"10:00:00 a\n", "$ a\n", "Translate this: a\n", "请翻译：", "# a\n", "\t", ", said ", "improve it. ", "a\xff",
	} {
		f.Add("I live. ", unit)
		f.Add("", unit)
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		var joined strings.Builder
		for i, s := range Spans(head + unit) {
			if s.Text == "" {
				t.Fatalf("span %d of %q is empty", i, head+unit)
			}
			joined.WriteString(s.Text)
		}
		if joined.String() != head+unit {
			t.Fatalf("the spans of %q are %q", head+unit, joined.String())
		}
		growthtest.Check(t, head, unit, func(text string) { Spans(text) })
	})
}

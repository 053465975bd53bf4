package memory

import (
	"strings"
	"testing"
)

func TestImportance_DependsOnKindAndContext(t *testing.T) {
	t.Parallel()
	mentioned, direct := MessageContext{MentionedMe: true}, MessageContext{DirectMessage: true}
	acted, recovered := MessageContext{ActionTaken: true}, MessageContext{ErrorRecovered: true}
	all := MessageContext{MentionedMe: true, DirectMessage: true, ActionTaken: true, ErrorRecovered: true}
	for _, c := range []struct {
		kind    MessageKind
		context MessageContext
		want    float64
	}{
		{"", MessageContext{}, .6}, {Chat, MessageContext{}, .6},
		{Observation, MessageContext{}, .4}, {Task, MessageContext{}, .7},
		{Decision, MessageContext{}, .8}, {ToolUse, MessageContext{}, .7},
		{Failure, MessageContext{}, .9}, {Insight, MessageContext{}, .85},
		{"gossip", MessageContext{}, .5},
		{Chat, mentioned, .8}, {Chat, direct, .75}, {Chat, acted, .7}, {Chat, recovered, .75},
		{Chat, MessageContext{MentionedMe: true, DirectMessage: true}, .95}, {Chat, all, 1},
		{Observation, all, 1}, {Observation, mentioned, .6}, {Observation, acted, .5},
		{Observation, MessageContext{DirectMessage: true, ActionTaken: true, ErrorRecovered: true}, .8},
		{Task, acted, .8}, {ToolUse, MessageContext{ActionTaken: true, ErrorRecovered: true}, .95},
		{Decision, mentioned, 1}, {Decision, direct, .95}, {Failure, acted, 1}, {Failure, recovered, 1},
		{Insight, direct, 1}, {Insight, acted, .95},
		{"gossip", recovered, .65},
	} {
		if got := Importance(Message{Kind: c.kind, Context: c.context}); got != c.want {
			t.Errorf("%q %+v: %v, want %v", c.kind, c.context, got, c.want)
		}
	}
}

func TestConversation_FillRatio(t *testing.T) {
	t.Parallel()
	c := Conversation{Events: 150, Tokens: 9000, SummarisedThrough: 50, SummarisedTokens: 3000}
	if got := c.FillRatio(200, 8000); got != .75 { // 100 of 200 events, 6,000 of 8,000 tokens
		t.Errorf("%v", got)
	}
	if got := c.FillRatio(80, 8000); got != 1.25 {
		t.Errorf("%v", got)
	}
}

func TestTitleOf_UsesFirstUserLine(t *testing.T) {
	t.Parallel()
	user := func(content string) Message { return Message{Role: "user", Content: content} }
	words := strings.Repeat("seven7 ", 20) // a space after 7, 14, ... 77 characters
	for _, c := range []struct {
		messages []Message
		want     string
	}{
		{nil, ""},
		{[]Message{{Role: "assistant", Content: "hello"}}, ""},
		{[]Message{user(""), user(" \n\t\n")}, ""},
		{[]Message{{Role: "user", Content: "seen", Kind: Observation}}, ""},
		{
			[]Message{{Role: "assistant", Content: "hello"}, user("\n\n  Plan my  trip\tto Oslo \r\nsecond line")},
			"Plan my trip to Oslo",
		},
		{[]Message{user(strings.Repeat("x", 80))}, strings.Repeat("x", 80)},
		{[]Message{user(strings.Repeat("x", 81))}, strings.Repeat("x", 79) + "…"},
		{[]Message{user(words)}, strings.TrimSpace(words[:76]) + "…"},
		{[]Message{user(strings.Repeat("界", 100))}, strings.Repeat("界", 79) + "…"},
		{[]Message{user("a " + strings.Repeat("x", 100))}, "a " + strings.Repeat("x", 77) + "…"},
	} {
		got := TitleOf(c.messages)
		if got != c.want {
			t.Errorf("%.60v: %q, want %q", c.messages, got, c.want)
		}
		if got != "" && CheckTitle(got) != "" {
			t.Errorf("%q is not a valid title: %s", got, CheckTitle(got))
		}
	}
	long := strings.Repeat("界", 200)
	if CheckTitle("a\nb") == "" || CheckTitle(long+"界") == "" || CheckTitle(long) != "" {
		t.Error("a title is one line of at most 200 characters")
	}
}

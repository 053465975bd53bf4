package consolidation

import (
	"testing"
	"time"

	"hippocampus/conversation/session"
	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
)

func TestPrompts_AreGolden(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 5, 5, 19, 30, 0, 0, time.UTC)
	for language, texts := range map[string][]string{
		"en": {"Rosalind lives in Bergen.", "I moved in \"yesterday\".", "seat booking failed", "And I am Jon."},
		"zh": {"苏眠住在卑尔根。", "我“昨天”搬进去的。", "选座失败", "我是小江。"},
	} {
		b := newFixture(t, embedder, true)
		logged := func(e session.Event) (l session.Logged) { l.Event = e; return l }
		talk := share{events: []session.Logged{
			logged(session.Event{Role: "user", Content: texts[1], Kind: memory.Chat, At: at}),
			logged(session.Event{Role: "tool", Content: texts[2], Kind: memory.Failure, At: at.AddDate(0, 0, 1)}),
		}}
		two := share{events: []session.Logged{
			logged(session.Event{Role: "user", Name: "Rosalind", Content: texts[1], Kind: memory.Chat, At: at}),
			logged(session.Event{Role: "user", Name: "Jon", Content: texts[3], Kind: memory.Chat, At: at}),
		}}
		b.answers(`{"summary":"`+texts[1][:3]+`"}`, nothing)
		ask := func(name string, sh share, before string) {
			t.Helper()
			if before != "" {
				_, _ = b.askReplay(t.Context(), before, sh)
			} else if _, err := b.askDeep(t.Context(), sh); err != nil {
				t.Fatal(err)
			}
			prompts := b.chat.Prompts()
			p := prompts[len(prompts)-1]
			p.Refused = nil
			llmtest.Golden(t, "testdata/"+name+"."+language+".golden", p)
		}
		ask("replay", talk, texts[0])
		ask("deep", talk, "")
		ask("deep.speakers", two, "")
	}
}

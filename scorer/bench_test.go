package scorer

import (
	"strings"
	"testing"

	"hippocampus/internal/memory"
)

// BenchmarkRules reads one message with the number of words that a chat message usually has.
func BenchmarkRules(b *testing.B) {
	for name, content := range map[string]string{
		"en": "Hi there! I'm allergic to peanuts and live in Oslo with two flatmates. We're flying to Rome on Friday. " +
			"Could you recommend a restaurant?",
		"zh": "你好！我对花生过敏，和两个室友住在奥斯陆。我们周五飞罗马。你能推荐一家餐厅吗？",
	} {
		b.Run(name, func(b *testing.B) {
			turn := memory.Turn{Messages: []memory.Message{{Role: "user", Content: strings.TrimSpace(content)}}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := NewRules().Score(b.Context(), turn, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

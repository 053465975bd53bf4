package ingest

import (
	"slices"
	"testing"
)

func TestProcess_DropsRemarksOfTheAssistant(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		said, answer string
		want         []string // of the answer
	}{
		"remark": {"I'm learning Portuguese.", "Boa sorte!", nil},
		"remark with advice": {"My sister is getting married in Porto.", "How lovely. Book the train early.",
			[]string{"Book the train early."}},
		"Chinese remark":      {"我在学葡萄牙语。", "加油！", nil},
		"question":            {"I keep bees in the garden.", "How many?", []string{"How many?"}},
		"answer":              {"What is the capital of Portugal?", "Lisbon.", []string{"Lisbon."}},
		"answer to a request": {"Tell me the capital of Portugal.", "Lisbon.", []string{"Lisbon."}},
		"Chinese answer":      {"葡萄牙的首都是哪里？", "里斯本。", []string{"里斯本。"}},
		"reply to thanks":     {"thanks", "Any time, Nora.", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newMessageFixture(t)
			b.turn(test.said, test.answer)
			var got []string
			for _, m := range b.kept() {
				if m.Speaker == "assistant" {
					got = append(got, m.Content)
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("kept %q of the answer, want %q", got, test.want)
			}
		})
	}
}

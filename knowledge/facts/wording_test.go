package facts

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

func TestSentence_IsAboutTheUser(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, key, value, want string }{
		{"profile", "home_city", `"Lisbon"`, "The user's home city is Lisbon."},
		{"work", "employer", `"Door Dash, Inc."`, "The user's work employer is Door Dash, Inc."},
		{"pet", "pet_name", `"Miso"`, "The user's pet name is Miso."},
		{"profile", "languages", `["Portuguese","English"]`, "The user's languages are Portuguese, English."},
		{"profile", "居住城市", `"里斯本"`, "用户的居住城市是里斯本。"},
		{"工作", "单位", `"市立医院"`, "用户的工作单位是市立医院。"},
		{"profile", "会的语言", `["葡萄牙语","英语"]`, "用户的会的语言是葡萄牙语、英语。"},
		{"profile", "children", `2`, "children: 2"},
		{"health", "vegetarian", `true`, "vegetarian: true"},
		{"profile", "car", `null`, "car: none"},
		{"profile", "address", `{"zip_code":"1100"}`, "address: zip code: 1100"},
		{"profile", "empty", `[]`, "empty: "},
		{"profile", "note", `"She left. He stayed."`, "note: She left. He stayed."},
		{"profile", "note", `"` + strings.Repeat("a", 81) + `"`, "note: " + strings.Repeat("a", 81)},
	} {
		if got := Sentence(c.kind, c.key, json.RawMessage(c.value)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A fact weighs as much as the same statement in a turn, and less if it is uncertain.
func TestImportance_IsThatOfTheKind(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		content    string
		domain     memory.Domain
		confidence float64
		want       float64
	}{
		{"The user's name is Ada.", memory.Preferences, 1, 0.9},
		{"The user's home city is Lisbon.", memory.Lifestyle, 1, 0.85},
		{"The user's home city is Lisbon.", memory.Lifestyle, 0.9, 0.835},
		{"The user's home city is Lisbon.", memory.Lifestyle, 0, 0.7},
		{"The user's favourite tea is oolong.", memory.Preferences, 1, 0.8},
	} {
		if got := Importance(c.content, c.domain, c.confidence); got != c.want {
			t.Errorf("%s: %v, want %v", c.content, got, c.want)
		}
	}
	if weighed(0.5, 0.9) != 0.5 || weighed(0.9, 0.5) != 0.8 {
		t.Error("a rating counts above the gate by the confidence")
	}
}

// Evidence may say how its memory is worded, rated and dated.
func TestApply_WordsTheMemoryAsTheEvidence(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func() db.Store) {
		b := newFixture(t, open())
		e := says("Lisbon", 0.9, day(90), time.Time{})
		rated := 0.8
		e.Sentence = "Ada moved to Lisbon on 2026-04-01."
		e.Importance = &rated
		e.SaidAt = day(90)
		m := b.memory(t, b.put(t, e, accepted).Fact.MemoryID)
		if m.Content != e.Sentence || m.Importance != 0.79 || !m.CreatedAt.Equal(day(90)) ||
			!m.LastAccessedAt.Equal(b.clock.Now()) || !strings.Contains(m.Lexemes, "lisbon") {
			t.Errorf("%+v", m)
		}
		e.SaidAt = day(300)
		e.ValidFrom = day(95)
		e.Confidence = 1 // of the future: dated now
		e.Value, e.Sentence = json.RawMessage(`"Porto"`), "Ada moved to Porto."
		m = b.memory(t, b.put(t, e, accepted).Fact.MemoryID)
		if m.Content != "Ada moved to Porto." || !m.CreatedAt.Equal(b.clock.Now()) || m.Importance != 0.8 {
			t.Errorf("%+v", m)
		}
		e.Sentence, rated = " ", 1.5
		if _, err := b.Put(t.Context(), ada, e, "api"); !memory.IsKind(err, memory.KindInvalid) ||
			!strings.Contains(err.Error(), "sentence") || !strings.Contains(err.Error(), "importance") {
			t.Errorf("%v", err)
		}
	})
}

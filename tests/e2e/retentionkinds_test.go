package e2e

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// Memories of a type last as long as the operator says, and the memories of an excluded domain never fade. The preview
// says what a run forgets.
func TestForgetting_LastsByTypeAndDomain(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		clock := filepath.Join(t.TempDir(), "clock")
		if err := os.WriteFile(clock, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := time.Date(2026, 3, 4, 10, 0, 0, 0, time.UTC)
		move := func(days int) {
			at = at.AddDate(0, 0, days)
			if err := os.Chtimes(clock, at, at); err != nil {
				t.Fatal(err)
			}
		}
		move(0)
		s := start(t, append(size.settings(t), "E2E_CLOCK="+clock, "HIPPOCAMPUS_FORGETTING_CLOCK=wall",
			"HIPPOCAMPUS_FORGETTING_KEEP_TYPES=none", "HIPPOCAMPUS_FORGETTING_MAX_SHARE=1",
			"HIPPOCAMPUS_FORGETTING_LASTS=task=0.5,decision=4",
			"HIPPOCAMPUS_FORGETTING_EXCLUDE_DOMAINS=professional_and_academic")...)
		left := map[string]bool{}
		for _, m := range []struct{ content, kind, domain string }{
			{"Buy a bicycle lamp.", "task", "general_chat"},
			{"The bicycle is green.", "fact", "general_chat"},
			{"We rent out the cellar.", "decision", "general_chat"},
			{"The forge opens at eight.", "fact", "professional_and_academic"},
		} {
			left[m.content] = true
			s.call("POST", "/v1/memories", object{
				"user_id": "ada", "content": m.content, "type": m.kind, "domain": m.domain, "importance": 0.8,
			}, 201)
		}
		days := 0
		for _, night := range []struct { // by the rule, a fact of .8 fades after 20.9 days
			day  int
			gone map[string]any // by type
			what string
		}{
			{10, map[string]any{}, ""},
			{11, map[string]any{"task": 1.0}, "Buy a bicycle lamp."},
			{20, map[string]any{}, ""},
			{22, map[string]any{"fact": 1.0}, "The bicycle is green."},
			{82, map[string]any{}, ""},
			{84, map[string]any{"decision": 1.0}, "We rent out the cellar."},
			{4000, map[string]any{}, ""},
		} {
			move(night.day - days)
			days = night.day
			preview := s.call("POST", "/v1/forget", object{"user_id": "ada"}, 200)
			if byType, _ := preview.body["due_by_type"].(map[string]any); !maps.Equal(byType, night.gone) {
				t.Errorf("after %d days: %s", night.day, preview.raw)
			}
			s.call("POST", "/v1/forget", object{"user_id": "ada", "dry_run": false}, 200)
			delete(left, night.what)
			have := s.everything("ada")
			slices.Sort(have)
			if want := slices.Sorted(maps.Keys(left)); !slices.Equal(have, want) {
				t.Errorf("after %d days %q are left, want %q", night.day, have, want)
			}
		}
	})
}

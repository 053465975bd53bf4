package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"hippocampus/internal/llm/llmtest"
)

// A model that proposes whatever it reads gives each participant the facts of that one alone, and is asked for those
// whom a turn concerns. A judge that replaces lets no other person's words replace the user's.
func TestPeople_ASloppyModelMixesNobodyUp(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		s := start(t, append(size.settings(t), withModels(models)...)...)
		var scored atomic.Int32
		known := []string{"I am a vegetarian", "Ben is no vegetarian", "I am a strict vegetarian", "我住在上海", "Cleo likes 茶"}
		models.OnPrompt("hippocampus/score", func(r llmtest.ChatRequest) llmtest.Reply {
			scored.Add(1)
			var list []string
			for _, fact := range known {
				if strings.Contains(r.User, fact) {
					list = append(list, fmt.Sprintf(`{"fact":%q,"importance":0.9,"domain":"lifestyle_and_interests"}`, fact))
				}
			}
			return llmtest.Text(`{"facts":[` + strings.Join(list, ",") + `]}`)
		})
		isNew := regexp.MustCompile(`\{"said":"[^"]*","text":"[^"]*vegetarian`)
		models.OnPrompt("hippocampus/judge", func(r llmtest.ChatRequest) llmtest.Reply {
			var list []string
			decision := `"keep_both"`
			if isNew.MatchString(r.User) {
				decision = `"replace","relation":"contradicts"`
			}
			for i := range strings.Count(r.User, `"memory":`) {
				list = append(list, fmt.Sprintf(`{"memory":%d,"decision":%s}`, i+1, decision))
			}
			return llmtest.Text(`{"decisions":[` + strings.Join(list, ",") + `]}`)
		})
		s.call("POST", "/v1/turns", among(1, words("Ben", "I am a vegetarian.")), 200)
		if n := scored.Load(); n != 1 {
			t.Errorf("a turn that concerns Ben alone was scored %d times", n)
		}
		s.wantSaid("u-ben", facts, ": I am a vegetarian")
		s.call("POST", "/v1/turns", among(2, words("Ana", "Ben is no vegetarian. 我住在上海。"),
			words("Ben", "Cleo likes 茶 a lot.")), 200)
		s.wantSaid("u-ana", facts, ": Ben is no vegetarian", ": 我住在上海")
		s.wantSaid("u-cleo", facts, "Ben: Cleo likes 茶")
		if now := s.saidOf("u-ben", facts); !slices.Contains(now, ": I am a vegetarian") ||
			!slices.Contains(now, "Ana: Ben is no vegetarian") || slices.Contains(now, ": 我住在上海") {
			t.Errorf("the facts of Ben: %q", now)
		}
		s.call("POST", "/v1/turns", among(3, words("Ben", "I am a strict vegetarian.")), 200)
		if now := s.saidOf("u-ben", facts); !slices.Contains(now, ": I am a strict vegetarian") ||
			slices.Contains(now, "Ana: Ben is no vegetarian") {
			t.Errorf("the facts of Ben after he has said more: %q", now)
		}
	})
}

// Insights and summaries that rest on what a person said of another one leave with that person. The other's own words,
// which they had condensed, answer again.
func TestPeople_InsightsLeaveWithTheWordsTheyRestOn(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		s := start(t, append(append(size.settings(t), withModels(models)...), "HIPPOCAMPUS_REFLECTION_IMPORTANCE=100")...)
		known := []string{"Ben collects fountain pens", "I play chess on Sundays"}
		models.OnPrompt("hippocampus/score", func(r llmtest.ChatRequest) llmtest.Reply {
			var list []string
			for _, fact := range known {
				if strings.Contains(r.User, fact) {
					list = append(list, fmt.Sprintf(`{"fact":%q,"importance":0.9,"domain":"lifestyle_and_interests"}`, fact))
				}
			}
			return llmtest.Text(`{"facts":[` + strings.Join(list, ",") + `]}`)
		})
		const insight = "Ben collects fountain pens and plays chess on Sundays."
		models.OnPrompt("hippocampus/reflect", func(llmtest.ChatRequest) llmtest.Reply {
			return llmtest.Text(fmt.Sprintf(`{"insights":[{"insight":%q,"sources":[1,2]}],"retire":[1,2]}`, insight))
		})
		s.call("POST", "/v1/turns", among(1, words("Ana", "Ben collects fountain pens."),
			words("Ben", "I play chess on Sundays.")), 200)
		s.wantSaid("u-ben", facts, ": I play chess on Sundays", "Ana: Ben collects fountain pens")
		r := s.call("POST", "/v1/reflect", object{"user_id": "u-ben", "force": true}, 200)
		if len(r.list("insights")) != 1 {
			t.Fatalf("a reflection: %s", r.raw)
		}
		s.wantSaid("u-ben", facts)

		s.erase("u-ana")
		s.wantSaid("u-ben", facts, ": I play chess on Sundays")
		for _, words := range []string{"fountain", "Ana"} {
			if all := s.call("GET", "/v1/export?user_id=u-ben", nil, 200).raw; strings.Contains(all, words) {
				t.Errorf("Ben's export has %q after Ana was erased: %s", words, all)
			}
			if rows := s.rowsNaming(words); len(rows) > 0 {
				t.Errorf("rows with %q after Ana was erased: %v", words, rows)
			}
		}
		s.storesEqual(scripted, "u-ben")
	})
}

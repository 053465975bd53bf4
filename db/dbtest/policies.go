package dbtest

import (
	"sync"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// policies numbers the versions of each app's policy, also those of several processes, and keeps the newest.
func policies(t *testing.T, s db.Store) {
	ctx := t.Context()
	none, err := s.NewestPolicy(ctx, "a")
	must(t, err)
	wantSame(t, "an app without a policy", none, memory.PolicyVersion{})
	first := memory.PolicyVersion{
		AppID: "a", Policy: memory.Policy{
			Keep: memory.PolicyRules{Instructions: "\"diets\" \u2603", Types: []memory.Type{"fact"}},
			Never: memory.PolicyRules{
				Domains: []memory.Domain{memory.Social}, Terms: []string{"<b>", "血糖"}, Patterns: []string{`\d{4}`},
			},
			Categories: []memory.Category{{Name: "diet", Description: "what is eaten", Terms: []string{"vegan"}}},
		},
		Note: "the first", PublishedAt: epoch, PublishedBy: memory.NewID(),
	}
	stored, err := s.AddPolicy(ctx, first)
	must(t, err)
	first.Number = 1
	wantSame(t, "the first version", stored, first)
	other, err := s.AddPolicy(ctx, memory.PolicyVersion{AppID: "b", PublishedAt: epoch})
	must(t, err)
	wantSame(t, "another app's", other, memory.PolicyVersion{AppID: "b", Number: 1, PublishedAt: epoch})
	newest, err := s.NewestPolicy(ctx, "a")
	must(t, err)
	wantSame(t, "the newest version", newest, first)

	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			if _, err := s.AddPolicy(ctx, memory.PolicyVersion{AppID: "a", PublishedAt: after(1)}); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	listed, err := s.PolicyVersions(ctx, "a", 0, 100)
	must(t, err)
	wantSame(t, "the versions", len(listed), 9)
	for i, v := range listed {
		wantSame(t, "a number", v.Number, 9-i)
	}
	below, err := s.PolicyVersions(ctx, "a", 3, 1)
	must(t, err)
	wantSame(t, "a page", below, listed[7:8])
	for range memory.MaxPolicyVersions {
		_, err = s.AddPolicy(ctx, first)
		must(t, err)
	}
	listed, err = s.PolicyVersions(ctx, "a", 0, 2*memory.MaxPolicyVersions)
	must(t, err)
	wantSame(t, "the versions that are kept", len(listed), memory.MaxPolicyVersions)
	wantSame(t, "the oldest that is kept", listed[len(listed)-1].Number, 10)
}

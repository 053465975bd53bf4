package e2e

import (
	"slices"
	"testing"
)

// Without a model: if a user has stated home and work in one sentence and moves, the statement about work stays.
func TestFacts_OfOneSentenceChangeByThemselves(t *testing.T) {
	t.Parallel()
	s := start(t)
	for user, said := range map[string]struct{ first, then, old, home, job string }{
		"ada": {
			first: "I live in Lisbon and work as a marine biologist.", then: "I moved to Porto.",
			old: "I live in Lisbon.", home: "I moved to Porto.", job: "I work as a marine biologist.",
		},
		"lin": {
			first: "我住在里斯本，是一名海洋生物学家。", then: "我搬到了波尔图。",
			old: "我住在里斯本。", home: "我搬到了波尔图。", job: "我是一名海洋生物学家。",
		},
	} {
		s.call("POST", "/v1/turns", turn(user, said.first), 200)
		s.call("POST", "/v1/turns", turn(user, said.then), 200)
		facts := func(status string) (list []string) {
			r := s.call("GET", "/v1/memories?limit=100&user_id="+user+"&status="+status, nil, 200)
			for _, m := range r.list("memories") {
				if m["type"] != "message" {
					list = append(list, m["content"].(string))
				}
			}
			slices.Sort(list)
			return list
		}
		active := []string{said.home, said.job}
		slices.Sort(active)
		if got := facts("active"); !slices.Equal(got, active) {
			t.Errorf("%s: active facts %q, want %q", user, got, active)
		}
		if got := facts("superseded"); !slices.Equal(got, []string{said.old}) {
			t.Errorf("%s: superseded facts %q, want %q", user, got, said.old)
		}
	}
}

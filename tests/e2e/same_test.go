package e2e

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"hippocampus/db/postgres/postgrestest"
	"hippocampus/vectorstore/milvus/milvustest"
)

// The same memories and queries get the same answers on all sizes, with the same
// scores: backdated memories and queries at a given instant are repeatable.
func TestSizes_GiveSameAnswers(t *testing.T) {
	t.Parallel()
	subjects := []string{
		"the red bicycle",
		"a marathon in Porto",
		"the cello lesson",
		"grandmother's soup",
		"上海的房子",
		"周末的羽毛球",
		"数据库课程",
	}
	verbs := []string{"Ada bought", "Ada sold", "Ada dreams of", "Ada forgot", "艾达喜欢", "艾达讨厌"}
	start0 := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	queries := []string{
		"Who bought the bicycle?",
		"marathon",
		"What does Ada dream of?",
		"艾达喜欢什么课程？",
		"上海",
		"soup of the grandmother",
		"nothing of the kind",
	}

	// By default recall would compare so few memories, and own writes, in the database.
	searched := size{"postgres+milvus, all by search", func(t *testing.T) []string {
		return append(large(t, milvustest.Addr(t)), "HIPPOCAMPUS_RECALL_COMPARE_LIMIT=0", "HIPPOCAMPUS_RECALL_OWN_WINDOW=0s")
	}}
	plain := size{"postgres without pgvector", func(t *testing.T) []string {
		return []string{"DATABASE_URL=" + postgrestest.URL(t), "HIPPOCAMPUS_RECALL_OWN_WINDOW=0s"}
	}}
	all := append(slices.Clone(sizes), searched, plain)
	answers := map[string][][]object{}
	for _, size := range all {
		s := start(t, size.settings(t)...)
		var batch []object
		for i, subject := range subjects {
			for j, verb := range verbs {
				batch = append(batch, object{
					"user_id": "ada", "content": fmt.Sprintf("%s %s", verb, subject), "domain": "lifestyle_and_interests",
					"importance": 0.7 + float64((i*7+j*3)%30)/100, "conversation_id": fmt.Sprintf("conversation-%d", j),
					"at":       start0.Add(time.Duration(i*10+j) * time.Hour).Format(time.RFC3339),
					"metadata": object{"subject": i, "verbs": []any{verb, "any"}},
				})
			}
		}
		s.call("POST", "/v1/memories/batch", object{"memories": batch}, 200)
		s.storesEqual(builtin, "ada")
		s.findsByVector("ada", len(batch))
		for _, options := range []object{
			{"mode": "modulated"}, {"mode": "additive"},
			{"filter": object{"metadata": object{"subject": object{"gte": 5}}}},
			{"filter": object{"not": object{"metadata": object{"verbs": "Ada bought"}}}, "candidates": 5, "decay_rate": 0.999},
		} {
			for _, query := range queries {
				body := object{
					"user_id": "ada", "query": query, "limit": 20, "touch": false,
					"at": start0.Add(1000 * time.Hour).Format(time.RFC3339),
				}
				maps.Copy(body, options)
				answers[size.name] = append(answers[size.name], s.call("POST", "/v1/recall", body, 200).list("memories"))
			}
		}
		for _, recalled := range answers[size.name][2*len(queries) : 3*len(queries)] {
			if len(recalled) != 2*len(verbs) {
				t.Errorf("%s: %d memories of the last two subjects, want %d", size.name, len(recalled), 2*len(verbs))
			}
		}
	}
	for _, size := range all[1:] {
		sameAnswers(t, queries, answers[sizes[0].name], answers[size.name])
	}
}

// findsByVector waits until searches return all memories of a user.
func (s *server) findsByVector(user string, memories int) {
	s.t.Helper()
	eventually(s.t, "each memory being found by its vector", func() string {
		found := 0
		r := s.call("POST", "/v1/recall", object{"user_id": user, "query": "Ada", "limit": 50, "touch": false}, 200)
		for _, m := range r.list("memories") {
			if slices.Contains(m["sources"].([]any), any("vector")) {
				found++
			}
		}
		if found != memories {
			return fmt.Sprintf("%d of %d", found, memories)
		}
		return ""
	})
}

// sameAnswers compares the answers of two sizes to the queries.
func sameAnswers(t *testing.T, queries []string, small, large [][]object) {
	t.Helper()
	for i := range small {
		query := queries[i%len(queries)]
		if len(small[i]) != len(large[i]) {
			t.Errorf("%q: %d and %d memories", query, len(small[i]), len(large[i]))
			continue
		}
		for j := range small[i] {
			a, b := small[i][j], large[i][j]
			if a["content"] != b["content"] {
				t.Errorf("%q, place %d: %v and %v", query, j, a["content"], b["content"])
			}
			for _, part := range []string{"similarity", "lexical", "neighbour", "relevance", "decay", "importance", "score"} {
				if math.Abs(a[part].(float64)-b[part].(float64)) > 1e-5 {
					t.Errorf("%q, %v: %s is %v and %v", query, a["content"], part, a[part], b[part])
				}
			}
		}
	}
}

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hippocampus/internal/llm/llmtest"
	"hippocampus/internal/memory"
	"hippocampus/vectorstore"
)

// Old memories fade: a preview lists them, a run forgets at most its share of them,
// and a forgotten memory leaves both stores and can be restored.
func TestForgetting_IsPreviewedAndUndone(t *testing.T) {
	onTwoSizes(t, func(t *testing.T, size size) {
		s := start(t, append(size.settings(t),
			"HIPPOCAMPUS_FORGETTING_CLOCK=wall", "HIPPOCAMPUS_FORGETTING_KEEP_TYPES=none")...)
		for i := range 3 {
			s.call("POST", "/v1/memories", object{"user_id": "ada", "content": fmt.Sprintf("fresh note %d", i)}, 201)
		}
		old := s.old("ada", "an old note", 2020)
		s.call("PATCH", "/v1/memories/"+s.old("ada", "an old note that stays", 2020), object{"pinned": true}, 200)

		preview := s.call("POST", "/v1/forget", object{"user_id": "ada"}, 200)
		first := preview.list("memories")[0]
		if preview.body["dry_run"] != true || preview.body["active"] != 5.0 || preview.body["due"] != 1.0 ||
			first["id"] != old || first["faded"] != true {
			t.Errorf("preview %s", preview.raw)
		}
		if n := len(s.active("ada")); n != 5 {
			t.Errorf("a preview left %d active memories", n)
		}
		for year := range 3 {
			s.old("eve", fmt.Sprintf("old note %d", year), 2018+year)
		}
		for left := 2; left >= 0; left-- { // a share of 20 % of three, at least one
			r := s.call("POST", "/v1/forget", object{"user_id": "eve", "dry_run": false}, 200)
			if (r.body["warning"] != nil) != (left > 0) || len(s.active("eve")) != left ||
				left > 0 && slices.Contains(s.active("eve"), fmt.Sprintf("old note %d", 2-left)) {
				t.Errorf("a run that leaves %d memories: %s", left, r.raw)
			}
		}
		r := s.call("POST", "/v1/forget", object{"user_id": "ada", "dry_run": false}, 200)
		if !strings.Contains(r.raw, old) || len(s.active("ada")) != 4 {
			t.Errorf("run %s", r.raw)
		}
		s.storesEqual(builtin, "ada", "eve")
		s.call("POST", "/v1/memories/"+old+"/restore", nil, 200)
		r = s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "the old note", "route": false}, 200)
		if !slices.Contains(contents(r.list("memories")), "an old note") {
			t.Errorf("the restored memory is not recalled: %s", r.raw)
		}
		s.storesEqual(builtin, "ada", "eve")
	})
}

// Facts are condensed into an insight that names its sources, and undone.
func TestReflection_CondensesAndIsUndone(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		models.OnPrompt("hippocampus/reflect", func(llmtest.ChatRequest) llmtest.Reply {
			return llmtest.Text(`{"insights":[{"insight":"Ada trains for a triathlon.","sources":[1,2,3]}],"retire":[1,2,3]}`)
		})
		settings := append(size.settings(t), withModels(models)...)
		s := start(t, append(settings, "HIPPOCAMPUS_REFLECTION_IMPORTANCE=100")...) // only on request
		for _, sport := range []string{"swims 3 km", "rides her bicycle for hours", "runs at dawn"} {
			s.call("POST", "/v1/memories", object{"user_id": "ada", "content": "Every week Ada " + sport, "importance": 0.9},
				201)
		}
		before := s.active("ada")
		if r := s.call("POST", "/v1/reflect", object{"user_id": "ada"}, 200); r.body["skipped"] == nil ||
			len(r.list("insights")) != 0 {
			t.Errorf("reflected before it was due: %s", r.raw)
		}
		reflected := s.call("POST", "/v1/reflect", object{"user_id": "ada", "force": true}, 200)
		insights := reflected.list("insights")
		if len(insights) != 1 || insights[0]["content"] != "Ada trains for a triathlon." || insights[0]["importance"] != 0.9 {
			t.Fatalf("reflection %s", reflected.raw)
		}
		if now := s.active("ada"); len(now) != 1 {
			t.Errorf("active after the reflection: %v", now)
		}
		s.storesEqual(scripted, "ada")
		found := s.call("POST", "/v1/recall",
			object{"user_id": "ada", "query": "triathlon", "route": false, "expand": "sources"}, 200).list("memories")
		if len(found) != 1 || len(found[0]["derived_from"].([]any)) != 3 {
			t.Errorf("recalled %v", found)
		}
		s.call("POST", "/v1/memories/"+insights[0]["id"].(string)+"/undo", nil, 200)
		if now := s.active("ada"); !slices.Equal(now, before) {
			t.Errorf("after the undo %v, before %v", now, before)
		}
		s.storesEqual(scripted, "ada")
	})
}

// A new home replaces the old one; two likes both stay.
func TestJudge_ReplacesContradictions(t *testing.T) {
	onOneDatabase(t, func(t *testing.T, size size) {
		models := llmtest.New(t)
		near := func(text string, second float32) { // the two have a cosine of 0.9, by the first number
			v := make([]float32, llmtest.Dim)
			v[0], v[1] = 1, second
			models.Embedding(text, v)
		}
		near("Ada lives in Beijing", 0)
		near("Ada moved to Shanghai", 0.48)
		models.OnPrompt("hippocampus/judge", func(r llmtest.ChatRequest) llmtest.Reply {
			if strings.Contains(r.User, "Shanghai") {
				return llmtest.Text(`{"decisions":[{"memory":1,"decision":"replace","relation":"contradicts"}]}`)
			}
			return llmtest.Text(`{"decisions":[{"memory":1,"decision":"keep_both"}]}`)
		})
		s := start(t, append(size.settings(t), withModels(models)...)...)
		write := func(content string) object {
			return s.call("POST", "/v1/memories", object{"user_id": "ada", "content": content, "dedup": true}, 201, 200).body
		}
		old := write("Ada lives in Beijing")["id"].(string)
		moved := write("Ada moved to Shanghai")["id"].(string)
		if m := s.call("GET", "/v1/memories/"+old, nil, 200).body; m["status"] != "superseded" ||
			m["superseded_by"] != moved {
			t.Errorf("the old home is %v", m)
		}
		near("Ada likes tea", 0)
		near("Ada likes coffee", 0.48)
		write("Ada likes tea")
		write("Ada likes coffee")
		var texts []string
		for _, m := range s.call("GET", "/v1/memories?user_id=ada", nil, 200).list("memories") {
			texts = append(texts, m["content"].(string))
		}
		slices.Sort(texts)
		if !slices.Contains(texts, "Ada likes tea") || !slices.Contains(texts, "Ada likes coffee") ||
			slices.Contains(texts, "Ada lives in Beijing") {
			t.Errorf("active %q", texts)
		}
		s.storesEqual(scripted, "ada")
	})
}

// job starts a maintenance job and returns its result. It starts another one as
// often as a job fails in all of its attempts, as on an overloaded Milvus.
func (s *server) job(path string) object {
	s.t.Helper()
	id := s.call("POST", path, nil, 202).body["id"].(string)
	var result object
	eventually(s.t, path+" being done", func() string {
		r := s.call("GET", "/v1/jobs/"+id, nil, 200)
		if r.body["state"] == "discarded" {
			id = s.call("POST", path, nil, 202).body["id"].(string)
		}
		if r.body["state"] != "completed" {
			return r.raw
		}
		result, _ = r.body["result"].(map[string]any)
		return ""
	})
	return result
}

func count(report object, what string) float64 {
	return report[what].(map[string]any)["count"].(float64)
}

// Damage to the vector store is found and repaired, and the store is rebuilt.
func TestVerify_FindsAndRepairsDrift(t *testing.T) {
	onEachSize(t, func(t *testing.T, size size) {
		s := start(t, append(size.settings(t), "HIPPOCAMPUS_PROJECTION_GRACE=1s")...)
		var batch []object
		for i := range 50 {
			batch = append(batch, object{"user_id": "ada", "content": fmt.Sprintf("note number %d", i)})
		}
		s.call("POST", "/v1/memories/batch", object{"memories": batch}, 200)
		s.storesEqual(builtin, "ada")
		ids := s.active("ada")

		ctx := context.Background()
		store, err := s.openVectors(ctx, builtin)
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		if err := store.Delete(ctx, ids[:3]); err != nil {
			t.Fatal(err)
		}
		stray := vectorstore.Record{
			ID: memory.NewID(), Owner: memory.Owner{AppID: "default", UserID: "ada"}, Domain: memory.GeneralChat,
			Type: memory.TypeFact, Content: "a record without a row", CreatedAt: now(),
			Embedding: append([]float32{1}, make([]float32, builtin.Dim-1)...),
		}
		if err := store.Insert(ctx, []vectorstore.Record{stray}); err != nil {
			t.Fatal(err)
		}
		// Rows that were just pushed are in flight, and Milvus may show a
		// record for a moment after another client deleted it.
		eventually(t, "the damage being found", func() string {
			found := s.job("/v1/admin/verify")
			if count(found, "missing") != 3 || count(found, "orphaned") != 1 || count(found, "different") != 0 {
				return fmt.Sprint(found)
			}
			return ""
		})
		s.job("/v1/admin/repair")
		s.storesEqual(builtin, "ada")
		s.job("/v1/admin/rebuild")
		s.storesEqual(builtin, "ada")
		r := s.call("POST", "/v1/recall", object{"user_id": "ada", "query": "note number 7", "limit": 1, "route": false}, 200)
		if !slices.Equal(contents(r.list("memories")), []string{"note number 7"}) {
			t.Errorf("after the rebuild %s", r.raw)
		}
	})
}

// Three servers on the same stores run each scheduled job once.
func TestSchedule_ReplicasRunTickOnce(t *testing.T) {
	t.Parallel()
	settings := append(sizes[1].settings(t), "HIPPOCAMPUS_SCHEDULE_PURGE=@every 2s")
	replicas := []*server{start(t, settings...), start(t, settings...), start(t, settings...)}
	var runs []object
	eventually(t, "five ticks being done", func() string {
		r := replicas[0].call("GET", "/v1/jobs?kind=purge&limit=100", nil, 200)
		runs = r.list("jobs")
		done := 0
		for _, job := range runs {
			if job["state"] == "completed" {
				done++
			}
		}
		if done < 5 {
			return r.raw
		}
		return ""
	})
	for i := 1; i < len(runs); i++ {
		newer, _ := time.Parse(time.RFC3339Nano, runs[i-1]["enqueued_at"].(string))
		older, _ := time.Parse(time.RFC3339Nano, runs[i]["enqueued_at"].(string))
		if newer.Sub(older) < time.Second {
			t.Errorf("two runs within %s", newer.Sub(older))
		}
	}
}

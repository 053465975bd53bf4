package history_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"hippocampus/forgetting"
	"hippocampus/ingest"
	"hippocampus/internal/llm"
	"hippocampus/internal/memory"
	_ "hippocampus/internal/rapidtest" // sets its flags
	"hippocampus/reflection/derivation"
)

// run changes the memories of one owner at random.
type run struct {
	*fixture
	owner     memory.Owner
	snapshots map[time.Time][]memory.Memory // after the last change at each instant
}

// step advances the clock, runs do, and takes a snapshot of the memories.
func (r *run) step(t *rapid.T, do func(ctx context.Context) error) {
	r.mu.Lock()
	steps := []time.Duration{0, time.Microsecond, time.Hour, 20 * 24 * time.Hour}
	r.clock = r.clock.Add(rapid.SampledFrom(steps).Draw(t, "later"))
	r.mu.Unlock()
	if err := do(context.Background()); err != nil && !memory.IsKind(err, memory.KindConflict) {
		t.Fatal(err)
	}
	r.snapshots[r.now()] = r.all(t, r.owner)
}

var (
	anyContent = rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprint(rapid.IntRange(0, 3).Draw(t, "topic"), " ", rapid.IntRange(0, 3).Draw(t, "variant"))
	})
	anyTags       = rapid.SampledFrom([][]string{nil, {"a"}, {"b", "茶"}, {"a", "b"}})
	anyMetadata   = rapid.SampledFrom([]string{"", `{}`, `{"z":1.50,"a":"<&>\u2028é"}`})
	anyImportance = rapid.Float64Range(0, 1)
)

func metadataOf(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

func (r *run) write(t *rapid.T) {
	var list []ingest.Write
	for range rapid.IntRange(1, 3).Draw(t, "writes") {
		importance := anyImportance.Draw(t, "importance")
		w := ingest.Write{
			Owner:      r.owner,
			Content:    anyContent.Draw(t, "content"),
			Importance: &importance,
			Tags:       anyTags.Draw(t, "tags"),
			Metadata:   metadataOf(anyMetadata.Draw(t, "metadata")),
			Pinned:     rapid.Bool().Draw(t, "pinned"),
			Dedup:      rapid.Bool().Draw(t, "dedup"),
		}
		if rapid.Bool().Draw(t, "dated") {
			w.At = r.now().Add(time.Duration(rapid.IntRange(-48, 48).Draw(t, "at")) * time.Hour)
		}
		list = append(list, w)
	}
	r.step(t, func(ctx context.Context) error {
		for _, r := range r.ingest.WriteBatch(ctx, list) {
			if r.Err != nil {
				return r.Err
			}
		}
		return nil
	})
}

// one draws one of the owner's memories, if there are any.
func (r *run) one(t *rapid.T) (m memory.Memory, found bool) {
	list := r.all(t, r.owner)
	if len(list) == 0 {
		return m, false
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(t, "memory")], true
}

func (r *run) change(t *rapid.T) {
	m, found := r.one(t)
	if !found {
		return
	}
	var c ingest.Change
	content := anyContent.Draw(t, "content")
	tags := anyTags.Draw(t, "tags")
	metadata := json.RawMessage(metadataOf(anyMetadata.Draw(t, "metadata")))
	importance := anyImportance.Draw(t, "importance")
	pinned := rapid.Bool().Draw(t, "pinned")
	domain := memory.Tasks
	kind := memory.Type("task")
	for i, set := range []func(){
		func() { c.Content = &content },
		func() { c.Tags = &tags },
		func() { c.Metadata = &metadata },
		func() { c.Importance = &importance },
		func() { c.Pinned = &pinned },
		func() { c.Domain = &domain },
		func() { c.Type = &kind },
	} {
		if rapid.Bool().Draw(t, fmt.Sprint("field ", i)) {
			set()
		}
	}
	r.step(t, func(ctx context.Context) error {
		_, err := r.ingest.Change(ctx, "app", m.ID, c)
		return err
	})
}

func (r *run) forget(t *rapid.T) {
	m, found := r.one(t)
	if !found {
		return
	}
	r.step(t, func(ctx context.Context) error {
		_, err := r.ingest.Forget(ctx, "app", m.ID, ingest.OfStatement)
		return err
	})
}

func (r *run) restore(t *rapid.T) {
	m, found := r.one(t)
	if !found {
		return
	}
	r.step(t, func(ctx context.Context) error {
		_, err := r.ingest.Restore(ctx, "app", m.ID, ingest.OfStatement)
		return err
	})
}

func (r *run) condense(t *rapid.T) {
	sources := slices.DeleteFunc(r.all(t, r.owner), func(m memory.Memory) bool { return m.Status != memory.Active })
	if len(sources) < 2 {
		return
	}
	sources = sources[:2]
	r.step(t, func(ctx context.Context) error {
		vectors, _ := topics{}.Embed(ctx, llm.ForDocument, []string{"3 0"})
		insight := r.derivation.Draft(r.owner, "3 0 insight", memory.TypeReflection, memory.Tasks, 0.9, vectors[0])
		ids := []string{sources[0].ID, sources[1].ID}
		return r.derivation.Commit(ctx, derivation.Derivation{
			Owner:   r.owner,
			Cause:   "test",
			Derived: []derivation.Derived{{Memory: insight, Sources: ids}},
			Sources: sources,
			Retire:  ids,
		})
	})
}

func (r *run) undo(t *rapid.T) {
	for _, m := range r.all(t, r.owner) {
		if strings.HasSuffix(m.Content, "insight") && m.Type == memory.TypeReflection {
			r.step(t, func(ctx context.Context) error { _, _, err := r.derivation.Undo(ctx, "app", m.ID); return err })
			return
		}
	}
}

func (r *run) fade(t *rapid.T) {
	r.step(t, func(ctx context.Context) error {
		_, err := r.forgetting.Run(ctx, r.owner, "test", true, forgetting.Listing{})
		return err
	})
}

func (r *run) purge(t *rapid.T) {
	r.step(t, func(ctx context.Context) error { _, err := r.forgetting.Purge(ctx, "test"); return err })
}

package consolidation

import (
	"testing"

	"hippocampus/internal/memory"
)

// request consolidates a conversation, and works its job.
func (b *fixture) request(id string, mode Mode) Ended {
	b.t.Helper()
	done, err := b.Consolidate(b.t.Context(), "app", "", id, mode)
	if err != nil {
		b.t.Fatal(err)
	}
	b.work(id, memory.TriggerRequest)
	return done
}

// Each step begins after the last event of the same kind of step, whichever trigger planned that.
func TestConsolidate_CoversEachEventOnceAStep(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	b.trip("c") // three events; the third is a stated one
	if begun := b.request("c", Fast); !begun.Pending() || len(begun.Consolidations) != 2 {
		t.Errorf("fast: %+v", begun.Consolidations)
	}
	if again := b.request("c", Fast); again.Pending() || len(again.Consolidations) != 2 {
		t.Errorf("fast, again: %+v", again.Consolidations)
	}
	b.say("c", "", event("", "I also want to see Lisbon."))
	b.request("c", Deep)
	if c := b.conversation("c"); !c.EndedAt.IsZero() || c.ConsolidatedThrough != 4 {
		t.Errorf("the conversation: %+v", c)
	}
	b.request("c", Full)
	b.say("c", "", event("", "And Faro."), event("", "And Braga."), event("", "And Tomar."))
	b.end("c")
	want(t, "rows", b.rows("c"), []string{
		`deep_reflection end 5-7 done {"facts":0,"memories":0,"merged":0}`,
		`deep_reflection request 1-4 done {"facts":0,"memories":0,"merged":0}`,
		`events request 1-3 done {"events":1,"kept":1,"merged":0,"refused":0}`,
		`fast_replay end 5-7 done {"summaries":1}`,
		`fast_replay request 1-3 done {"summaries":1}`,
		`fast_replay request 4-4 done {"summaries":1}`,
	})
	if c := b.conversation("c"); c.EndedAt.IsZero() || c.ConsolidatedThrough != 7 {
		t.Errorf("the ended conversation: %+v", c)
	}
}

// Two requests at the same event enqueue two jobs, although the first job has completed.
func TestConsolidate_EnqueuesAJobForEachMode(t *testing.T) {
	t.Parallel()
	b := newFixture(t, embedder, true)
	b.trip("c")
	job := func(mode Mode) ConsolidateConversation {
		c := b.conversation("c")
		return ConsolidateConversation{
			AppID: "app", UserID: "ada", ConversationID: "c", FirstTurnID: c.FirstTurnID, Trigger: memory.TriggerRequest,
			Mark: 3, Mode: mode,
		}
	}
	for _, mode := range []Mode{Fast, Deep} {
		b.request("c", mode)
		if _, fresh, err := b.store.Enqueue(t.Context(), job(mode)); fresh || err != nil {
			t.Errorf("%s: a fresh job %t, %v: it was not enqueued", mode, fresh, err)
		}
	}
	b.request("c", Full)
	if _, fresh, err := b.store.Enqueue(t.Context(), job(Full)); !fresh || err != nil {
		t.Errorf("full: a fresh job %t, %v, although nothing is left to do", fresh, err)
	}
}

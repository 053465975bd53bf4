package learning

import (
	"context"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/db/sqlite"
	"hippocampus/internal/memory"
	"hippocampus/tests/apptest"
)

var ada = memory.Owner{AppID: "app", UserID: "ada"}

type fixture struct {
	*Service
	t     *testing.T
	store *sqlite.Store
	clock *apptest.Clock
}

func newFixture(t *testing.T, enabled bool) *fixture {
	f := &fixture{t: t, store: apptest.SQLite(t), clock: apptest.NewClock(time.Date(2026, 3, 1, 3, 0, 0, 0, time.UTC))}
	f.Service = New(f.store, Settings{Enabled: enabled, Gate: 0.7, Confidence: 0.15}, f.clock.Now)
	return f
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// say stores feedback of a kind some times, a second after what was before.
func (f *fixture) say(kind memory.FeedbackKind, score float64, times int) {
	f.t.Helper()
	f.clock.Advance(time.Second)
	f.must(f.store.InUser(f.t.Context(), ada, func(ctx context.Context, tx db.UserTx) error {
		for range times {
			_, err := tx.AddFeedback(ctx, []memory.Feedback{{
				Owner: ada, SourceID: memory.NewRecallID(ada), MemoryID: memory.NewID(), Kind: kind, Score: score,
				At: memory.Instant(f.clock.Now()),
			}})
			f.must(err)
		}
		return nil
	}))
}

// night moves the clock to the next night and runs, as a schedule does.
func (f *fixture) night() {
	f.t.Helper()
	f.clock.Advance(24 * time.Hour)
	_, err := f.Run(f.t.Context())
	f.must(err)
}

func (f *fixture) want(name memory.ThresholdName, value float64) {
	f.t.Helper()
	got, err := f.Of(f.t.Context(), ada.AppID, name)
	f.must(err)
	if got.Value != value {
		f.t.Errorf("%s is %v, want %v", name, got.Value, value)
	}
}

func TestRun_MovesOncePerDayAndUsesEvidenceOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	f.say(memory.FeedbackPromoted, 0.65, 4)
	f.night()
	f.want(memory.GateThreshold, 0.7) // one piece is missing
	f.say(memory.FeedbackPromoted, 0.65, 1)
	f.night()
	f.want(memory.GateThreshold, 0.68)
	f.say(memory.FeedbackPromoted, 0.65, 5)
	_, err := f.Run(t.Context())
	f.must(err)
	f.want(memory.GateThreshold, 0.68) // it has moved today
	f.night()
	f.want(memory.GateThreshold, 0.66)
	f.night()
	f.want(memory.GateThreshold, 0.66) // no evidence since
	f.want(memory.ConfidenceThreshold, 0.15)
	other, err := f.Of(t.Context(), "other", memory.GateThreshold)
	if err != nil || other != (memory.Threshold{Value: 0.7}) {
		t.Errorf("another app: %+v %v", other, err)
	}
}

func TestRun_CountsWhatIsNearTheThreshold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind  memory.FeedbackKind
		score float64
		of    memory.ThresholdName
		want  float64
	}{
		"promoted":                    {memory.FeedbackPromoted, 0.6, memory.GateThreshold, 0.68},
		"promoted below the floor":    {memory.FeedbackPromoted, 0.59, memory.GateThreshold, 0.7},
		"used":                        {memory.FeedbackUsed, 0.15, memory.ConfidenceThreshold, 0.13},
		"used with great confidence":  {memory.FeedbackUsed, 0.9, memory.ConfidenceThreshold, 0.15},
		"irrelevant":                  {memory.FeedbackIrrelevant, 0.2, memory.ConfidenceThreshold, 0.17},
		"irrelevant, not from a log":  {memory.FeedbackIrrelevant, 0, memory.ConfidenceThreshold, 0.15},
		"wrong, whatever it is about": {memory.FeedbackWrong, 0.2, memory.ConfidenceThreshold, 0.15},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, true)
			f.say(c.kind, c.score, 10)
			f.night()
			f.want(c.of, c.want)
		})
	}
}

func TestRun_StopsAtTheFloorAndForgetsOldEvidence(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	for range 9 {
		f.say(memory.FeedbackPromoted, 0.601, 5)
		f.night()
	}
	f.want(memory.GateThreshold, 0.6)
	g := newFixture(t, true)
	g.say(memory.FeedbackPromoted, 0.65, 9)
	g.clock.Advance(evidenceAge - 23*time.Hour)
	g.night()
	g.want(memory.GateThreshold, 0.7)
}

func TestReset_RestoresTheSettings(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	f.say(memory.FeedbackPromoted, 0.65, 5)
	f.say(memory.FeedbackIrrelevant, 0.2, 10)
	f.night()
	f.want(memory.GateThreshold, 0.68)
	f.want(memory.ConfidenceThreshold, 0.17)
	f.say(memory.FeedbackPromoted, 0.65, 5)
	f.clock.Advance(time.Second)
	states, err := f.Reset(t.Context(), ada.AppID)
	f.must(err)
	f.want(memory.GateThreshold, 0.7)
	f.want(memory.ConfidenceThreshold, 0.15)
	if got := states[0]; len(got.Steps) != 2 || !got.Steps[0].Reset || got.Steps[0].Was != 0.68 || got.Lower != 0 ||
		!got.Learned.IsZero() {
		t.Errorf("%+v", got)
	}
	f.night()
	f.want(memory.GateThreshold, 0.7)
	other := New(f.store, f.Settings, f.clock.Now) // as after a restart
	if got, err := other.Of(t.Context(), ada.AppID, memory.GateThreshold); err != nil || got.Value != 0.7 {
		t.Errorf("%+v %v", got, err)
	}
}

// While learning is off, nothing that was learned serves, and the states say what a run would do.
func TestOf_IsTheSettingWhileLearningIsOff(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	f.say(memory.FeedbackPromoted, 0.65, 5)
	f.night()
	f.say(memory.FeedbackPromoted, 0.65, 5)
	f.clock.Advance(24 * time.Hour)
	off := New(f.store, Settings{Gate: 0.7, Confidence: 0.15}, f.clock.Now)
	got, err := off.Of(t.Context(), ada.AppID, memory.GateThreshold)
	if err != nil || got != (memory.Threshold{Value: 0.7}) {
		t.Errorf("%+v %v", got, err)
	}
	states, err := off.States(t.Context(), ada.AppID)
	f.must(err)
	if states[0].Next != 0.68 || states[0].Lower != 5 || states[1].Next != 0.15 {
		t.Errorf("%+v", states)
	}
}

// Where recalls are logged, feedback that names no recall has the confidence of the newest that returned the memory.
func TestRate_TakesTheConfidenceFromTheLog(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	ctx := t.Context()
	for range 10 {
		m := memory.Memory{ID: memory.NewID(), Owner: ada, Status: memory.Active}
		for _, confidence := range []float64{0.9, 0.2, 0} {
			f.clock.Advance(time.Second)
			entry := memory.LoggedRecall{ID: memory.NewRecallID(ada), Owner: ada, At: memory.Instant(f.clock.Now())}
			if confidence > 0 {
				entry.Memories = []memory.LoggedMemory{{ID: m.ID, Confidence: confidence}}
			}
			f.must(f.store.LogRecalls(ctx, []memory.LoggedRecall{entry}))
		}
		f.must(f.Rate(ctx, m, memory.FeedbackWrong))
		f.must(f.Rate(ctx, m, memory.FeedbackIrrelevant))
		unlogged := memory.Memory{ID: memory.NewID(), Owner: ada, Status: memory.Active}
		f.must(f.Rate(ctx, unlogged, memory.FeedbackIrrelevant)) // it is no evidence
	}
	f.night()
	f.want(memory.ConfidenceThreshold, 0.17)
	states, err := f.States(ctx, ada.AppID)
	f.must(err)
	if got := states[1].Steps[0].Higher; got != 10 {
		t.Errorf("%d pieces of evidence, want 10", got)
	}
}

func TestPreview_ListsResultsThatWouldGo(t *testing.T) {
	t.Parallel()
	f := newFixture(t, true)
	f.say(memory.FeedbackUsed, 0.16, 1)
	f.say(memory.FeedbackUsed, 0.5, 1)
	f.say(memory.FeedbackIrrelevant, 0.165, 11)
	previews, err := f.Preview(t.Context(), ada.AppID, f.clock.Now().Add(-time.Hour))
	f.must(err)
	if p := previews[1]; p.Next != 0.17 || len(p.Gone) != 12 || p.More || p.Gone[0].Kind != memory.FeedbackUsed {
		t.Errorf("%+v", p)
	}
}

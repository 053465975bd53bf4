package api

import (
	"context"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/learning"
	"hippocampus/server/frame"
)

// ThresholdKeeper shows the thresholds of apps and resets them; package learning implements it.
type ThresholdKeeper interface {
	States(ctx context.Context, appID string) ([]learning.State, error)
	// Preview shows what the next run would have changed of what was proposed and returned since a time.
	Preview(ctx context.Context, appID string, since time.Time) ([]learning.Preview, error)
	// Reset lets the settings serve again.
	Reset(ctx context.Context, appID string) ([]learning.State, error)
}

type thresholdHandlers struct {
	keeper   ThresholdKeeper
	learning bool
	now      func() time.Time
}

func (h thresholdHandlers) register(r *frame.Routes) {
	r.Add("GET /v1/thresholds", memory.RoleRead, h.list)
	r.Add("GET /v1/thresholds/preview", memory.RoleRead, h.preview)
	r.Add("DELETE /v1/thresholds", memory.RoleAdmin, h.reset)
}

type thresholdsBody struct {
	Learning   bool            `json:"learning"`
	Thresholds []thresholdBody `json:"thresholds"`
}

type thresholdBody struct {
	Name    memory.ThresholdName `json:"name"`
	Value   float64              `json:"value"`
	Setting float64              `json:"setting"`
	Floor   float64              `json:"floor"`
	Ceiling float64              `json:"ceiling"`
	Step    float64              `json:"step"`
	Source  string               `json:"source"`

	LearnedAt time.Time      `json:"learned_at,omitzero"`
	Evidence  countedBody    `json:"evidence"`
	Next      float64        `json:"next"`
	Why       string         `json:"why"`
	History   []movementBody `json:"history"`
}

// countedBody is the evidence since the last step.
type countedBody struct {
	Lower  int `json:"lower"`
	Higher int `json:"higher"`
	Needed int `json:"needed"`
}

type movementBody struct {
	Was    float64   `json:"was"`
	Value  float64   `json:"value"`
	Reset  bool      `json:"reset"`
	Lower  int       `json:"lower"`
	Higher int       `json:"higher"`
	At     time.Time `json:"at"`
}

func thresholdOf(t learning.State) thresholdBody {
	return thresholdBody{
		Name: t.Name, Value: t.Value, Setting: t.Setting, Floor: t.Floor(), Ceiling: t.Ceiling(), Step: t.Step,
		Source: sourceOf(t.Threshold), LearnedAt: t.Learned,
		Evidence: countedBody{t.Lower, t.Higher, t.Evidence}, Next: t.Next, Why: t.Why,
		History: frame.BodiesOf(t.Steps, func(s memory.ThresholdStep) movementBody {
			return movementBody{Was: s.Was, Value: s.Value, Reset: s.Reset, Lower: s.Lower, Higher: s.Higher, At: s.At}
		}),
	}
}

// The sources of a threshold.
const (
	ofRequest = "request"
	ofSetting = "setting"
	ofLearned = "learned"
)

func sourceOf(t memory.Threshold) string {
	if t.Learned.IsZero() {
		return ofSetting
	}
	return ofLearned
}

// thresholdUsed is a threshold that an answer was made with.
type thresholdUsed struct {
	Value     float64   `json:"value"`
	Source    string    `json:"source"`
	LearnedAt time.Time `json:"learned_at,omitzero"`
}

func (h thresholdHandlers) list(ctx context.Context, r *frame.Request) (any, error) {
	states, err := h.keeper.States(ctx, r.Key.AppID)
	return thresholdsBody{h.learning, frame.BodiesOf(states, thresholdOf)}, err
}

func (h thresholdHandlers) reset(ctx context.Context, r *frame.Request) (any, error) {
	states, err := h.keeper.Reset(ctx, r.Key.AppID)
	return thresholdsBody{h.learning, frame.BodiesOf(states, thresholdOf)}, err
}

type previewBody struct {
	Learning   bool            `json:"learning"`
	Since      time.Time       `json:"since"`
	Thresholds []previewedBody `json:"thresholds"`
}

type previewedBody struct {
	Name    memory.ThresholdName `json:"name"`
	Value   float64              `json:"value"`
	Next    float64              `json:"next"`
	Why     string               `json:"why"`
	Kept    []proposalBody       `json:"kept"`
	Refused []proposalBody       `json:"refused"`
	Gone    []goneBody           `json:"gone"`
	More    bool                 `json:"more"`
}

// goneBody is a result that contexts would have left out, with the feedback on it.
type goneBody struct {
	RecallID   string              `json:"recall_id"`
	UserID     string              `json:"user_id"`
	MemoryID   string              `json:"memory_id"`
	Confidence float64             `json:"confidence"`
	Feedback   memory.FeedbackKind `json:"feedback"`
}

const previewedDays = 7 // unless the request says another number

func (h thresholdHandlers) preview(ctx context.Context, r *frame.Request) (any, error) {
	days := r.QueryInteger("days", previewedDays)
	if err := r.Err(); err != nil {
		return nil, err
	}
	since := memory.Instant(h.now().AddDate(0, 0, -days))
	previews, err := h.keeper.Preview(ctx, r.Key.AppID, since)
	return previewBody{h.learning, since, frame.BodiesOf(previews, func(p learning.Preview) previewedBody {
		return previewedBody{
			Name: p.Name, Value: p.Value, Next: p.Next, Why: p.Why, Kept: frame.BodiesOf(p.Kept, proposalOf),
			Refused: frame.BodiesOf(p.Refused, proposalOf), More: p.More,
			Gone: frame.BodiesOf(p.Gone, func(f memory.Feedback) goneBody {
				return goneBody{
					RecallID: f.SourceID, UserID: f.UserID, MemoryID: f.MemoryID, Confidence: f.Score, Feedback: f.Kind,
				}
			}),
		}
	})}, err
}

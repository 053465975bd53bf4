package api

import (
	"context"
	"fmt"
	"time"

	"hippocampus/internal/memory"
	"hippocampus/learning"
	"hippocampus/server/frame"
)

// FeedbackKeeper keeps what became of the memories that recalls returned; package learning implements it.
type FeedbackKeeper interface {
	// Give returns all feedback on the recall.
	Give(ctx context.Context, g learning.Given) ([]memory.Feedback, error)
	// Rate stores feedback on a memory that names no recall, or takes it back if the kind is empty.
	Rate(ctx context.Context, m memory.Memory, kind memory.FeedbackKind) error
	// On lists feedback on recalls of a user.
	On(ctx context.Context, owner memory.Owner, recallIDs []string) ([]memory.Feedback, error)
	// Count counts an app's feedback by kind, or that on one memory of the owner.
	Count(ctx context.Context, of memory.Owner, memoryID string) (map[memory.FeedbackKind]int, error)
}

type feedbackRequest struct {
	UserID     string   `json:"user_id"`
	Used       []string `json:"used"`
	Irrelevant []string `json:"irrelevant"`
	Wrong      []string `json:"wrong"`
	Withdrawn  []string `json:"withdrawn"`
}

type feedbackBody struct {
	RecallID string           `json:"recall_id"`
	Memories []memoryFeedback `json:"memories"`
}

type memoryFeedback struct {
	ID       string              `json:"id"`
	Feedback memory.FeedbackKind `json:"feedback"`
	At       time.Time           `json:"at"`
}

func (h recallHandlers) giveFeedback(ctx context.Context, r *frame.Request, body feedbackRequest) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	given := learning.Given{
		Owner: r.BodyOwner(body.UserID), RecallID: id, Withdrawn: body.Withdrawn,
		On: map[memory.FeedbackKind][]string{
			memory.FeedbackUsed: body.Used, memory.FeedbackIrrelevant: body.Irrelevant, memory.FeedbackWrong: body.Wrong,
		},
	}
	named := map[string]string{}
	name := func(list string, ids []string) {
		for i, id := range ids {
			path := fmt.Sprintf("%s[%d]", list, i)
			if before, twice := named[id]; twice {
				r.Note(path, "names the same memory as "+before+": say one thing about it")
			}
			named[id] = path
		}
	}
	for _, kind := range memory.FeedbackKinds {
		name(string(kind), given.On[kind])
	}
	name("withdrawn", given.Withdrawn)
	switch n := len(named); {
	case n == 0:
		r.Note("body", "names no memory: give used, irrelevant, wrong or withdrawn")
	case n > learning.MaxFeedback:
		r.Note("body", fmt.Sprintf("names %d memories: at most %d are allowed", n, learning.MaxFeedback))
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if err := admitWrite(ctx, r, h.Modes, given.Owner, ""); err != nil {
		return nil, err
	}
	all, err := h.Feedback.Give(ctx, given)
	return feedbackBody{RecallID: id, Memories: frame.BodiesOf(all, func(f memory.Feedback) memoryFeedback {
		return memoryFeedback{f.MemoryID, f.Kind, f.At}
	})}, err
}

type ratingRequest struct {
	Feedback memory.FeedbackKind `json:"feedback"` // empty: null, which takes it back
}

// rate keeps feedback on a memory that names no recall.
func (h memoryHandlers) rate(ctx context.Context, r *frame.Request, body ratingRequest) (any, error) {
	id, err := r.MemoryID()
	if err != nil {
		return nil, err
	}
	m, err := h.Reader.Memory(ctx, r.Key.AppID, id)
	if err != nil {
		return nil, err
	}
	if err := admitWrite(ctx, r, h.modes, m.Owner, ""); err != nil {
		return nil, err
	}
	if err := h.feedback.Rate(ctx, m, body.Feedback); err != nil {
		return nil, err
	}
	return h.detail(ctx, m)
}

// feedbackCounts counts feedback of clients.
type feedbackCounts struct {
	Used       int `json:"used"`
	Irrelevant int `json:"irrelevant"`
	Wrong      int `json:"wrong"`
}

func feedbackCountsOf(n map[memory.FeedbackKind]int) feedbackCounts {
	return feedbackCounts{n[memory.FeedbackUsed], n[memory.FeedbackIrrelevant], n[memory.FeedbackWrong]}
}

// feedbackStats is an app's feedback.
type feedbackStats struct {
	Used       int     `json:"used"`
	Irrelevant int     `json:"irrelevant"`
	Wrong      int     `json:"wrong"`
	UsedShare  float64 `json:"used_share"` // of the memories that feedback was given on, 0..1
}

func feedbackStatsOf(n map[memory.FeedbackKind]int) feedbackStats {
	c := feedbackCountsOf(n)
	share := float64(c.Used) / float64(max(c.Used+c.Irrelevant+c.Wrong, 1))
	return feedbackStats{Used: c.Used, Irrelevant: c.Irrelevant, Wrong: c.Wrong, UsedShare: share}
}

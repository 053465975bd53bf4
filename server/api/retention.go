package api

import (
	"context"
	"time"

	"hippocampus/forgetting"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// outlookBody describes how the retention of a memory will develop.
type outlookBody struct {
	At        time.Time  `json:"at"`
	Threshold float64    `json:"threshold"`
	Exempt    bool       `json:"exempt"`
	Left      courseBody `json:"left"`
	Accessed  courseBody `json:"accessed"`
}

type courseBody struct {
	FadesAt time.Time   `json:"fades_at,omitzero"`
	Points  []pointBody `json:"points"`
}

type pointBody struct {
	At        time.Time `json:"at"`
	Retention float64   `json:"retention"`
}

func courseOf(c forgetting.Course) courseBody {
	return courseBody{
		FadesAt: memory.Instant(c.FadesAt),
		Points: frame.BodiesOf(c.Points, func(p forgetting.Point) pointBody {
			return pointBody{At: memory.Instant(p.At), Retention: p.Retention}
		}),
	}
}

func (h forgetHandlers) outlook(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.MemoryID()
	if err != nil {
		return nil, err
	}
	m, err := h.memories.Memory(ctx, r.Key.AppID, id)
	if err != nil {
		return nil, err
	}
	rule, err := h.forgetter.RuleFor(ctx, m.Owner)
	if err != nil {
		return nil, err
	}
	o := rule.Outlook(forgetting.AgeOf(m), memory.Instant(h.now()))
	return outlookBody{
		At: o.At, Threshold: rule.Threshold, Exempt: o.Exempt,
		Left: courseOf(o.Left), Accessed: courseOf(o.Accessed),
	}, nil
}

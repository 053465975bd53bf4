package api

import (
	"context"
	"time"

	"hippocampus/exchange"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

type clonedUserBody struct {
	UserID      string          `json:"user_id"`
	Into        string          `json:"into"`
	RequestedAt time.Time       `json:"requested_at"`
	FinishedAt  time.Time       `json:"finished_at"`
	Copied      exchange.Counts `json:"copied"`
	Present     exchange.Counts `json:"already_there"`
	LeftOut     int             `json:"left_out"`
	Failed      int             `json:"failed"`
	Errors      []string        `json:"errors"`
}

// clone copies what the user of the path has to the user whom the body names.
func (h exchangeHandlers) clone(ctx context.Context, r *frame.Request, body mergeBody) (any, error) {
	begin := memory.Instant(h.now())
	from, into, err := twoUsers(r, "into", body.Into)
	if err != nil {
		return nil, err
	}
	done, err := h.exchanger.Clone(ctx, from, into, func(line []byte) error {
		return h.admitLine(ctx, into.AppID, line)
	})
	return clonedUserBody{
		UserID: from.UserID, Into: into.UserID, RequestedAt: begin, FinishedAt: memory.Instant(h.now()),
		Copied: done.Copied, Present: done.Present, LeftOut: done.LeftOut, Failed: done.Failed, Errors: done.Errors,
	}, err
}

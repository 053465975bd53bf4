package api

import (
	"context"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// Merger moves everything of a user to another one; package erasure implements it.
type Merger interface {
	Merge(ctx context.Context, m db.Merge) (db.Erasure, error)
}

type mergeHandlers struct{ merger Merger }

func (h mergeHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/users/:user_id/merge", memory.RoleAdmin, frame.WithBody(h.merge))
	r.Add("POST /v1/users/:user_id/rename", memory.RoleAdmin, frame.WithBody(h.rename))
}

type mergeBody struct {
	Into string `json:"into"`
}

type renameBody struct {
	To string `json:"to"`
}

type mergedUserBody struct {
	UserID      string    `json:"user_id"`
	Into        string    `json:"into"`
	RequestedAt time.Time `json:"requested_at"`
	FinishedAt  time.Time `json:"finished_at"`
	Moved       db.Erased `json:"moved"`
	Verified    bool      `json:"verified"` // always true, since a merge ends only after checking every store
}

func (h mergeHandlers) merge(ctx context.Context, r *frame.Request, body mergeBody) (any, error) {
	return h.move(ctx, r, "into", body.Into, false)
}

func (h mergeHandlers) rename(ctx context.Context, r *frame.Request, body renameBody) (any, error) {
	return h.move(ctx, r, "to", body.To, true)
}

// move moves the user of the path to the user whom a field of the body names.
func (h mergeHandlers) move(ctx context.Context, r *frame.Request, field, userID string, isNew bool) (any, error) {
	from, into, err := twoUsers(r, field, userID)
	if err != nil {
		return nil, err
	}
	done, err := h.merger.Merge(ctx, db.Merge{From: from, Into: into, New: isNew})
	return mergedUserBody{
		UserID: from.UserID, Into: into.UserID, RequestedAt: done.RequestedAt, FinishedAt: done.DoneAt,
		Moved: done.Deleted, Verified: true,
	}, err
}

// twoUsers are the user of the path and another one, whom a field of the body names.
func twoUsers(r *frame.Request, field, userID string) (from, into memory.Owner, err error) {
	from = r.Owner("path.user_id", r.Key, r.PathValue("user_id"))
	into = r.Owner(field, r.Key, userID)
	if from == into {
		r.Note(field, "names the user of the path: name another one")
	}
	return from, into, r.Err()
}

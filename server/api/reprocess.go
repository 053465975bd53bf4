package api

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// ReprocessParts are the parts behind the routes that score turns again.
type ReprocessParts struct {
	Runner Reprocessor
	Reader ReprocessingReader
}

// Reprocessor scores turns again; package ingest implements it.
type Reprocessor interface {
	// Reprocess begins a run. KindConflict: another run of one of its users has not ended.
	Reprocess(ctx context.Context, of memory.Owner, sel memory.TurnSelection) (memory.Reprocessing, error)
	// TryReprocess returns what a run would change of at most limit turns after a place, and the place of the
	// last one; zero after the last turn.
	TryReprocess(ctx context.Context, r memory.Reprocessing, limit int) ([]ingest.Rescored, memory.TurnPlace, error)
	// UndoReprocess begins to undo a run. KindConflict: a later run of the same user is not undone.
	UndoReprocess(ctx context.Context, appID, id string) (memory.Reprocessing, error)
}

// ReprocessingReader reads runs; db.Reprocessings implements it.
type ReprocessingReader interface {
	Reprocessing(ctx context.Context, appID, id string) (memory.Reprocessing, error)
	ListReprocessings(ctx context.Context, f db.ReprocessingFilter) ([]memory.Reprocessing, error)
}

type reprocessHandlers struct {
	ReprocessParts
	turns    TurnIngester
	policies PolicyKeeper
	slots    *frame.Slots
}

func (h reprocessHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/turns/reprocess", memory.RoleWrite, frame.WithBody(h.post))
	runs := frame.List[db.ReprocessingFilter, memory.Reprocessing, reprocessingBody]{
		Name: "reprocessings",
		Filter: func(r *frame.Request, p frame.Page) db.ReprocessingFilter {
			of := memory.Owner{AppID: r.Key.AppID, UserID: r.QueryID("user_id")}
			return db.ReprocessingFilter{Owner: of, Before: p.Before, Limit: p.Limit}
		},
		Find:     h.Reader.ListReprocessings,
		Body:     reprocessingOf,
		Position: func(m memory.Reprocessing) db.Position { return db.Position{At: m.CreatedAt, ID: m.ID} },
	}
	r.Add("GET /v1/reprocessings", memory.RoleRead, runs.Handle)
	r.Add("GET /v1/reprocessings/:id", memory.RoleRead, h.get)
	r.Add("POST /v1/reprocessings/:id/undo", memory.RoleWrite, h.undo)
}

type reprocessRequest struct {
	UserID         string `json:"user_id"`
	ConversationID string `json:"conversation_id"`
	From           string `json:"from"`
	Until          string `json:"until"`
	Scorer         string `json:"scorer"`
	PolicyVersion  *int   `json:"policy_version"`
	OlderPolicy    bool   `json:"older_policy"`
	DryRun         bool   `json:"dry_run"`
	Cursor         string `json:"cursor"` // with DryRun alone, as is Limit
	Limit          int    `json:"limit"`
}

// defaultTried is how many turns a page of a dry run has by default.
const defaultTried = 10

type reprocessingBody struct {
	ID             string                    `json:"id"`
	UserID         string                    `json:"user_id,omitempty"`
	ConversationID string                    `json:"conversation_id,omitempty"`
	From           time.Time                 `json:"from,omitzero"`
	Until          time.Time                 `json:"until,omitzero"`
	Scorer         string                    `json:"scorer,omitempty"`
	PolicyVersion  *int                      `json:"policy_version,omitempty"`
	PolicyBefore   *int                      `json:"policy_before,omitempty"`
	State          memory.ReprocessingState  `json:"state"`
	Counts         memory.ReprocessingCounts `json:"counts"`
	Reached        time.Time                 `json:"reached,omitzero"`
	Note           string                    `json:"note,omitempty"`
	CreatedAt      time.Time                 `json:"created_at"`
	EndedAt        time.Time                 `json:"ended_at,omitzero"`
}

func reprocessingOf(r memory.Reprocessing) reprocessingBody {
	sel := r.Selection
	return reprocessingBody{
		ID: r.ID, UserID: r.UserID, ConversationID: sel.ConversationID, From: sel.From, Until: sel.Until, Scorer: sel.Scorer,
		PolicyVersion: sel.Policy, PolicyBefore: sel.PolicyBefore, State: r.State, Counts: r.Counts, Reached: r.Place.At,
		Note: r.Note, CreatedAt: r.CreatedAt, EndedAt: r.EndedAt,
	}
}

// rescoredBody is what scoring a turn again would change.
type rescoredBody struct {
	TurnID         string          `json:"turn_id"`
	UserID         string          `json:"user_id"`
	ConversationID string          `json:"conversation_id,omitempty"`
	At             time.Time       `json:"at"`
	ScoredBy       string          `json:"scored_by,omitempty"`
	Added          []candidateBody `json:"added"`
	Kept           []stillBody     `json:"kept"`
	Removed        []stillBody     `json:"removed"`
	Skipped        string          `json:"skipped,omitempty"`
}

// stillBody is a memory that a turn states or stated.
type stillBody struct {
	MemoryID string `json:"memory_id"`
	Content  string `json:"content"`
	Reason   string `json:"reason,omitempty"`
}

func rescoredOf(r ingest.Rescored) rescoredBody {
	return rescoredBody{
		TurnID: r.Turn.ID, UserID: r.Turn.UserID, ConversationID: r.Turn.ConversationID, At: r.Turn.At,
		ScoredBy: r.Turn.Scored.By, Added: frame.BodiesOf(r.Added, candidateOf), Skipped: r.Skipped,
		Kept: frame.BodiesOf(r.Kept, func(k ingest.StillStated) stillBody { return stillBody{k.ID, k.Content, k.Why} }),
		Removed: frame.BodiesOf(r.Removed, func(m memory.Memory) stillBody {
			return stillBody{MemoryID: m.ID, Content: m.Content}
		}),
	}
}

func (h reprocessHandlers) post(ctx context.Context, r *frame.Request, body reprocessRequest) (any, error) {
	run := memory.Reprocessing{Owner: memory.Owner{AppID: r.Key.AppID, UserID: body.UserID}}
	r.OptionalIDs("", body.UserID, body.ConversationID)
	sel := memory.TurnSelection{
		ConversationID: body.ConversationID, From: r.Time("from", body.From), Until: r.Time("until", body.Until),
		Scorer: body.Scorer, Policy: body.PolicyVersion,
	}
	if body.OlderPolicy && body.PolicyVersion != nil {
		r.Note("older_policy", "does not go with policy_version: leave one of them out")
	}
	if !body.DryRun && (body.Cursor != "" || body.Limit != 0) {
		r.Note("dry_run", "is false, but cursor and limit go with a dry run alone: leave them out")
	}
	if body.UserID == "" && !r.Key.Role.Includes(memory.RoleAdmin) {
		r.Note("user_id", "is required, since only a key of the role admin scores the turns of all users again")
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if body.OlderPolicy {
		serving, err := h.policies.Show(ctx, r.Key.AppID, 0)
		if err != nil {
			return nil, err
		}
		sel.PolicyBefore = &serving.Number
	}
	if body.DryRun {
		run.Selection = sel
		return h.try(ctx, r, run, body)
	}
	run, err := h.Runner.Reprocess(ctx, run.Owner, sel)
	return frame.WithStatus(http.StatusAccepted, reprocessingOf(run)), err
}

// try answers what a run would change.
func (h reprocessHandlers) try(
	ctx context.Context, r *frame.Request, run memory.Reprocessing, body reprocessRequest,
) (any, error) {
	if body.Cursor != "" {
		at, fault := frame.ParseCursor(r.Path(), body.Cursor, false)
		after, err := h.turns.Outcome(ctx, r.Key.AppID, at.ID)
		if memory.IsKind(err, memory.KindNotFound) || run.UserID != "" && after.Turn.UserID != run.UserID {
			fault, err = cmp.Or(fault, frame.InvalidCursor), nil
		}
		if err != nil {
			return nil, err
		}
		if fault != "" {
			r.Note("cursor", fault)
			return nil, r.Err()
		}
		run.Place = memory.TurnPlace{UserID: after.Turn.UserID, At: at.At, TurnID: at.ID}
	}
	limit := body.Limit
	if limit == 0 {
		limit = defaultTried
	}
	answer := struct {
		Turns []rescoredBody `json:"turns"`
		Next  string         `json:"next_cursor,omitempty"`
	}{}
	err := h.slots.Run(ctx, func() error {
		found, last, err := h.Runner.TryReprocess(ctx, run, limit)
		answer.Turns = frame.BodiesOf(found, rescoredOf)
		if last.TurnID != "" {
			answer.Next = r.NextCursor(db.Position{At: last.At, ID: last.TurnID}, false)
		}
		return err
	})
	return answer, err
}

func (h reprocessHandlers) get(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	run, err := h.Reader.Reprocessing(ctx, r.Key.AppID, id)
	return reprocessingOf(run), err
}

func (h reprocessHandlers) undo(ctx context.Context, r *frame.Request) (any, error) {
	id, err := r.PathID()
	if err != nil {
		return nil, err
	}
	run, err := h.Reader.Reprocessing(ctx, r.Key.AppID, id)
	if err != nil {
		return nil, err
	}
	if run.UserID == "" && !r.Key.Role.Includes(memory.RoleAdmin) {
		return nil, memory.Errorf(memory.KindForbidden, "a run over all users is undone with a key of the role admin")
	}
	run, err = h.Runner.UndoReprocess(ctx, r.Key.AppID, id)
	return frame.WithStatus(http.StatusAccepted, reprocessingOf(run)), err
}

package api

import (
	"context"
	"encoding/json"
	"fmt"

	"hippocampus/ingest"
	"hippocampus/ingest/statement"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
	"hippocampus/server/frame"
)

// changedBody is a memory that was forgotten or restored, with the effects on other items.
type changedBody struct {
	wire.Memory
	Effects []effectBody      `json:"effects"`
	Facts   []factEffectBody  `json:"facts"`
	Events  []eventEffectBody `json:"events"`
}

// effectBody is the effect on another memory.
type effectBody struct {
	ID   string        `json:"id"`
	Type memory.Type   `json:"type"`
	Done ingest.Done   `json:"done"`
	Why  statement.Why `json:"why,omitempty"`
}

func effectOf(e ingest.Effect) effectBody {
	return effectBody{ID: e.ID, Type: e.Type, Done: e.Done, Why: e.Why}
}

// factEffectBody is the effect on a fact of a timeline.
type factEffectBody struct {
	ID   string      `json:"id"`
	Type string      `json:"type"`
	Key  string      `json:"key"`
	Done ingest.Done `json:"done"`
}

func factEffectOf(e ingest.FactEffect) factEffectBody { return factEffectBody(e) }

// eventEffectBody is the effect on a message of a turn.
type eventEffectBody struct {
	TurnID         string      `json:"turn_id"`
	ConversationID string      `json:"conversation_id,omitempty"`
	Number         int64       `json:"number,omitempty"`
	Message        int         `json:"message"`
	Done           ingest.Done `json:"done"`
}

func eventEffectOf(e ingest.LogEffect) eventEffectBody { return eventEffectBody(e) }

// editOne makes a handler that forgets or restores the memory that the path names.
func editOne(
	edit func(ctx context.Context, appID, id string, scope ingest.Scope) (ingest.Edited, error),
) frame.Handler {
	return func(ctx context.Context, r *frame.Request) (any, error) {
		id, err := r.MemoryID()
		if err != nil {
			return nil, err
		}
		e, err := edit(ctx, r.Key.AppID, id, ingest.Scope(r.Query.Get("scope")))
		return changedBody{
			Memory: wire.MemoryOf(e.Memory), Effects: frame.BodiesOf(e.Effects, effectOf),
			Facts:  frame.BodiesOf(e.Facts, factEffectOf),
			Events: frame.BodiesOf(e.Log, eventEffectOf),
		}, err
	}
}

// restoreMemoriesRequest names the memories that are restored.
type restoreMemoriesRequest struct {
	IDs   []string     `json:"ids"`
	Scope ingest.Scope `json:"scope,omitempty"`
}

// forgetMemoriesRequest names or selects the memories that are forgotten.
type forgetMemoriesRequest struct {
	restoreMemoriesRequest
	UserID         string          `json:"user_id"`
	TurnID         string          `json:"turn_id"`
	ConversationID string          `json:"conversation_id"`
	Filter         json.RawMessage `json:"filter"`
	DryRun         bool            `json:"dry_run"`
}

// editedBody is the result for one memory: a status, or an error.
type editedBody struct {
	ID      string            `json:"id"`
	Status  memory.Status     `json:"status,omitempty"`
	Effects []effectBody      `json:"effects,omitempty"`
	Facts   []factEffectBody  `json:"facts,omitempty"`
	Events  []eventEffectBody `json:"events,omitempty"`
	Error   *frame.Problem    `json:"error,omitempty"`
}

func editedOf(e ingest.Edited) editedBody {
	if e.Err != nil {
		return editedBody{ID: e.ID, Error: frame.ProblemPointer(e.Err)}
	}
	return editedBody{
		ID: e.ID, Status: e.Memory.Status, Effects: frame.BodiesOf(e.Effects, effectOf),
		Facts: frame.BodiesOf(e.Facts, factEffectOf), Events: frame.BodiesOf(e.Log, eventEffectOf),
	}
}

func (h memoryHandlers) forgetMany(ctx context.Context, r *frame.Request, body forgetMemoriesRequest) (any, error) {
	how := ingest.Forgetting{Scope: body.Scope, DryRun: body.DryRun}
	selects := body.TurnID != "" || body.ConversationID != "" || body.Filter != nil
	switch {
	case body.IDs != nil && (selects || body.UserID != ""):
		r.Note("ids", "go without user_id, turn_id, conversation_id and filter")
		return nil, r.Err()
	case body.IDs != nil:
		return editEach(r, body.IDs, func() []ingest.Edited { return h.Writer.ForgetAll(ctx, r.Key.AppID, body.IDs, how) })
	case !selects:
		r.Note("ids", "are missing: give ids, or user_id with turn_id, conversation_id or filter")
		return nil, r.Err()
	}
	sel := ingest.Selection{
		Owner: r.BodyOwner(body.UserID), TurnID: body.TurnID, ConversationID: body.ConversationID,
		Where: r.Where("filter", body.Filter),
	}
	r.Note("turn_id", memory.CheckID(body.TurnID, true))
	r.Note("conversation_id", memory.CheckID(body.ConversationID, true))
	if err := r.Err(); err != nil {
		return nil, err
	}
	done, err := h.Writer.ForgetSelected(ctx, sel, how)
	if err == nil {
		err = unavailable(frame.BodiesOf(done.Forgotten, func(e ingest.Edited) error { return e.Err }))
	}
	return map[string]any{
		"results": frame.BodiesOf(done.Forgotten, editedOf), "pinned": append([]string{}, done.Pinned...), "more": done.More,
	}, err
}

func (h memoryHandlers) restoreMany(ctx context.Context, r *frame.Request, body restoreMemoriesRequest) (any, error) {
	return editEach(r, body.IDs, func() []ingest.Edited {
		return h.Writer.RestoreAll(ctx, r.Key.AppID, body.IDs, body.Scope)
	})
}

// editEach answers for each id separately: an unknown one does not affect the others. An error if nothing could be
// done, since a part of the server is unavailable.
func editEach(r *frame.Request, ids []string, edit func() []ingest.Edited) (any, error) {
	for i, id := range ids {
		if !memory.IsID(id) {
			r.Note(fmt.Sprintf("ids[%d]", i), "is not the id of a memory, such as 0198c0de-0000-7000-8000-000000000003")
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	results := edit()
	if err := unavailable(frame.BodiesOf(results, func(e ingest.Edited) error { return e.Err })); err != nil {
		return nil, err
	}
	return map[string]any{"results": frame.BodiesOf(results, editedOf)}, nil
}

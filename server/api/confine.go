package api

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// owners finds the owners of the memories and turns that requests name by their ids.
type owners struct {
	memories  MemoryReader
	turns     TurnIngester
	documents DocumentReader
	insights  InsightDecider
}

// confinementOf returns the confinement of a route, or nil if keys of one user may not use the route:
//
//	the route names a user in its query or body   -> it must be the key's user
//	the route names memories, turns, documents or proposals by their id -> those of other users are unknown
//	the route shows the key itself                -> always allowed
//	any other route                               -> nil
//
// Every other protocol reads and changes memories by requests to these routes as the same key, so that no surface
// needs a check of its own.
func (o owners) confinementOf(rt frame.Route, op *frame.Operation) frame.Confinement {
	switch {
	case strings.HasPrefix(rt.Path, "/v1/admin/"):
		return nil
	case strings.HasPrefix(rt.Path, "/v1/memories/:id"):
		return o.confineMemory
	case strings.HasPrefix(rt.Path, "/v1/turns/:id"):
		return o.confineTurn
	case strings.HasPrefix(rt.Path, "/v1/documents/:id"):
		return o.confineDocument
	case strings.HasPrefix(rt.Path, "/v1/proposals/:id"):
		return o.confineInsight
	case rt.Path == "/v1/memories/forget", rt.Path == "/v1/memories/restore":
		return o.confineMany
	case rt.Path == "/v1/memories/batch":
		return confineBatch
	case rt.Path == "/v1/pool" && rt.Method == "GET", strings.HasPrefix(rt.Path, "/v1/pool/"):
		return anyone // the handlers know which keys of users may use the pool, and what they may withdraw
	case rt.Path == "/v1/key":
		return anyone
	case rt.Path == "/v1/turns/reprocess", strings.HasPrefix(rt.Path, "/v1/reprocessings"): // the app pays for these
		return nil
	case rt.Path == "/v1/stats": // counts the whole app, also where it names a user
		return nil
	case rt.Path == "/v1/users/:user_id/merge", rt.Path == "/v1/users/:user_id/rename",
		rt.Path == "/v1/users/:user_id/clone": // these concern two users
		return nil
	case strings.HasPrefix(rt.Path, "/v1/users/:user_id/"), rt.Method == "PUT" && rt.Path == "/v1/users/:user_id":
		return func(_ context.Context, r *frame.Request) error {
			return confineUser(r, "path.user_id", r.PathValue("user_id"))
		}
	case op.Parameters.GetByInAndName("query", "user_id") != nil:
		return func(_ context.Context, r *frame.Request) error {
			return confineUser(r, "query.user_id", r.Query.Get("user_id"))
		}
	case op.Body != nil && op.Body.Properties["user_id"] != nil:
		return confineBody
	}
	return nil
}

func anyone(context.Context, *frame.Request) error { return nil }

// confineUser refuses another user than that of the key, and a request that names no user.
func confineUser(r *frame.Request, path, named string) error {
	if named == r.Key.UserID {
		return nil
	}
	return memory.Errorf(memory.KindForbidden, "%s is not the user %q, whom the key that was sent is bound to: name this "+
		"user, or use a key of the whole app (`hippocampus key create` without --user)", path, r.Key.UserID)
}

func confineBody(_ context.Context, r *frame.Request) error {
	body, err := frame.Decode[struct {
		UserID       string        `json:"user_id"`
		Participants memory.People `json:"participants"`
	}](r.Body)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(body.Participants)) {
		path := fmt.Sprintf("participants[%q]", memory.Clip(name, 40))
		if err := confineUser(r, path, body.Participants[name]); err != nil {
			return err
		}
	}
	return confineUser(r, "user_id", body.UserID)
}

func (o owners) confineMemory(ctx context.Context, r *frame.Request) error {
	id, err := r.MemoryID()
	if err != nil {
		return err
	}
	m, err := o.memories.Memory(ctx, r.Key.AppID, id)
	return hidden(r, m.Owner, err)
}

func (o owners) confineTurn(ctx context.Context, r *frame.Request) error {
	ref, err := r.PathID()
	if err != nil {
		return err
	}
	found, err := o.turns.Outcome(ctx, r.Key.AppID, ref)
	return hidden(r, found.Turn.Owner, err)
}

func (o owners) confineDocument(ctx context.Context, r *frame.Request) error {
	id, err := r.PathID()
	if err != nil {
		return err
	}
	d, err := o.documents.SourceDocument(ctx, r.Key.AppID, id)
	return hidden(r, d.Owner, err)
}

func (o owners) confineInsight(ctx context.Context, r *frame.Request) error {
	id, err := r.PathID()
	if err != nil {
		return err
	}
	p, err := o.insights.Proposed(ctx, r.Key.AppID, id)
	return hidden(r, p.Owner, err)
}

// hidden returns the same error for what belongs to another user and for what does not exist.
func hidden(r *frame.Request, owner memory.Owner, err error) error {
	if memory.IsKind(err, memory.KindNotFound) || err == nil && owner.UserID != r.Key.UserID {
		return memory.Errorf(memory.KindNotFound, "the user of the key has nothing with this id: check the id")
	}
	return err
}

// confineMany leaves ids of unknown memories to the handler, which answers for each of them.
func (o owners) confineMany(ctx context.Context, r *frame.Request) error {
	body, err := frame.Decode[struct {
		IDs    []string `json:"ids"`
		UserID *string  `json:"user_id"`
	}](r.Body)
	if err != nil {
		return err
	}
	if body.UserID != nil {
		if err := confineUser(r, "user_id", *body.UserID); err != nil {
			return err
		}
	}
	for _, id := range body.IDs {
		if !memory.IsID(id) {
			continue
		}
		m, err := o.memories.Memory(ctx, r.Key.AppID, id)
		switch {
		case memory.IsKind(err, memory.KindNotFound):
		case err != nil:
			return err
		case m.UserID != r.Key.UserID:
			return memory.Errorf(memory.KindNotFound, "the user of the key has no memory %q: nothing was changed", id)
		}
	}
	return nil
}

// confineBatch refuses a batch with a write for another user. Items that the contract refused are not written.
func confineBatch(_ context.Context, r *frame.Request) error {
	body, err := frame.Decode[batchRequest](r.Body)
	if err != nil {
		return err
	}
	for i, item := range body.Memories {
		if r.Items[i] != nil {
			continue
		}
		write, err := frame.Decode[writeRequest](item)
		if err != nil {
			continue // the handler refuses the item
		}
		if err := confineUser(r, fmt.Sprintf("memories[%d].user_id", i), write.UserID); err != nil {
			return err
		}
	}
	return nil
}

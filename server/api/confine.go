package api

import (
	"context"
	"fmt"
	"strings"

	"hippocampus/internal/memory"
)

// owners finds whom the memories and turns belong to that requests name by their ids.
type owners struct {
	memories MemoryReader
	turns    TurnIngester
}

// confinementOf returns the confinement of a route, or nil if keys of one user may not use the route:
//
//	the route names a user in its query or body   -> it must be the key's user
//	the route names memories or turns by their id -> others than those of the key's user are unknown
//	the route shows the key itself                -> always allowed
//	any other route                               -> nil
//
// Every other protocol reads and changes memories by requests to these routes as the same key, so that no surface
// needs a check of its own.
func (o owners) confinementOf(rt route, op *operation) confinement {
	switch {
	case strings.HasPrefix(rt.path, "/v1/admin/"):
		return nil
	case strings.HasPrefix(rt.path, "/v1/memories/:id"):
		return o.confineMemory
	case strings.HasPrefix(rt.path, "/v1/turns/:id"):
		return o.confineTurn
	case rt.path == "/v1/memories/forget", rt.path == "/v1/memories/restore":
		return o.confineMany
	case rt.path == "/v1/memories/batch":
		return confineBatch
	case rt.path == "/v1/key":
		return func(context.Context, *request) error { return nil }
	case rt.path == "/v1/stats": // counts the whole app, also where it names a user
		return nil
	case strings.HasPrefix(rt.path, "/v1/users/:user_id/"), rt.method == "PUT" && rt.path == "/v1/users/:user_id":
		return func(_ context.Context, r *request) error {
			return confineUser(r, "path.user_id", r.param("user_id"))
		}
	case op.parameters.GetByInAndName("query", "user_id") != nil:
		return func(_ context.Context, r *request) error {
			return confineUser(r, "query.user_id", r.query.Get("user_id"))
		}
	case op.body != nil && op.body.Properties["user_id"] != nil:
		return confineBody
	}
	return nil
}

// confineUser refuses another user than that of the key, and a request that names no user.
func confineUser(r *request, path, named string) error {
	if named == r.key.UserID {
		return nil
	}
	return memory.Errorf(memory.KindForbidden, "%s is not the user %q, whom the key that was sent is bound to: name this "+
		"user, or use a key of the whole app (`hippocampus key create` without --user)", path, r.key.UserID)
}

func confineBody(_ context.Context, r *request) error {
	body, err := decode[struct {
		UserID string `json:"user_id"`
	}](r.body)
	if err != nil {
		return err
	}
	return confineUser(r, "user_id", body.UserID)
}

func (o owners) confineMemory(ctx context.Context, r *request) error {
	id, err := r.memoryID()
	if err != nil {
		return err
	}
	m, err := o.memories.Memory(ctx, r.key.AppID, id)
	return hidden(r, m.Owner, err)
}

func (o owners) confineTurn(ctx context.Context, r *request) error {
	ref, err := r.pathID()
	if err != nil {
		return err
	}
	found, err := o.turns.Outcome(ctx, r.key.AppID, ref)
	return hidden(r, found.Turn.Owner, err)
}

// hidden gives the same error for what belongs to another user and for what does not exist.
func hidden(r *request, owner memory.Owner, err error) error {
	if memory.IsKind(err, memory.KindNotFound) || err == nil && owner.UserID != r.key.UserID {
		return memory.Errorf(memory.KindNotFound, "the user of the key has nothing with this id: check the id")
	}
	return err
}

// confineMany leaves ids of unknown memories to the handler, which answers for each of them.
func (o owners) confineMany(ctx context.Context, r *request) error {
	body, err := decode[struct {
		IDs    []string `json:"ids"`
		UserID *string  `json:"user_id"`
	}](r.body)
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
		m, err := o.memories.Memory(ctx, r.key.AppID, id)
		switch {
		case memory.IsKind(err, memory.KindNotFound):
		case err != nil:
			return err
		case m.UserID != r.key.UserID:
			return memory.Errorf(memory.KindNotFound, "the user of the key has no memory %q: nothing was changed", id)
		}
	}
	return nil
}

// confineBatch refuses a batch with a write for another user. Items that the contract refused are not written.
func confineBatch(_ context.Context, r *request) error {
	body, err := decode[batchRequest](r.body)
	if err != nil {
		return err
	}
	for i, item := range body.Memories {
		if r.items[i] != nil {
			continue
		}
		write, err := decode[writeRequest](item)
		if err != nil {
			continue // the handler refuses the item
		}
		if err := confineUser(r, fmt.Sprintf("memories[%d].user_id", i), write.UserID); err != nil {
			return err
		}
	}
	return nil
}

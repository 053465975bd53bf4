package main

import (
	"context"
	"fmt"
	"net/url"
	"time"
)

// instant returns a later instant with each call. All of them are in the past, so that a
// clock that jumps does not decide which of two statements is the later one.
func (w *writer) instant() string {
	w.names++
	return time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(w.names) * time.Minute).Format(time.RFC3339)
}

func anyObject(*object) bool { return true }

// one returns the name of one of a user's objects of a kind, or the name of a new one.
func (w *writer) one(user, what string, kind Kind) string {
	if o := w.pick(user, anyObject, kind); o != nil && w.random.IntN(4) > 0 {
		return o.name
	}
	return w.name(what, user)
}

func (w *writer) putFact(ctx context.Context, user string) {
	key, value := w.one(user, "key", PutFact), w.name("value", user)
	w.send(ctx, request{
		method: "PUT", path: "/v1/facts", repeatable: true,
		body:    fields{"user_id": user, "type": "thing", "key": key, "value": value, "valid_from": w.instant()},
		entries: []Entry{{User: user, Kind: PutFact, Object: key, Value: value}},
	})
}

func (w *writer) endFact(ctx context.Context, user string) {
	o := w.pick(user, func(o *object) bool { return !o.possible[""] }, PutFact)
	if o == nil {
		return
	}
	query := url.Values{"user_id": {user}, "type": {"thing"}, "key": {o.name}, "at": {w.instant()}}
	w.send(ctx, request{
		method: "DELETE", path: "/v1/facts?" + query.Encode(), repeatable: true,
		entries: []Entry{{User: user, Kind: EndFact, Object: o.name}},
	})
}

func (w *writer) publish(ctx context.Context, user string) {
	name, text := w.one(user, "rule", Publish), w.name("text", user)
	w.send(ctx, request{
		method: "POST", path: "/v1/instructions",
		body:    fields{"scope": "user", "user_id": user, "name": name, "content": text},
		entries: []Entry{{User: user, Kind: Publish, Object: name, Value: text}},
	})
}

func (w *writer) retire(ctx context.Context, user string) {
	if o := w.pick(user, func(o *object) bool { return !o.possible[""] }, Publish); o != nil {
		w.send(ctx, request{
			method: "DELETE", path: "/v1/instructions/" + o.name + "?scope=user&user_id=" + user, repeatable: true,
			entries: []Entry{{User: user, Kind: Retire, Object: o.name}},
		})
	}
}

func (w *writer) countOutcome(ctx context.Context, user string) {
	id := w.name("run", user)
	workflow := fmt.Sprintf("plan %d of %s", w.random.IntN(2), user)
	w.send(ctx, request{
		method: "POST", path: "/v1/skills/trade/outcomes", repeatable: true,
		body:    fields{"id": id, "user_id": user, "success": w.random.IntN(3) > 0, "workflow": workflow},
		entries: []Entry{{User: user, Kind: CountOutcome, Object: id, Of: workflow}},
	})
}

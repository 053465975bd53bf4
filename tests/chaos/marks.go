package main

import "context"

// pinned is the value of the pin of a memory that is pinned.
const pinned = "pinned"

// pin pins a memory, or unpins it. The pin is a separate object of the memory.
func (w *writer) pin(ctx context.Context, user string) {
	o := w.known(user, (*object).active)
	if o == nil {
		return
	}
	e := Entry{User: user, Kind: Pin, Object: "the pin of " + o.name, Of: o.name}
	if w.random.IntN(3) > 0 {
		e.Value = pinned
	}
	w.send(ctx, request{
		method: "PATCH", path: "/v1/memories/" + o.id, body: fields{"pinned": e.Value == pinned}, repeatable: true,
		entries: []Entry{e},
	})
}

// relate states a relation between two memories. Its name and id are made of the memories' names and ids.
func (w *writer) relate(ctx context.Context, user string) {
	from, to := w.known(user, (*object).active), w.known(user, (*object).active)
	if from == nil || from == to {
		return
	}
	w.send(ctx, request{
		method: "POST", path: "/v1/memories/" + from.id + "/relations", body: fields{"to": to.id, "kind": refines},
		repeatable: true,
		entries: []Entry{{
			User: user, Kind: Relate, Object: from.name + " refines " + to.name,
			ID: Relation{From: from.id, Kind: refines, To: to.id}.key(),
		}},
	})
}

const refines = "refines"

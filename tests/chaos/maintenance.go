package main

import "context"

// erase erases a user. It is called again for the user until the erasure is acknowledged.
func (w *writer) erase(ctx context.Context, user string) {
	w.erasing[user] = true
	a := w.send(ctx, request{
		method: "DELETE", path: "/v1/users/" + user, entries: []Entry{{User: user, Kind: Erase}}, repeatable: true,
	})
	if a.status != 0 && a.outcome() == Acknowledged {
		delete(w.erasing, user)
	}
}

// maintain asks for work that changes no object of the ledger.
func (w *writer) maintain(ctx context.Context, user, method, path string, body any) {
	w.send(ctx, request{
		method: method, path: path, body: body, entries: []Entry{{User: user, Kind: Maintain, Object: path}},
	})
}

func (w *writer) reflect(ctx context.Context, user string) {
	w.maintain(ctx, user, "POST", "/v1/reflect", fields{"user_id": user, "force": true})
}

func (w *writer) forgetFaded(ctx context.Context, user string) {
	w.maintain(ctx, user, "POST", "/v1/forget", fields{"user_id": user})
}

func (w *writer) compress(ctx context.Context, user string) {
	w.maintain(ctx, user, "POST", "/v1/compress", fields{"user_id": user})
}

func (w *writer) consolidate(ctx context.Context, user string) {
	if o := w.pick(user, isOpen, conversationIs); o != nil {
		w.maintain(ctx, user, "POST", "/v1/conversations/"+o.name+"/consolidate", fields{"user_id": user, "mode": "full"})
	}
}

func (w *writer) repair(ctx context.Context, user string) {
	w.maintain(ctx, user, "POST", "/v1/admin/repair", nil)
}

func (w *writer) rebuild(ctx context.Context, user string) {
	w.maintain(ctx, user, "POST", "/v1/admin/rebuild", nil)
}

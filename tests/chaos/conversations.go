package main

import (
	"context"
	"fmt"
)

// turn posts a turn, half of the time in a conversation. It must become a fact and a message.
func (w *writer) turn(ctx context.Context, user string) {
	name := w.name("talk", user)
	e := Entry{User: user, Kind: PostTurn, Object: name}
	body := fields{
		"id": name, "user_id": user, "wait": w.random.IntN(4) == 0,
		"messages": []fields{{"role": "user", "content": fmt.Sprintf("I bought %s with a %s.", name, w.some())}},
	}
	if w.random.IntN(2) == 0 {
		if o := w.pick(user, isOpen, conversationIs); o != nil && w.random.IntN(5) > 0 {
			e.Of = o.name
		} else {
			e.Of = w.name("conv", user)
		}
		body["conversation_id"] = e.Of
	}
	w.send(ctx, request{method: "POST", path: "/v1/turns", body: body, entries: []Entry{e}, repeatable: true})
}

// isOpen reports whether a conversation certainly exists and was not ended.
func isOpen(o *object) bool { return o.is(existing) }

func (w *writer) endConversation(ctx context.Context, user string) {
	if o := w.pick(user, isOpen, conversationIs); o != nil {
		w.send(ctx, request{
			method: "POST", path: "/v1/conversations/" + o.name + "/end", body: fields{"user_id": user}, repeatable: true,
			entries: []Entry{{User: user, Kind: EndConversation, Object: o.name}},
		})
	}
}

func (w *writer) deleteConversation(ctx context.Context, user string) {
	if o := w.pick(user, func(o *object) bool { return o.is(existing) || o.is(ended) }, conversationIs); o != nil {
		w.send(ctx, request{
			method: "DELETE", path: "/v1/conversations/" + o.name + "?user_id=" + user, repeatable: true,
			entries: []Entry{{User: user, Kind: DeleteConversation, Object: o.name}},
		})
	}
}

package api

import (
	"cmp"
	"context"

	"hippocampus/assembly"
	"hippocampus/internal/memory"
	"hippocampus/server/frame"
)

// returnContext asks for the context for a turn in the answer to it.
const returnContext = "context"

// turnContexts makes contexts for turns, as contextHandlers makes others.
type turnContexts struct {
	contextHandlers
	countRefused func(error)
}

// turnContextBody is the context for a turn, or why it could not be made. It is empty unless the context was asked for.
type turnContextBody struct {
	Context        *contextBody   `json:"context,omitempty"`
	ContextProblem *frame.Problem `json:"context_problem,omitempty"`
}

// accept stores a turn. If the request asks for it, accept also makes the context for the turn, at the same time and
// before a worker of this process takes the turn. A context that cannot be made does not fail the turn.
func (h turnHandlers) accept(ctx context.Context, r *frame.Request, body turnRequest, turn memory.Turn) (
	stored memory.Turn, fresh bool, asked turnContextBody, err error,
) {
	if body.Return != returnContext {
		if body.Context != nil {
			r.Note("context", "goes with return, which is missing: send `\"return\": \"context\"` or leave it out")
			return stored, false, asked, r.Err()
		}
		err = h.store(ctx, r, body, func() (err error) {
			stored, fresh, err = h.Ingester.Accept(ctx, turn)
			return err
		})
		return stored, fresh, asked, err
	}
	ask := h.contexts.requestFor(r, body, turn)
	if err := r.Err(); err != nil {
		return stored, false, asked, err
	}
	turn.ID = memory.NewID()
	beginning, end := context.WithCancel(ctx)
	defer end()
	var early <-chan turnContextBody
	start := func() {}
	err = h.store(ctx, r, body, func() (err error) {
		if turn.Replaces == "" { // else what it replaces would be in the context
			early = h.contexts.begin(beginning, ask, turn)
		}
		stored, fresh, start, err = h.Ingester.AcceptHeld(ctx, turn)
		return err
	})
	defer start()
	if early != nil {
		defer func() { end(); <-early }()
	}
	if err != nil {
		return stored, false, asked, err
	}
	if early != nil && stored.ID == turn.ID {
		return stored, fresh, <-early, nil
	}
	end()
	turn.ID = stored.ID // and the messages that the client sent, which may repeat those of earlier turns
	ask.Turn = &turn
	return stored, fresh, h.contexts.answer(ctx, ask), nil
}

// store calls accept, which stores a turn, in a slot and within the quotas of the app. What takes longer, such as the
// turn's processing and its context, has no slot of turns.
func (h turnHandlers) store(ctx context.Context, r *frame.Request, body turnRequest, accept func() error) error {
	return h.slots.Run(ctx, func() error {
		isStored := func() bool { return h.isStored(ctx, r.Key.AppID, body.ID) }
		if err := h.quotas.admitTurn(ctx, r, isStored); err != nil {
			return err
		}
		return accept()
	})
}

// begin makes a context for a turn that may not be stored yet, in the background. The channel is closed when that ends.
func (h turnContexts) begin(ctx context.Context, ask assembly.Request, turn memory.Turn) <-chan turnContextBody {
	ask.Turn = &turn
	made := make(chan turnContextBody, 1)
	go func() {
		defer close(made)
		made <- h.answer(ctx, ask)
	}()
	return made
}

// requestFor is the request for the context for a turn: the options of the body, for what the user says last.
func (h turnContexts) requestFor(r *frame.Request, body turnRequest, turn memory.Turn) (ask assembly.Request) {
	var wanted contextRequest
	if body.Context != nil {
		wanted = *body.Context
	}
	wanted.UserID, wanted.AgentID = body.UserID, body.AgentID
	wanted.ConversationID, wanted.At = body.ConversationID, cmp.Or(wanted.At, body.At)
	r.Within("context", func() { ask = h.request(r, wanted) })
	ask.Query.Memory = memory.Strictest(memory.ModeAt(memory.LevelTurn, turn.Memory), ask.Query.Memory)
	for _, m := range turn.Messages {
		ask.Present = append(ask.Present, m.Content)
	}
	return ask
}

// answer makes a context within the bounds of POST /v1/context.
func (h turnContexts) answer(ctx context.Context, ask assembly.Request) (body turnContextBody) {
	err := h.slots.Run(ctx, func() error {
		made, err := h.make(ctx, ask)
		if err == nil {
			body.Context = &made
		}
		return err
	})
	if err != nil {
		h.countRefused(err)
		body.ContextProblem = frame.ProblemPointer(err)
	}
	return body
}

package llm

import (
	"context"
	"errors"
	"sync"

	"hippocampus/internal/memory"
)

// Health is the state of an endpoint by the latest call of all clients that share it:
//
//	outcome of a call, or of a probe -> Err
//
// A refusal that concerns only its request, such as a text that is too long, is no fault. Several refusals in a row, of
// requests that are not too long, are a fault with ReasonRequest.
type Health struct {
	mu       sync.Mutex
	err      error
	answered bool // err is of a call that the endpoint answered, so that it knows more than a probe
	keyed    bool // a probe was refused for its key, so that a successful probe says that the key is right
	refusals int  // requests in a row that were refused, apart from those that are too long
}

// refusalsOfAFault is the number of refusals in a row from which they are a fault of the endpoint or its settings.
const refusalsOfAFault = 3

// NewHealth returns the health of an endpoint that has not been called.
func NewHealth() *Health {
	return &Health{err: memory.Errorf(memory.KindUnavailable, "no answer yet")}
}

// Err returns nil if the endpoint works. KindUnauthorized: it refuses the key.
// KindUnavailable or KindBadAnswer: anything else; with ReasonRequest: it refuses all requests.
func (h *Health) Err() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err
}

// note records the outcome of a call; explained is the error that the caller gets.
func (h *Health) note(err, explained error) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.err, h.answered = fault(err, explained), isAnswer(err)
	var f *failure
	switch {
	case !errors.As(err, &f) || !f.concernsRequest():
		h.refusals = 0
	case !f.concernsLength():
		h.refusals++
	}
	if h.err == nil && h.refusals >= refusalsOfAFault {
		h.err = &memory.Error{Kind: memory.KindUnavailable, Reason: memory.ReasonRequest, Err: explained}
	}
}

// noteProbe records the outcome of a probe.
func (h *Health) noteProbe(err, explained error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	found := fault(err, explained)
	switch {
	case h.err == nil: // a call succeeded during the probe
	case memory.IsKind(found, memory.KindUnauthorized):
		h.keyed = true
		if !h.answered {
			h.err = found
		}
	case !h.answered, found == nil && h.keyed && memory.IsKind(h.err, memory.KindUnauthorized):
		h.err, h.answered = found, false
	}
}

// fault returns the error of an endpoint that does not work, or nil.
func fault(err, explained error) error {
	var f *failure
	switch {
	case !errors.As(err, &f):
		return explained
	case f.refusesKey():
		return memory.Errorf(memory.KindUnauthorized, "%w", explained)
	case f.concernsRequest():
		return nil
	}
	return explained
}

func isAnswer(err error) bool {
	var f *failure
	return !errors.As(err, &f) || f.status != 0
}

// Probe asks the endpoint for its models, which costs nothing, if it is not known to work. Any answer other than a
// refused key or a failure of the server shows that it works, since some endpoints have no list of models.
func (c *Client) Probe(ctx context.Context) {
	if c.options.Health.Err() == nil {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	_, err := c.api.ListModels(bounded)
	if err != nil && ctx.Err() != nil {
		return
	}
	var f *failure
	if errors.As(err, &f) && (f.endpointDown() || f.refusesKey()) {
		c.options.Health.noteProbe(err, c.explain("asking for the models", err))
	} else {
		c.options.Health.noteProbe(nil, nil)
	}
}

package llm

import (
	"context"
	"sync"
	"time"

	"hippocampus/internal/memory"
)

// field is a part of a chat request that a model may refuse, and without which the request means the same.
type field string

const (
	temperature         field = "temperature"
	maxTokens           field = "max_tokens" // its value is then sent as max_completion_tokens
	maxCompletionTokens field = "max_completion_tokens"
	formatSchema        field = "response_format json_schema" // json_object is sent in its place
	formatObject        field = "response_format json_object"
)

// FieldStore stores which fields models refuse, for other processes and later starts.
type FieldStore interface {
	// RefusedFields lists what the models of an endpoint refuse.
	RefusedFields(ctx context.Context, endpoint string) ([]memory.RefusedField, error)
	// KeepRefusedField stores a field unless it is stored.
	KeepRefusedField(ctx context.Context, f memory.RefusedField) error
}

// RefusedFields remembers which fields of a chat request each model of each endpoint refuses:
//
//	request -> 400 that names a field that may be left out -> the same request without it, and all further ones
//
// The zero value is not usable; it is safe for concurrent use.
type RefusedFields struct {
	store FieldStore // nil: this process alone remembers

	mu      sync.Mutex
	known   map[memory.RefusedField]bool
	waiting []memory.RefusedField // known and not stored yet
}

// NewRefusedFields returns a RefusedFields without any field. store may be nil.
func NewRefusedFields(store FieldStore) *RefusedFields {
	return &RefusedFields{store: store, known: map[memory.RefusedField]bool{}}
}

// Load reads the stored fields of the endpoint with a base URL.
func (r *RefusedFields) Load(ctx context.Context, baseURL string) error {
	if r.store == nil {
		return nil
	}
	stored, err := r.store.RefusedFields(ctx, endpointName(baseURL))
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range stored {
		r.known[f] = true
	}
	return nil
}

// of returns the fields that a model refuses.
func (r *RefusedFields) of(endpoint, model string) map[field]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	refused := map[field]bool{}
	for f := range r.known {
		if f.Endpoint == endpoint && f.Model == model {
			refused[field(f.Field)] = true
		}
	}
	return refused
}

// add remembers a field and reports whether it was not known.
func (r *RefusedFields) add(f memory.RefusedField) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[f] {
		return false
	}
	r.known[f] = true
	if r.store != nil {
		r.waiting = append(r.waiting, f)
	}
	return true
}

// storeTime bounds how long an answer waits until a field is stored.
const storeTime = time.Second

// keep stores the fields that wait to be stored. A field that it cannot store waits for the next call.
func (r *RefusedFields) keep(ctx context.Context) error {
	r.mu.Lock()
	waiting := r.waiting
	r.waiting = nil
	r.mu.Unlock()
	if len(waiting) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	stored := 0
	var err error
	for stored < len(waiting) && err == nil {
		if err = r.store.KeepRefusedField(ctx, waiting[stored]); err == nil {
			stored++
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, waiting[stored:]...)
	return err
}

// optionalFields returns the fields of a request that may be left out, with the names that endpoints use for them.
func (r chatRequest) optionalFields() map[field]fieldPattern {
	sent := map[field]fieldPattern{}
	if r.Temperature != nil {
		sent[temperature] = namesOfTemperature
	}
	if r.MaxTokens != 0 {
		sent[maxTokens] = namesOfMaxTokens
	}
	if r.MaxCompletionTokens != 0 {
		sent[maxCompletionTokens] = namesOfMaxCompletionTokens
	}
	switch f := r.ResponseFormat; {
	case f != nil && f.Schema != nil:
		sent[formatSchema] = namesOfFormat
	case f != nil:
		sent[formatObject] = namesOfFormat
	}
	return sent
}

package llm

import (
	"maps"
	"sync"
)

// field is a part of a chat request that a model may refuse, and without which the request means the same.
type field string

const (
	temperature         field = "temperature"
	maxTokens           field = "max_tokens" // whose value is then sent as max_completion_tokens
	maxCompletionTokens field = "max_completion_tokens"
	formatSchema        field = "response_format json_schema" // in whose place json_object is sent
	formatObject        field = "response_format json_object"
)

// RefusedFields remembers which fields of a chat request each model of each endpoint refuses:
//
//	request -> 400 that names a field that may be left out -> the same request without it, and all further ones
//
// The zero value is not usable; it is safe for concurrent use.
type RefusedFields struct {
	mu     sync.Mutex
	models map[servedModel]map[field]bool
}

// servedModel is a model at an endpoint.
type servedModel struct{ baseURL, model string }

// NewRefusedFields returns the fields of models that have refused nothing.
func NewRefusedFields() *RefusedFields {
	return &RefusedFields{models: map[servedModel]map[field]bool{}}
}

// of returns the fields that a model refuses.
func (r *RefusedFields) of(baseURL, model string) map[field]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.models[servedModel{baseURL, model}])
}

// add remembers a field and reports whether it was not known.
func (r *RefusedFields) add(baseURL, model string, refused field) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	served := servedModel{baseURL, model}
	if r.models[served] == nil {
		r.models[served] = map[field]bool{}
	}
	known := r.models[served][refused]
	r.models[served][refused] = true
	return !known
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

package frame

import (
	"context"
	"net/url"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"

	"hippocampus/internal/memory"
)

// Handler answers a request that satisfies openapi.yaml with a body that becomes JSON, with
// a result of WithStatus, or with nil if it has written the response itself.
type Handler func(ctx context.Context, r *Request) (any, error)

// WithStatus returns the body of an answer with a status other than 200; body may be nil.
func WithStatus(status int, body any) any { return answer{status, body} }

// answer is a body with a status other than 200; the body may be nil.
type answer struct {
	status int
	body   any
}

// Request is a request as a handler gets it.
type Request struct {
	echo.Context
	Checks                  // what is wrong with the request
	Key    memory.Key       // zero if the route needs no key
	Query  url.Values       // checked against openapi.yaml
	Body   []byte           // one JSON object, checked against openapi.yaml; nil without a JSON body
	Items  ItemFaults       // what is wrong with the items that the route refuses one by one
	Line   *openapi3.Schema // of each line of a body of JSON lines

	Altered     Altered // what was changed in the texts of the body
	keepSecrets bool
}

// ItemFaults holds what is wrong with the items of a list, by index.
type ItemFaults map[int][]memory.Field

// WithBody makes a Handler of a function that takes the decoded body.
func WithBody[T any](h func(ctx context.Context, r *Request, body T) (any, error)) Handler {
	return func(ctx context.Context, r *Request) (any, error) {
		body, err := Decode[T](r.Body)
		if err != nil {
			return nil, err
		}
		return h(ctx, r, body)
	}
}

// Altered names what was changed in the texts of a request before anything else read them.
type Altered struct {
	Secrets []CutSecret   `json:"secrets,omitempty"`
	Cleaned []CleanedText `json:"cleaned,omitempty"`
}

// CleanedText counts the characters of a text that the stores cannot hold, and that became U+FFFD.
type CleanedText struct {
	Path  string `json:"path"`  // of the text, such as messages[0].content
	Count int    `json:"count"` // of the characters, 1 or more; every byte that is not UTF-8 counts
}

// CutSecret is a secret that was cut out of a request and replaced by [secret].
type CutSecret struct {
	Kind string `json:"kind"`
	Path string `json:"path"` // of the field, such as messages[0].content
}

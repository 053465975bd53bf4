package api

import (
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"hippocampus/server/frame"
)

// wholeDocument is what openapi.yaml says.
var wholeDocument = sync.OnceValues(func() (*openapi3.T, error) { return frame.Load(openAPI) })

// operation returns what the server checks the requests of a route with.
func operation(tb testing.TB, method, path string) *frame.Operation {
	tb.Helper()
	c, err := loadContract()
	if err != nil {
		tb.Fatal(err)
	}
	describe, err := c.Operation(method, path)
	if err != nil {
		tb.Fatal(err)
	}
	op, err := describe()
	if err != nil {
		tb.Fatal(err)
	}
	return op
}

// exportLine returns the schema of a line of an export.
func exportLine(tb testing.TB) *openapi3.Schema {
	tb.Helper()
	return operation(tb, "POST", "/v1/import").Line
}

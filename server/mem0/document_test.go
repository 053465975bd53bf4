package mem0_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// readDocument returns the document of mem0's API that the server serves.
func (f *fixture) readDocument() *openapi3.T {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), http.MethodGet, f.url+"/openapi/mem0.yaml", http.NoBody)
	if err != nil {
		f.t.Fatal(err)
	}
	document, err := openapi3.NewLoader().LoadFromData([]byte(f.do(r).raw))
	if err != nil {
		f.t.Fatal(err)
	}
	err = document.WalkSchemas(func(_ string, ref *openapi3.SchemaRef) error { // kin-openapi refuses null without a type
		s := ref.Value
		s.Nullable = s.Nullable || s.Type.IsEmpty() && len(s.OneOf)+len(s.AnyOf)+len(s.AllOf) == 0
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return document
}

// checkDocument fails the test unless the document allows an answer, and the body of a request that was accepted.
func (f *fixture) checkDocument(r *http.Request, a reply) {
	f.t.Helper()
	path, item := f.described(r.URL)
	if item == nil || item.GetOperation(r.Method) == nil {
		if a.status < 400 {
			f.t.Errorf("%s %s is not described, and answers %d", r.Method, r.URL.Path, a.status)
		}
		return
	}
	route := &routers.Route{
		Spec: f.document, Path: path, PathItem: item, Method: r.Method, Operation: item.GetOperation(r.Method),
	}
	input := &openapi3filter.RequestValidationInput{Request: r, Route: route}
	response := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: a.status, Header: a.header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	if err := openapi3filter.ValidateResponse(f.t.Context(), response.SetBodyBytes([]byte(a.raw))); err != nil {
		f.t.Errorf("%s %s answers what the document does not allow: %v", r.Method, r.URL.Path, err)
	}
	if route.Operation.RequestBody == nil || r.GetBody == nil || a.status != http.StatusOK {
		return
	}
	sent := r.Clone(f.t.Context())
	sent.Body, _ = r.GetBody() // of a text it never fails
	input.Request = sent
	if err := openapi3filter.ValidateRequestBody(f.t.Context(), input, route.Operation.RequestBody.Value); err != nil {
		f.t.Errorf("%s %s accepts what the document does not allow: %v", r.Method, r.URL.Path, err)
	}
}

// described returns the path of the document that matches a URL, of several the one with the fewest parameters.
func (f *fixture) described(sent *url.URL) (path string, item *openapi3.PathItem) {
	segments := strings.Split(strings.Trim(strings.TrimPrefix(sent.EscapedPath(), "/mem0"), "/"), "/")
	for candidate, its := range f.document.Paths.Map() {
		parts := strings.Split(strings.Trim(candidate, "/"), "/")
		if hasForm(segments, parts) && (item == nil || strings.Count(candidate, "{") < strings.Count(path, "{")) {
			path, item = candidate, its
		}
	}
	return path, item
}

// hasForm reports whether segments match the parts of a path, in which a parameter matches any segment.
func hasForm(segments, parts []string) bool {
	if len(parts) != len(segments) {
		return false
	}
	for i, part := range parts {
		if part != segments[i] && !strings.HasPrefix(part, "{") {
			return false
		}
	}
	return true
}

// Every other test compares its requests and their answers with the document.
func TestDocument_IsValid(t *testing.T) {
	t.Parallel()
	document := newFixture(t).document
	if err := document.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
}

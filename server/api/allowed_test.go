package api

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"hippocampus/server/frame"
)

// unusual are texts that handlers refuse in some fields: control characters, blanks, years outside the accepted ones,
// and texts of another form.
var unusual = []string{
	"a\x01", "a\x00", "a\nb", "a\x7f", "a\u0085", " ", "\u3000", "-_", "..", "tomorrow", "🙂",
	"1969-12-31T23:59:59Z", "2201-01-01T00:00:00Z", "1969-12-31", "2201-01-01", "2026-01-31", "2026-01-31T08:00:00+09:00",
}

// No handler refuses a text for its characters or its form if openapi.yaml allows this text in the field.
func TestContract_AllowedTextsAreAccepted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(o *Options) { o.Wait = time.Millisecond }) // some examples wait for a job, and no worker runs
	id := f.peanuts().ID
	f.talk("u", id, hello)
	sent := 0
	complaint := func(r jsonRequest, field textField, text string) string {
		sent++
		query, body, path := r.query, r.example, field.path
		if field.inQuery {
			query = maps.Clone(query)
			query.Set(path, text)
			path = "query." + path
		} else {
			body = with(body, path, text)
		}
		w := f.send(r.method, filled(r.path, id)+"?"+query.Encode(), mustJSON(t, body))
		if w.Code != http.StatusBadRequest {
			return ""
		}
		for _, fault := range parse[frame.Problem](t, w).Errors {
			if fault.Path == path {
				return fault.Message
			}
		}
		return ""
	}
	for _, r := range jsonRequests(t) {
		for _, field := range r.texts {
			if field.path == "time_zone" {
				continue // no pattern states the names of time zones
			}
			for _, text := range allowed(field.schema) {
				// "leave it out": the field does not go with the others of the example, whatever its text.
				if why := complaint(r, field, text); why != "" && !strings.Contains(why, "leave it out") {
					t.Errorf("%s %s: openapi.yaml allows %q in %s, which %s", r.method, r.path, text, field.path, why)
				}
			}
		}
	}
	if sent < 500 {
		t.Errorf("only %d requests", sent)
	}
}

// The schema of each id in a request refuses control characters, and the schema of each date-time refuses years that
// the stores do not keep.
func TestContract_StatesTheFormOfIDsAndTimes(t *testing.T) {
	t.Parallel()
	ids, times := 0, 0
	for _, r := range jsonRequests(t) {
		for _, field := range r.texts {
			name := field.path[strings.LastIndex(field.path, ".")+1:]
			var refused []string
			switch {
			case field.schema.Format == "date-time":
				times++
				refused = []string{"1969-12-31T23:59:59Z", "2201-01-01T00:00:00Z"}
			case name == "tool_call_id": // the model's, which is kept as it is
			case name == "id", name == "replaces", name == "ids[0]", strings.HasSuffix(name, "_id"):
				ids++
				refused = []string{"a\x01", "a\x00", "a\nb", "a\x7f", "a\u0085"}
			}
			for _, text := range refused {
				if field.schema.VisitJSON(text) == nil {
					t.Errorf("%s %s: %s has no pattern that refuses %q", r.method, r.path, field.path, text)
				}
			}
		}
	}
	if ids < 50 || times < 20 {
		t.Errorf("only %d ids and %d times", ids, times)
	}
}

// jsonRequest is an operation of openapi.yaml that takes JSON or no body.
type jsonRequest struct {
	method, path string
	query        url.Values // the required parameters
	example      any        // of the body; may be nil
	texts        []textField
}

// textField is a parameter of the query, or a field of a body such as messages[0].id, that holds a text.
type textField struct {
	path    string
	schema  *openapi3.Schema // with its pattern
	inQuery bool
}

func jsonRequests(t *testing.T) (list []jsonRequest) {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(openAPI)
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			r := jsonRequest{method: method, path: path, query: url.Values{}}
			if path == "/v1/events" {
				continue // the answer does not end
			}
			for _, p := range op.Parameters {
				schema := p.Value.Schema.Value
				if p.Value.In != openapi3.ParameterInQuery {
					continue
				}
				if p.Value.Required {
					r.query.Set(p.Value.Name, fmt.Sprint(cmp.Or(p.Value.Example, schema.Example, any("u"))))
				}
				for _, field := range textsOf(p.Value.Name, schema, 0) {
					r.texts = append(r.texts, textField{p.Value.Name, field.schema, true})
				}
			}
			if op.RequestBody != nil {
				media := op.RequestBody.Value.Content.Get("application/json")
				if media == nil {
					continue // a stream
				}
				r.example, r.texts = exampleOf(media), append(r.texts, textsOf("", media.Schema.Value, 0)...)
			}
			list = append(list, r)
		}
	}
	return list
}

// exampleOf returns the first example of a body.
func exampleOf(media *openapi3.MediaType) any {
	for _, name := range slices.Sorted(maps.Keys(media.Examples)) {
		return media.Examples[name].Value.Value
	}
	return media.Example
}

// textsOf returns the fields of a schema that hold texts; of a list, those of its first item.
func textsOf(path string, s *openapi3.Schema, depth int) (fields []textField) {
	if depth > 4 {
		return nil
	}
	for _, one := range slices.Concat(s.AnyOf, s.OneOf, s.AllOf) {
		fields = append(fields, textsOf(path, one.Value, depth)...)
	}
	switch {
	case s.Type.Is(openapi3.TypeString) && len(s.Enum) == 0:
		fields = append(fields, textField{path, s, false})
	case s.Type.Is(openapi3.TypeArray):
		fields = append(fields, textsOf(path+"[0]", s.Items.Value, depth+1)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		fields = append(fields, textsOf(strings.TrimPrefix(path+"."+name, "."), s.Properties[name].Value, depth+1)...)
	}
	return fields
}

// allowed returns the unusual texts that a schema allows.
func allowed(s *openapi3.Schema) (texts []string) {
	for _, text := range unusual {
		if s.VisitJSON(text) == nil {
			texts = append(texts, text)
		}
	}
	return texts
}

// with returns a copy of a JSON value that has a text at a path.
func with(value any, path, text string) any {
	if path == "" {
		return text
	}
	if rest, ok := strings.CutPrefix(path, "[0]"); ok {
		list := slices.Clone(typed[[]any](value))
		if len(list) == 0 {
			list = []any{nil}
		}
		list[0] = with(list[0], rest, text)
		return list
	}
	path = strings.TrimPrefix(path, ".")
	end := strings.IndexAny(path+".", ".[")
	object := maps.Clone(typed[map[string]any](value))
	if object == nil {
		object = map[string]any{}
	}
	object[path[:end]] = with(object[path[:end]], path[end:], text)
	return object
}

// typed returns a value as a T; or the zero T if it has another type.
func typed[T any](value any) T {
	as, _ := value.(T)
	return as
}

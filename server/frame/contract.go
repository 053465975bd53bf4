package frame

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

	"hippocampus/internal/memory"
)

// Contract describes the requests of each route: "POST /v1/turns" -> a document of OpenAPI that has this operation and
// the components that it names. Tests check that the documents are valid.
type Contract struct{ documents map[string]json.RawMessage }

// NewContract reads requests.json.
func NewContract(requests []byte) (*Contract, error) {
	c := &Contract{}
	if err := json.Unmarshal(requests, &c.documents); err != nil {
		return nil, fmt.Errorf("reading requests.json: %w", err)
	}
	return c, nil
}

// Operation describes the requests of one route.
type Operation struct {
	Parameters openapi3.Parameters
	Body       *openapi3.Schema // nil: the route takes no JSON body
	Line       *openapi3.Schema // of a body of JSON lines; nil: the route takes no such body
	each       string           // the list of the body whose items are refused one by one; may be empty
}

// eachItem marks in openapi.yaml a body whose items are answered one by one.
const eachItem = "x-answers-each-item-of"

// Operation finds the description of an Echo route ("/v1/turns/:id"). The returned function reads it when it is first
// called, since most servers are asked for few of the routes, and reading them all takes a third of a start.
func (c *Contract) Operation(method, path string) (describe func() (*Operation, error), err error) {
	path = ContractPath(path)
	document, ok := c.documents[method+" "+path]
	if !ok {
		return nil, fmt.Errorf("openapi.yaml does not describe %s %s", method, path)
	}
	return sync.OnceValues(func() (*Operation, error) {
		doc, err := Load(document)
		if err != nil {
			return nil, fmt.Errorf("reading what openapi.yaml says about %s %s: %w", method, path, err)
		}
		return newOperation(doc.Paths.Value(path), method), nil
	}), nil
}

func newOperation(item *openapi3.PathItem, method string) *Operation {
	found := item.GetOperation(method)
	op := &Operation{Parameters: slices.Concat(item.Parameters, found.Parameters)}
	if found.RequestBody != nil {
		content := found.RequestBody.Value.Content
		if media := content.Get("application/json"); media != nil {
			op.Body = media.Schema.Value
		}
		if media := content.Get("application/x-ndjson"); media != nil {
			op.Line = media.Schema.Value.Items.Value
		}
		op.each, _ = found.RequestBody.Value.Extensions[eachItem].(string)
	}
	return op
}

// Load reads a document of OpenAPI. It removes two keywords from the schemas, since handlers check them with clearer
// messages: pattern (which character of a text is wrong) and not (which fields contradict each other). It also makes
// schemas without a type allow null, as OpenAPI states, since kin-openapi would refuse it.
func Load(document []byte) (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(document)
	if err != nil {
		return nil, err
	}
	err = doc.WalkSchemas(func(_ string, ref *openapi3.SchemaRef) error {
		s := ref.Value
		s.Pattern, s.Not = "", nil
		s.Nullable = s.Nullable || s.Type.IsEmpty() && len(s.OneOf)+len(s.AnyOf)+len(s.AllOf) == 0
		return nil
	})
	return doc, err
}

// ContractPath is an Echo path as openapi.yaml writes it: "/v1/turns/{id}".
func ContractPath(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if name, ok := strings.CutPrefix(segment, ":"); ok {
			segments[i] = "{" + name + "}"
		}
	}
	return strings.Join(segments, "/")
}

// check checks a request against the contract and sets its query, body and items.
func (op *Operation) check(r *Request, limit int64) error {
	r.Line = op.Line
	fields, err := op.checkParameters(r)
	if err != nil {
		return err
	}
	if op.Body != nil {
		if r.Body, err = readBody(r, limit); err != nil {
			return err
		}
		r.Body, r.Altered.Cleaned = CleanTexts(r.Body)
		value, fault := parseObject(r.Body)
		if fault != nil {
			return memory.Invalid(append(fields, *fault)...)
		}
		if !r.keepSecrets {
			if value, fault = r.cutSecrets(value); fault != nil {
				return memory.Invalid(append(fields, *fault)...)
			}
		}
		fields = append(fields, r.setAside(op.each, FaultsOf(op.Body, value))...)
	}
	if len(fields) > 0 {
		return memory.Invalid(fields...)
	}
	return nil
}

// setAside moves the faults of single items of a list to r.items, with paths
// within the item, and returns the others.
func (r *Request) setAside(list string, faults []memory.Field) (others []memory.Field) {
	for _, fault := range faults {
		rest, within := strings.CutPrefix(fault.Path, list+"[")
		number, path, closed := strings.Cut(rest, "]")
		place, err := strconv.Atoi(number)
		if list == "" || !within || !closed || err != nil {
			others = append(others, fault)
			continue
		}
		fault.Path = strings.TrimPrefix(path, ".")
		if fault.Path == "" {
			fault.Path = "body"
		}
		if r.Items == nil {
			r.Items = ItemFaults{}
		}
		r.Items[place] = append(r.Items[place], fault)
	}
	return others
}

func (op *Operation) checkParameters(r *Request) (fields []memory.Field, err error) {
	if r.Query, err = url.ParseQuery(r.Request().URL.RawQuery); err != nil {
		return nil, memory.Invalid(memory.Field{
			Path: "query", Message: "is not well formed: write & between parameters and percent-encode their values",
		})
	}
	if len(op.Parameters) == 0 && len(r.Query) == 0 {
		return nil, nil
	}
	input := &openapi3filter.RequestValidationInput{
		Request: r.Request(), QueryParams: r.Query, PathParams: map[string]string{},
		Options: &openapi3filter.Options{MultiError: true, SkipSettingDefaults: true},
	}
	for _, name := range r.ParamNames() {
		input.PathParams[name] = r.PathValue(name)
	}
	known := map[string]bool{}
	for _, p := range op.Parameters {
		name, schema := p.Value.Name, p.Value.Schema.Value
		if p.Value.In == openapi3.ParameterInQuery {
			known[name] = true
			if len(r.Query[name]) > 1 && !schema.Type.Is(openapi3.TypeArray) {
				fields = append(fields, memory.Field{Path: "query." + name, Message: "is given more than once"})
				continue
			}
		}
		if err := openapi3filter.ValidateParameter(r.Request().Context(), input, p.Value); err != nil {
			fields = append(fields, fieldErrors(p.Value.In+"."+name, err)...)
		}
	}
	return append(fields, unknownParameters(r.Query, slices.Sorted(maps.Keys(known)))...), nil
}

// unknownParameters returns a fault for each parameter of a query that is not known, at most memory.MaxFields.
func unknownParameters(query url.Values, known []string) (faults []memory.Field) {
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if slices.Contains(known, name) {
			continue
		}
		faults = append(faults, memory.Field{
			Path: "query." + clip(name), Message: "is not a known parameter" + hintAt(name, known),
		})
		if len(faults) == memory.MaxFields {
			break
		}
	}
	return faults
}

package api

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// faultyBodies makes bodies of about size bytes that consist of faults: unknown fields, and
// wrong items or unknown fields in each list and object of the schema.
func faultyBodies(schema *openapi3.Schema, size int) map[string]string {
	bodies := map[string]string{"unknown fields": "{" + unknownFields(size) + "}"}
	addFaults(bodies, schema, "", "", size, 0)
	return bodies
}

// addFaults adds the faulty bodies below one object. The text before opens it, and the text
// after closes it.
func addFaults(bodies map[string]string, schema *openapi3.Schema, before, after string, size, depth int) {
	if depth == 3 {
		return
	}
	for name, property := range schema.Properties {
		s := property.Value
		open, shut := fmt.Sprintf(`%s{%q:`, before, name), "}"+after
		where := strings.NewReplacer("{", "", `"`, "", ":", ".", "[", "").Replace(open)
		if s.Type.Is(openapi3.TypeObject) {
			bodies[where+" with unknown fields"] = open + "{" + unknownFields(size) + "}" + shut
			addFaults(bodies, s, open, shut, size, depth+1)
		}
		if s.Type.Is(openapi3.TypeArray) {
			for _, item := range []string{"0", "{}", `{"x":0}`, `"\u0001"`, "[]"} {
				bodies[where+" of "+item] = open + "[" + item + strings.Repeat(","+item, size/(len(item)+1)) + "]" + shut
			}
			addFaults(bodies, s.Items.Value, open+"[", "]"+shut, size, depth+1)
		}
	}
}

// unknownFields returns fields that no schema has, without braces.
func unknownFields(size int) string {
	var b strings.Builder
	b.WriteString(`"x":0`)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `,"x%d":0`, i)
	}
	return b.String()
}

// eachFaultyBody calls f with every faulty body of every route that takes a JSON body.
func eachFaultyBody(f *fixture, size int, call func(route, what, target, body string)) {
	for _, rt := range f.routes() {
		op, err := f.contract.operation(rt.method, rt.path)
		f.must(err)
		if op.body == nil {
			continue
		}
		target := strings.NewReplacer(":id", "x", ":name", "x", ":key", "x", ":user_id", "x").Replace(rt.path)
		for what, body := range faultyBodies(op.body, size) {
			call(rt.method+" "+rt.path, what, rt.method+" "+target, body)
		}
	}
}

// The bytes that a refused body costs grow in proportion to its size. This test is not
// parallel: it reads the allocations of the process.
func TestServer_RefusesFaultyBodiesInLinearSpace(t *testing.T) {
	const size, most = 256 << 10, 150 // bytes allocated for each byte of the body
	f := newFixture(t, nil)
	bodies := 0
	eachFaultyBody(f, size, func(route, what, target, body string) {
		method, path, _ := strings.Cut(target, " ")
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := f.send(method, path, body)
		runtime.ReadMemStats(&after)
		bodies++
		if w.Code >= 500 || w.Code < 400 && !strings.HasSuffix(path, "/batch") {
			t.Errorf("%s with a body of %s: %d %.200s", route, what, w.Code, w.Body)
		}
		if cost := (after.TotalAlloc - before.TotalAlloc) / uint64(len(body)); cost > most {
			t.Errorf("%s with a body of %s allocates %d bytes for each of its own, want at most %d", route, what, cost, most)
		}
		if w.Body.Len() > 64<<10 && !strings.HasSuffix(path, "/batch") {
			t.Errorf("%s with a body of %s: the answer has %d bytes", route, what, w.Body.Len())
		}
	})
	if bodies < 50 {
		t.Errorf("only %d bodies were sent", bodies)
	}
}

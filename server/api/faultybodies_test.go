package api

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"hippocampus/internal/growthtest"
)

// faultyBodies returns bodies that consist of faults: one has the unknown fields; the others have, in one list, object
// or text of the schema, as many bytes of wrong items, unknown fields, deep nesting or long text.
func faultyBodies(schema *openapi3.Schema, unknown string) map[string]string {
	bodies := map[string]string{"unknown fields": "{" + unknown + "}"}
	addFaults(bodies, schema, "", "", unknown, 0)
	return bodies
}

// nested has about as many levels as a value may have.
var nested = strings.Repeat(`{"a":[`, 13) + "0" + strings.Repeat("]}", 13)

// addFaults adds the faulty bodies below one object. The text before opens it, and the text
// after closes it.
func addFaults(bodies map[string]string, schema *openapi3.Schema, before, after, unknown string, depth int) {
	if depth == 3 {
		return
	}
	size := len(unknown)
	for name, property := range schema.Properties {
		s := property.Value
		open, shut := fmt.Sprintf(`%s{%q:`, before, name), "}"+after
		where := strings.NewReplacer("{", "", `"`, "", ":", ".", "[", "").Replace(open)
		if s.Type.Is(openapi3.TypeString) {
			bodies[where+" of much text"] = open + `"` + strings.Repeat(`\u0001a`, size/7) + `"` + shut
		}
		if s.Type.Is(openapi3.TypeObject) {
			bodies[where+" with unknown fields"] = open + "{" + unknown + "}" + shut
			bodies[where+" with deep ones"] = open + `{"x":0` + strings.Repeat(`,"x":`+nested, size/(len(nested)+5)) + "}" + shut
			addFaults(bodies, s, open, shut, unknown, depth+1)
		}
		if s.Type.Is(openapi3.TypeArray) {
			for _, item := range []string{"0", "{}", `{"x":0}`, `"\u0001"`, "[]", nested} {
				bodies[where+" of "+item] = open + "[" + item + strings.Repeat(","+item, size/(len(item)+1)) + "]" + shut
			}
			addFaults(bodies, s.Items.Value, open+"[", "]"+shut, unknown, depth+1)
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

// eachFaultyBody calls f with the faulty bodies of every route that takes a JSON body, of the largest size that the
// route allows: with all of them if HIPPOCAMPUS_TEST_LONG is set, else with an eighth of them.
func eachFaultyBody(f *fixture, call func(route, what, target, body string)) {
	unknown := map[int64]string{}
	for _, rt := range f.routes() {
		op := operation(f.t, rt.Method, rt.Path)
		if op.Body == nil {
			continue
		}
		size := rt.BodyLimit - 1<<10
		if raced { // scripts/test also runs the test without the race detector
			size = min(size, 64<<10)
		}
		unknown[size] = cmp.Or(unknown[size], unknownFields(int(size)))
		target := strings.NewReplacer(":id", "x", ":name", "x", ":key", "x", ":user_id", "x").Replace(rt.Path)
		for what, body := range faultyBodies(op.Body, unknown[size]) {
			hash := fnv.New32a()
			_, _ = hash.Write([]byte(rt.Method + rt.Path + what))
			if os.Getenv("HIPPOCAMPUS_TEST_LONG") == "" && hash.Sum32()%8 != 0 {
				continue
			}
			call(rt.Method+" "+rt.Path, what, rt.Method+" "+target, body)
		}
	}
}

// The bytes and the CPU time that a refused body costs are bounded, however it is made. This test is not parallel: it
// reads the allocations and the CPU time of the process.
func TestServer_RefusesFaultyBodiesCheaply(t *testing.T) {
	const (
		most    = 150         // bytes allocated for each byte of the body
		fixed   = 4 << 20     // bytes allocated for the reported faults, whose number is bounded
		longest = time.Second // of CPU
	)
	f := newFixture(t, nil)
	bodies, worst := 0, time.Duration(0)
	eachFaultyBody(f, func(route, what, target, body string) {
		method, path, _ := strings.Cut(target, " ")
		var before, after runtime.MemStats
		var w *httptest.ResponseRecorder
		send := func() { w = f.send(method, path, body) }
		runtime.ReadMemStats(&before)
		took := growthtest.ProcessTime(send)
		runtime.ReadMemStats(&after)
		for range 2 { // the time of a busy machine varies
			if took > longest {
				took = min(took, growthtest.ProcessTime(send))
			}
		}
		bodies++
		worst = max(worst, took)
		if took > longest {
			t.Errorf("%s with %d bytes of %s takes %s of CPU, want at most %s", route, len(body), what, took, longest)
		}
		if w.Code >= 500 || w.Code == 413 || w.Code < 400 && !strings.HasSuffix(path, "/batch") {
			t.Errorf("%s with a body of %s: %d %.200s", route, what, w.Code, w.Body)
		}
		if cost := after.TotalAlloc - before.TotalAlloc; cost > fixed+most*uint64(len(body)) {
			t.Errorf("%s with %d bytes of %s allocates %d bytes, want at most %d and %d for each of its own",
				route, len(body), what, cost, fixed, most)
		}
		if w.Body.Len() > 64<<10 && !strings.HasSuffix(path, "/batch") {
			t.Errorf("%s with a body of %s: the answer has %d bytes", route, what, w.Body.Len())
		}
	})
	if bodies < 50 {
		t.Errorf("only %d bodies were sent", bodies)
	}
	t.Logf("%d bodies, the longest took %s", bodies, worst)
}

package api

import (
	"encoding/json"
	"testing"

	"hippocampus/internal/growthtest"
)

func FuzzCheckLine(f *testing.F) {
	for _, seed := range []string{`{"format":"hippocampus-export","version":2}`, `{"memory":{"id":"x","tags":["a"]}}`,
		`{"turn":{"messages":[{"role":"user"}]}}`, `{"end":{}}`, `{"events":[{}]}`} {
		f.Add("", seed)
	}
	for _, unit := range []string{`{},`, `"x":{},`, `[],`, `1,`, `{"y":1},`} {
		f.Add(`{"events":[`, unit)
		f.Add(`{"turn":{"messages":[`, unit)
		f.Add(`{"memory":{"metadata":{`, unit)
	}
	schema := exportLine(f)
	f.Fuzz(func(t *testing.T, head, unit string) {
		line := head + unit
		if err := checkLine(schema, []byte(line)); err == nil && !json.Valid([]byte(line)) {
			t.Fatalf("%q is accepted and is not JSON", line)
		} else if err != nil && len(err.Error()) > 8<<10 {
			t.Fatalf("%q has an error of %d bytes", line, len(err.Error()))
		}
		growthtest.Check(t, head, unit, func(text string) {
			for _, tail := range []string{"", `{}]}`, `{}]}}`, `"z":1}}}`} { // may complete the line
				_ = checkLine(schema, []byte(text+tail))
			}
		})
	})
}

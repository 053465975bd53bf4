package frame

import (
	"encoding/json"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/growthtest"
	"hippocampus/internal/memory"
)

func FuzzParseObject(f *testing.F) {
	for _, seed := range []string{`{"query":"q"}`, `{"a":[1,{"b":"\ud83d\ude42"}]}`, `{"a":"\ud800`, `{"\u`, "{", ""} {
		f.Add("", seed)
	}
	for _, unit := range []string{`"a":1,`, `[`, `{"a":`, `1,`, `\ud800`, `\u0041`, `9`, `"`} {
		f.Add(`{"a":`, unit)
		f.Add(`{"a":[`, unit)
		f.Add(`{"a":"`, unit)
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		raw := head + unit
		object, fault := parseObject([]byte(raw))
		if (object == nil) == (fault == nil) {
			t.Fatalf("%q: object %v, fault %v", raw, object, fault)
		}
		if fault == nil && !json.Valid([]byte(raw)) {
			t.Fatalf("%q is accepted and is not JSON", raw)
		}
		if fault != nil && len(fault.Path)+len(fault.Message) > 8<<10 {
			t.Fatalf("%q has a fault of %d bytes", raw, len(fault.Path)+len(fault.Message))
		}
		growthtest.Check(t, head, unit, func(text string) { _, _ = parseObject([]byte(text)) })
	})
}

func FuzzCursor(f *testing.F) {
	const id = "0192f0c1-2d3e-7f40-8a5b-6c7d8e9f0a1b"
	hash := "." + routeHash("/v1/x")
	for _, seed := range []string{"1767225600000000." + id, "0." + id, "-1." + id, "." + id, "+7." + id,
		"99999999999999999999." + id, "1767225600000000.", "1767225600000000", "0.\xff", "00.YQ", "0.YQA", "0./w"} {
		f.Add(seed, id, int64(1767225600000000))
		f.Add(seed+hash, id, int64(1767225600000000))
		f.Add(seed, seed, int64(len(seed)))
	}
	f.Fuzz(func(t *testing.T, cursor, name string, micros int64) {
		for _, named := range []bool{false, true} {
			position, fault := ParseCursor("/v1/x", cursor, named)
			if fault != "" || position.ID == "" {
				continue
			}
			again, fault := ParseCursor("/v1/x", FormatCursor("/v1/x", position, named), named)
			if fault != "" || again != position {
				t.Fatalf("%q is the position %v, whose cursor is that of %v", cursor, position, again)
			}
			if named && memory.CheckID(position.ID, false) != "" && len(position.ID) <= memory.MaxIDBytes {
				t.Fatalf("%q holds the name %q, which no store can hold", cursor, position.ID)
			}
		}
		position := db.Position{At: time.UnixMicro(micros).UTC(), ID: name}
		if year := position.At.Year(); memory.CheckID(name, false) != "" || year < firstYear || year > lastYear {
			return
		}
		read, fault := ParseCursor("/v1/x", FormatCursor("/v1/x", position, true), true)
		if fault != "" || read != position {
			t.Fatalf("the cursor of %v gives %v", position, read)
		}
		growthtest.Check(t, "", cursor, func(text string) { _, _ = ParseCursor("/v1/x", text, true) })
	})
}

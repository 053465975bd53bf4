package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"hippocampus/db"
	"hippocampus/internal/growthtest"
	"hippocampus/internal/memory"
)

// seedLines are lines of every kind, and beginnings of hostile ones.
var seedLines = []string{
	`{"format":"hippocampus-export","version":2,"exported_at":"2026-01-01T00:00:00Z"}`,
	`{"memory":{"id":"0192f0c1-2d3e-7f40-8a5b-6c7d8e9f0a1b","user_id":"ada","content":"Likes tea","type":"fact",` +
		`"domain":"general_chat","tags":[],"importance":0.5,"pinned":false,"metadata":{"a": 1},"status":"active",` +
		`"revision":1,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z",` +
		`"last_accessed_at":"2026-01-01T00:00:00Z","access_count":0},"events":[{"id":` +
		`"0192f0c1-2d3e-7f40-8a5b-6c7d8e9f0a1c","kind":"created","cause":"","at":"2026-01-01T00:00:00Z"}],"relations":[]}`,
	`{"continues":{"user_id":"ada","id":"0192f0c1-2d3e-7f40-8a5b-6c7d8e9f0a1b"},"events":[]}`,
	`{"fact":{}}`, `{"instruction":{}}`, `{"instruction_version":{}}`, `{"skill":{}}`, `{"outcome":{}}`,
	`{"conversation":{}}`, `{"turn":{}}`, `{"consolidation":{}}`, `{"end":{"memories":1}}`, `{"error":"x"}`,
	`{"memory":{"tags":["a",`, `{"events":[{},`, `{"turn":{"messages":[{},`, `[`, "\n", " ",
}

func FuzzLine(f *testing.F) {
	for _, seed := range seedLines {
		f.Add("", seed)
		f.Add(seed, "{},")
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		checkLine(t, []byte(head+unit))
		growthtest.Check(t, head, unit, func(text string) {
			var l line
			_ = json.Unmarshal([]byte(text), &l)
			_ = checked(l)
		})
	})
}

// checked is the fault of a line by its checks, or nil.
func checked(l line) error {
	e, several := l.entry()
	switch {
	case several:
		return errors.New("holds more than one thing")
	case e != nil:
		var f faults
		e.check(&f)
		return Wrong(f)
	case l.Memory == nil && l.Continues == nil:
		return errors.New("holds nothing")
	}
	return l.check()
}

// checkLine checks that a line that is accepted is exported as an equal line.
func checkLine(t *testing.T, text []byte) {
	var first, second line
	if json.Unmarshal(text, &first) != nil || checked(first) != nil {
		return
	}
	exported := exportOf(t, first)
	if err := json.Unmarshal(exported, &second); err != nil {
		t.Fatalf("%q becomes %q, which cannot be read: %v", text, exported, err)
	}
	if err := checked(second); err != nil {
		t.Fatalf("%q becomes %q, which is refused: %v", text, exported, err)
	}
	if again := exportOf(t, second); !bytes.Equal(again, exported) {
		t.Fatalf("%q becomes %q, and that %q", text, exported, again)
	}
}

// exportOf is the line that an export has for an imported one.
func exportOf(t *testing.T, l line) []byte {
	var of any = l
	if l.Memory != nil || l.Continues != nil {
		record := l.record("app")
		if l.Memory != nil {
			of = recordLineOf(record, record.Events)
		} else {
			of = continuationLine{Continues: *l.Continues, Events: eventsOf(record.Events)}
		}
		checkRecord(t, record)
	}
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatalf("%+v is accepted and cannot be exported: %v", l, err)
	}
	return text
}

func checkRecord(t *testing.T, r db.Record) {
	if !memory.IsID(r.Memory.ID) || r.Memory.AppID != "app" || r.Memory.UserID == "" {
		t.Fatalf("the memory %+v has no owner or id", r.Memory)
	}
	for _, e := range r.Events {
		if e.MemoryID != r.Memory.ID {
			t.Fatalf("the event %+v is of another memory than %s", e, r.Memory.ID)
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, seed := range []string{"", "\n", "a\r\nb", " \n{}\n\n", "\r", "{}"} {
		f.Add("", seed)
		f.Add("{}\n", seed)
	}
	f.Fuzz(func(t *testing.T, head, unit string) {
		stream := head + unit
		in := newReader(strings.NewReader(stream))
		for i, want := range strings.Split(stream, "\n") {
			want = strings.TrimRight(want, "\r")
			if strings.TrimSpace(want) == "" {
				continue
			}
			text, whole, err := in.next()
			if err != nil || !whole || string(text) != want || in.number != i+1 {
				t.Fatalf("line %d of %q is %q (line %d, whole %v), %v", i+1, stream, text, in.number, whole, err)
			}
		}
		if text, _, err := in.next(); !errors.Is(err, io.EOF) {
			t.Fatalf("%q has another line, %q: %v", stream, text, err)
		}
		growthtest.Check(t, head, unit, func(text string) {
			for in := newReader(strings.NewReader(text)); ; {
				if _, _, err := in.next(); err != nil {
					return
				}
			}
		})
	})
}

package recall

import (
	"bytes"
	"encoding/gob"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// validSnapshot returns a snapshot that has a value in each field.
func validSnapshot(t *testing.T) snapshot {
	t.Helper()
	var docs []db.Document
	for i, kind := range []memory.Type{memory.TypeMessage, memory.TypeFact, memory.TypeMessage} {
		docs = append(docs, db.Document{
			ID: memory.NewID(), ConversationID: "c", Type: kind, Lexemes: "ada keeps bees", Content: "Ada keeps bees",
			Tags: []string{"bees"}, CreatedAt: time.Unix(int64(i), 0),
		})
	}
	docs[1].DerivedFrom = []string{docs[0].ID}
	docs[1].Supersedes = []db.Former{{Lexemes: "bees", From: docs[2].ID}}
	data, err := newIndex(1, docs).encode()
	if err != nil {
		t.Fatal(err)
	}
	var s snapshot
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// decoded decodes a snapshot, and uses the index if there is one.
func (s *snapshot) decoded(t *testing.T) error {
	t.Helper()
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(s); err != nil {
		t.Fatal(err)
	}
	x, err := decode(1, data.Bytes(), nil)
	if err == nil {
		heldBy(x)
		x.find([]string{"ada"})
	}
	return err
}

// A panic while an index is loaded would end the process, and would do so at each recall of the user.
func TestDecode_FailsForColumnsOfOtherLengths(t *testing.T) {
	t.Parallel()
	whole := validSnapshot(t)
	if err := whole.decoded(t); err != nil {
		t.Fatal(err)
	}
	mayBeShorter := []string{"Sequence", "Taken"} // a document may have no place in them
	for i := range reflect.TypeFor[snapshot]().NumField() {
		field := reflect.TypeFor[snapshot]().Field(i)
		if field.Type.Kind() != reflect.Slice {
			continue
		}
		n := reflect.ValueOf(whole).Field(i).Len()
		for _, length := range []int{0, n - 1, n + 1} {
			s := whole
			column := reflect.ValueOf(&s).Elem().Field(i)
			if length <= n {
				column.Set(column.Slice(0, length))
			} else {
				column.Set(reflect.AppendSlice(column.Slice3(0, n, n), column.Slice(0, 1)))
			}
			isList := slices.Contains([]string{"Kinds", "TagLists", "Speakers", "Called"}, field.Name)
			tolerated := slices.Contains(mayBeShorter, field.Name) || isList && length > n
			if err := s.decoded(t); err == nil && !tolerated {
				t.Errorf("%s has %d values, not %d, and is decoded", field.Name, length, n)
			}
		}
	}
}

func TestDecode_FailsForPlacesOutsideTheirLists(t *testing.T) {
	t.Parallel()
	whole := validSnapshot(t)
	for name, column := range map[string]func(*snapshot) *[]uint32{
		"Length":   func(s *snapshot) *[]uint32 { return &s.Length },
		"Kind":     func(s *snapshot) *[]uint32 { return &s.Kind },
		"Tags":     func(s *snapshot) *[]uint32 { return &s.Tags },
		"Speaker":  func(s *snapshot) *[]uint32 { return &s.Speaker },
		"CalledBy": func(s *snapshot) *[]uint32 { return &s.CalledBy },
		"ByID":     func(s *snapshot) *[]uint32 { return &s.ByID },
		"Sequence": func(s *snapshot) *[]uint32 { return &s.Sequence },
		"Taken":    func(s *snapshot) *[]uint32 { return &s.Taken },
		"Former":   func(s *snapshot) *[]uint32 { return &s.Former },
	} {
		for _, place := range []uint32{10, math.MaxUint32} {
			s := whole
			list := column(&s)
			*list = slices.Clone(*list)
			(*list)[0] = place
			if err := s.decoded(t); err == nil {
				t.Errorf("%s refers to %d, and is decoded", name, place)
			}
		}
	}
}

func TestDecode_FailsForTruncatedData(t *testing.T) {
	t.Parallel()
	s := validSnapshot(t)
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(s); err != nil {
		t.Fatal(err)
	}
	for n := range data.Len() {
		if _, err := decode(1, data.Bytes()[:n], nil); err == nil {
			t.Errorf("%d of %d bytes are decoded", n, data.Len())
		}
	}
}

// A server that cannot read the stored index answers, and stores one that it can read, although nothing
// of the user has changed.
func TestRecall_ReplacesADamagedStoredIndex(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.insertMany(leastStored)
	all, err := f.store.Changes(t.Context(), ada, 0, begin, 0)
	if err != nil {
		t.Fatal(err)
	}
	damaged := validSnapshot(t)
	damaged.Importance = damaged.Importance[1:]
	var data bytes.Buffer
	if err := gob.NewEncoder(&data).Encode(damaged); err != nil {
		t.Fatal(err)
	}
	if err := f.store.SaveIndex(t.Context(), ada, all.Revision, data.Bytes()); err != nil {
		t.Fatal(err)
	}
	if a := f.recall(Query{Text: "bees"}); a.Fit.Memories != leastStored {
		t.Errorf("%+v", a.Fit)
	}
	f.runOnce()
	_, stored, err := f.store.Index(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decode(all.Revision, stored, nil); err != nil {
		t.Error(err)
	}
}

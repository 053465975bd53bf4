package recall

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

var errFormat = errors.New("the stored index has another format")

// decode is the inverse of encode. It fails for data that encode did not make, or made in another zone.
func decode(revision int64, data []byte, zone *time.Location) (*index, error) {
	var s snapshot
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s); err != nil {
		return nil, err
	}
	if s.Format != snapshotFormat || s.Zone != zoneName(zone) {
		return nil, errFormat
	}
	if err := cmp.Or(s.checkColumns(), s.checkPlaces()); err != nil {
		return nil, fmt.Errorf("the stored index is damaged: %w", err)
	}
	x := &index{
		revision: revision, zone: zone, docs: make([]document, len(s.Length)), accessed: make([]atomic.Int64, len(s.Length)),
		lexemes: s.Lexemes, kinds: s.Kinds, tagLists: s.TagLists, speakers: s.Speakers, called: s.Called, byID: s.ByID,
		sequence: s.Sequence,
	}
	end := uint32(0)
	for doc := range x.docs {
		end += s.Length[doc]
		x.docs[doc] = document{
			id: [16]byte(s.IDs[16*doc:]), repeat: s.Repeat[doc], importance: s.Importance[doc],
			question: s.Question[doc], created: s.Created[doc],
			end: end, length: s.Length[doc], said: s.Said[doc], kind: s.Kind[doc], tags: s.Tags[doc], speaker: s.Speaker[doc],
			timed: s.Timed[doc], todo: s.ToDo[doc], called: s.CalledBy[doc], clause: s.Clause[doc], expires: s.Expires[doc],
			about: [2]dayRange{
				{s.About[4*doc], s.About[4*doc+1]}, {s.About[4*doc+2], s.About[4*doc+3]},
			},
		}
		x.accessed[doc].Store(s.Accessed[doc])
	}
	for i := 0; i < len(s.Taken); i += 2 {
		x.taken = append(x.taken, taking{doc: s.Taken[i], message: s.Taken[i+1]})
	}
	for i, stated := range s.Stated {
		x.outdated = append(x.outdated, outdated{
			doc: s.Former[2*i], message: s.Former[2*i+1], whole: s.Whole[i], stated: stated,
		})
	}
	x.number()
	return x, nil
}

// checkColumns returns an error unless each column has a value for each document. A field that the data
// lack is an empty column.
func (s *snapshot) checkColumns() error {
	n := len(s.Length)
	for _, column := range []struct {
		name         string
		length, want int
	}{
		{"IDs", len(s.IDs), 16 * n},
		{"Repeat", len(s.Repeat), n},
		{"Importance", len(s.Importance), n},
		{"Question", len(s.Question), n},
		{"Created", len(s.Created), n},
		{"Accessed", len(s.Accessed), n},
		{"Said", len(s.Said), n},
		{"Kind", len(s.Kind), n},
		{"Tags", len(s.Tags), n},
		{"Speaker", len(s.Speaker), n},
		{"Timed", len(s.Timed), n},
		{"ToDo", len(s.ToDo), n},
		{"Clause", len(s.Clause), n},
		{"Expires", len(s.Expires), n},
		{"About", len(s.About), 4 * n},
		{"CalledBy", len(s.CalledBy), n},
		{"ByID", len(s.ByID), n},
		{"Taken", len(s.Taken) % 2, 0},
		{"Former", len(s.Former), 2 * len(s.Stated)},
		{"Whole", len(s.Whole), len(s.Stated)},
	} {
		if column.length != column.want {
			return fmt.Errorf("the length of %s does not fit %d documents", column.name, n)
		}
	}
	lexemes := uint64(0)
	for doc, length := range s.Length {
		lexemes += uint64(length)
		if s.Said[doc] > length {
			return fmt.Errorf("a document of %d lexemes has %d in its content", length, s.Said[doc])
		}
	}
	if lexemes != uint64(len(s.Lexemes)) {
		return fmt.Errorf("%d documents have %d lexemes, not %d", n, lexemes, len(s.Lexemes))
	}
	return nil
}

// checkPlaces returns an error unless each place exists in the list that it refers to.
func (s *snapshot) checkPlaces() error {
	n := len(s.Length)
	for _, column := range []struct {
		name   string
		places []uint32
		of     int
	}{
		{"Kind", s.Kind, len(s.Kinds)},
		{"Tags", s.Tags, len(s.TagLists)},
		{"Speaker", s.Speaker, len(s.Speakers)},
		{"CalledBy", s.CalledBy, len(s.Called)},
		{"ByID", s.ByID, n},
		{"Sequence", s.Sequence, n},
		{"Taken", s.Taken, n},
		{"Former", s.Former, n},
	} {
		for _, place := range column.places {
			if int64(place) >= int64(column.of) {
				return fmt.Errorf("%s refers to %d of %d", column.name, place, column.of)
			}
		}
	}
	return nil
}

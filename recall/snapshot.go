package recall

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"sync/atomic"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// snapshotFormat changes with the fields of a snapshot, and with what an index holds of a
// text: the hash of a lexeme, and the cues.
const snapshotFormat = 1

// snapshot is an index in columns, as it is stored.
type snapshot struct {
	Format int

	IDs                 []byte // 16 of each document
	Importance          []float64
	Question            []float64
	Created, Accessed   []int64
	Length              []uint32
	Kind, Tags, Speaker []uint32
	Timed               []bool
	Lexemes             []uint64

	Kinds    []kind
	TagLists [][]string
	Speakers []string

	ByID, Sequence []uint32
	Taken          []uint32 // document and message, in turns
}

// encode returns the index as it is stored.
func (x *index) encode() ([]byte, error) {
	s := snapshot{
		Format: snapshotFormat, Lexemes: x.lexemes, Kinds: x.kinds, TagLists: x.tagLists, Speakers: x.speakers,
		ByID: x.byID, Sequence: x.sequence,
	}
	for doc := range x.docs {
		d := &x.docs[doc]
		s.IDs = append(s.IDs, d.id[:]...)
		s.Importance, s.Question = append(s.Importance, d.importance), append(s.Question, d.question)
		s.Created, s.Accessed = append(s.Created, d.created), append(s.Accessed, x.accessed[doc].Load())
		s.Length, s.Kind = append(s.Length, d.length), append(s.Kind, d.kind)
		s.Tags, s.Speaker = append(s.Tags, d.tags), append(s.Speaker, d.speaker)
		s.Timed = append(s.Timed, d.timed)
	}
	for _, t := range x.taken {
		s.Taken = append(s.Taken, t.doc, t.message)
	}
	var data bytes.Buffer
	err := gob.NewEncoder(&data).Encode(s)
	return data.Bytes(), err
}

var errFormat = errors.New("the stored index has another format")

// decode is the inverse of encode.
func decode(revision int64, data []byte) (*index, error) {
	var s snapshot
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&s); err != nil {
		return nil, err
	}
	if s.Format != snapshotFormat {
		return nil, errFormat
	}
	x := &index{
		revision: revision, docs: make([]document, len(s.Length)), accessed: make([]atomic.Int64, len(s.Length)),
		lexemes: s.Lexemes, kinds: s.Kinds, tagLists: s.TagLists, speakers: s.Speakers, byID: s.ByID, sequence: s.Sequence,
	}
	end := uint32(0)
	for doc := range x.docs {
		end += s.Length[doc]
		x.docs[doc] = document{
			id: [16]byte(s.IDs[16*doc:]), importance: s.Importance[doc], question: s.Question[doc], created: s.Created[doc],
			end: end, length: s.Length[doc], kind: s.Kind[doc], tags: s.Tags[doc], speaker: s.Speaker[doc],
			timed: s.Timed[doc],
		}
		x.accessed[doc].Store(s.Accessed[doc])
	}
	for i := 0; i+1 < len(s.Taken); i += 2 {
		x.taken = append(x.taken, taking{doc: s.Taken[i], message: s.Taken[i+1]})
	}
	x.number()
	return x, nil
}

// Indexes of owners with many documents are stored, so that a process that does not know an
// owner yet reads the changes since then only. Reading fewer documents takes little time.
const (
	leastStored   = 1000 // documents
	storedChanges = 8    // an index is stored after changes of 1/8 of its documents
)

// saving is an index to be stored.
type saving struct {
	owner memory.Owner
	x     *index
}

// save has the index stored if much of it is not. It is left out if others wait: a later
// change has it stored.
func (s *Service) save(owner memory.Owner, x *index) {
	n := int64(len(x.docs))
	unsaved := x.unsaved.Load()
	if n < leastStored || unsaved < n/storedChanges || !x.unsaved.CompareAndSwap(unsaved, 0) {
		return
	}
	select {
	case s.saves <- saving{owner, x}:
	default:
		x.unsaved.Store(unsaved)
	}
}

// Run stores indexes until the context ends.
func (s *Service) Run(ctx context.Context) {
	for {
		select {
		case save := <-s.saves:
			data, err := save.x.encode()
			if err == nil {
				err = s.records.SaveIndex(ctx, save.owner, save.x.revision, data)
			}
			if err != nil && ctx.Err() == nil && !errors.Is(err, db.ErrErasing) {
				s.log.Warn("the index of a user is not stored: first recalls of the user take longer", zap.Error(err))
			}
		case <-ctx.Done():
			return
		}
	}
}

// stored returns the owner's stored index, or an empty index of revision 0.
func (s *Service) stored(ctx context.Context, owner memory.Owner) (*index, error) {
	revision, data, err := s.records.Index(ctx, owner)
	if err != nil || data == nil {
		return &index{}, err
	}
	x, err := decode(revision, data)
	if err != nil {
		s.log.Info("the stored index of a user is not used", zap.Error(err))
		return &index{}, nil
	}
	s.indexes.Add(indexKey(owner), x, x.size())
	return x, nil
}

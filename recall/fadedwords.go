package recall

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// fadedWords holds the words of an owner's faded memories, the last accessed one first. An index keeps them until a
// memory leaves it, since only then more memories may have faded.
type fadedWords struct {
	ids     [][16]byte
	lexemes []uint64 // hashes of the lexemes of all memories, in the order of ids
	ends    []uint32 // of the lexemes of each memory
}

func newFadedWords(read []db.FadedWords) *fadedWords {
	f := &fadedWords{ids: make([][16]byte, len(read)), ends: make([]uint32, len(read))}
	for i, m := range read {
		f.ids[i], _ = memory.ParseID(m.ID)
		f.lexemes = appendHashes(f.lexemes, m.Lexemes)
		f.ends[i] = uint32(len(f.lexemes))
	}
	f.lexemes = slices.Clip(f.lexemes)
	return f
}

func (f *fadedWords) id(i int) string { return uuid.UUID(f.ids[i]).String() }

// lexemesOf returns the hashes of the lexemes of a memory.
func (f *fadedWords) lexemesOf(i int) []uint64 {
	begin := uint32(0)
	if i > 0 {
		begin = f.ends[i-1]
	}
	return f.lexemes[begin:f.ends[i]]
}

// without returns the words of all memories but those that are active again. f may be nil.
func (f *fadedWords) without(active []db.Document) *fadedWords {
	if f == nil || len(f.ids) == 0 {
		return f
	}
	var places []int
	for _, d := range active {
		id, _ := memory.ParseID(d.ID)
		if i := slices.Index(f.ids, id); i >= 0 {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return f
	}
	left := &fadedWords{}
	for i, id := range f.ids {
		if !slices.Contains(places, i) {
			left.ids = append(left.ids, id)
			left.lexemes = append(left.lexemes, f.lexemesOf(i)...)
			left.ends = append(left.ends, uint32(len(left.lexemes)))
		}
	}
	return left
}

// size is about how many bytes the words take. f may be nil.
func (f *fadedWords) size() int {
	const perMemory, perLexeme = 20, 8
	if f == nil {
		return 0
	}
	return perMemory*cap(f.ids) + perLexeme*cap(f.lexemes)
}

// fadedOf returns the words of the owner's faded memories. It reads them if the index has not kept them.
func (s *Service) fadedOf(ctx context.Context, owner memory.Owner, x *index) (*fadedWords, error) {
	if known := x.faded.Load(); known != nil {
		return known, nil
	}
	read, err := s.records.FadedWords(ctx, owner, mostFaded)
	if err != nil {
		return nil, err
	}
	f := newFadedWords(read)
	x.faded.Store(f)
	s.indexes.grew(owner, x)
	return f, nil
}

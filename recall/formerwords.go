package recall

import (
	"maps"
	"slices"

	"github.com/cespare/xxhash/v2"

	"hippocampus/internal/memory"
)

// spans are what was taken from a message of several clauses.
type spans struct {
	former [][]uint64 // hashes of the lexemes of each superseded statement, different ones
	active []uint64   // those of its active facts
}

// withoutFormerWords returns the postings without the words of former statements in messages that state something else
// besides: of each lexeme of a superseded statement the message has one less, unless an active fact of the message has
// it too. A message of former statements alone keeps its words, since its relevance is that of what superseded it.
func (x *index) withoutFormerWords(found postings) postings {
	messages := x.partlyFormer(found)
	if len(messages) == 0 {
		return found
	}
	without := maps.Clone(found)
	for lexeme, list := range found {
		hash := xxhash.Sum64String(lexeme)
		var left []posting // nil: nothing has changed so far
		for i, p := range list {
			count := p.count
			if of := messages[p.doc]; of != nil {
				count = of.countOf(hash, p.count)
			}
			if count != p.count && left == nil {
				left = slices.Grow(left, len(list))
				left = append(left, list[:i]...)
			}
			if left != nil && count > 0 {
				left = append(left, posting{doc: p.doc, count: count})
			}
		}
		if left != nil {
			without[lexeme] = left
		}
	}
	return without
}

// countOf returns how often a message has a lexeme outside of former statements; count is how often it has it at all.
func (s *spans) countOf(lexeme uint64, count uint32) uint32 {
	least := min(uint32(1), count)
	if !slices.Contains(s.active, lexeme) {
		least = 0
	}
	for _, stated := range s.former {
		if count > least && slices.Contains(stated, lexeme) {
			count--
		}
	}
	return count
}

// partlyFormer returns the messages that have words of the postings in a former statement and state something else
// besides, by place.
func (x *index) partlyFormer(found postings) map[uint32]*spans {
	if len(x.outdated) == 0 {
		return nil
	}
	wanted := make(map[uint64]bool, len(found))
	for lexeme, list := range found {
		if len(list) > 0 {
			wanted[xxhash.Sum64String(lexeme)] = true
		}
	}
	isWanted := func(lexeme uint64) bool { return wanted[lexeme] }
	messages := map[uint32]*spans{}
	for i := range x.outdated {
		o := &x.outdated[i]
		isMessage := x.kind(int(o.message)).Type == memory.TypeMessage
		if isMessage && !o.whole && slices.ContainsFunc(o.stated, isWanted) {
			messages[o.message] = &spans{}
		}
	}
	if len(messages) == 0 {
		return nil
	}
	for i := range x.outdated {
		o := &x.outdated[i]
		isSame := func(stated []uint64) bool { return slices.Equal(stated, o.stated) }
		if of := messages[o.message]; of != nil && !slices.ContainsFunc(of.former, isSame) {
			of.former = append(of.former, o.stated)
		}
	}
	for _, t := range x.taken {
		if of := messages[t.message]; of != nil {
			of.active = append(of.active, x.lexemesOf(int(t.doc))...)
		}
	}
	maps.DeleteFunc(messages, func(message uint32, of *spans) bool {
		return x.isStatedBy(int(message), slices.Concat(append(of.former, of.active)...))
	})
	return messages
}

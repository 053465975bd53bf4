package ingest

import (
	"context"
	"slices"

	"hippocampus/internal/heading"
	"hippocampus/internal/memory"
	"hippocampus/internal/secret"
	"hippocampus/internal/text"
)

const (
	echoMemories  = 100 // recalled memories compared, latest first: as many as a context has
	echoCoverage  = 0.8 // share of a fact's words that the memory must hold
	ownCoverage   = 0.5 // share that makes it the user's own statement
	minEchoLength = 2   // fewer lexemes are no evidence
)

// utterances returns the readable messages of a turn without the contexts that a client put into the user's messages.
// It returns these contexts as left out. The log keeps the messages as they were reported.
func (s *Service) utterances(turn memory.Turn) (said []memory.Message, leftOut []memory.Omission) {
	said = s.withoutSecrets(turn.Readable())
	for i, m := range said {
		if m.Role == memory.RoleUser && m.IsChat() {
			said[i].Content = heading.WithoutContexts(m.Content)
			if s.set.Messages {
				leftOut = omit(leftOut, i, memory.OmittedContext, visible(m.Content)-visible(said[i].Content))
			}
		}
	}
	return said, leftOut
}

// withoutSecrets returns a copy of messages without secrets. Messages that were stored before secrets were cut out of
// requests may have secrets.
func (s *Service) withoutSecrets(messages []memory.Message) []memory.Message {
	cleaned := slices.Clone(messages)
	if s.set.CutSecrets {
		for i := range cleaned {
			cleaned[i].Content, _ = secret.Cut(cleaned[i].Content)
		}
	}
	return cleaned
}

// echoes finds facts of a turn that merely repeat recalled memories.
type echoes struct {
	handedOut []memory.Memory
	words     []map[string]bool // of handedOut
	own       map[string]bool   // words of the user's own messages
}

// echoes reads the memories that recall returned for the turn's user from EchoWindow before
// the turn was accepted until now, except for those that were made of the turn itself.
func (s *Service) echoes(ctx context.Context, turn memory.Turn) (echoes, error) {
	var e echoes
	var err error
	e.handedOut, err = s.Records.HandedOut(ctx, turn.Owner, turn.AcceptedAt.Add(-s.set.EchoWindow), echoMemories)
	e.handedOut = slices.DeleteFunc(e.handedOut, func(m memory.Memory) bool { return m.SourceTurnID == turn.ID })
	if err != nil || len(e.handedOut) == 0 {
		return e, err
	}
	for _, m := range e.handedOut {
		e.words = append(e.words, set(text.Split(m.Lexemes)))
	}
	e.own = map[string]bool{}
	for _, message := range turn.Messages {
		if message.Role == memory.RoleUser {
			for word := range set(text.Lexemes(message.Content)) {
				e.own[word] = true
			}
		}
	}
	return e, nil
}

// find returns the memory that a fact echoes: a memory that holds nearly all words of the fact. It finds no memory if
// the user's own messages hold half of the words.
func (e echoes) find(fact string) (memory.Memory, bool) {
	if len(e.handedOut) == 0 {
		return memory.Memory{}, false
	}
	words := set(text.Lexemes(fact))
	if len(words) < minEchoLength || coverage(words, e.own) >= ownCoverage {
		return memory.Memory{}, false
	}
	for i, m := range e.handedOut {
		if coverage(words, e.words[i]) >= echoCoverage {
			return m, true
		}
	}
	return memory.Memory{}, false
}

// repeats reports whether a sentence merely repeats a recalled memory: the assistant states it again, or a client put
// it before the user's words. sentences is the number of sentences of the message.
func (e echoes) repeats(role, sentence string, sentences int) bool {
	if role != memory.RoleUser {
		_, found := e.find(sentence)
		return found
	}
	if len(e.handedOut) == 0 || sentences < 2 {
		return false
	}
	words := set(text.Lexemes(sentence))
	return len(words) >= minEchoLength && slices.ContainsFunc(e.words, func(recalled map[string]bool) bool {
		return coverage(words, recalled) >= echoCoverage && coverage(recalled, words) >= echoCoverage
	})
}

// coverage returns the share of words that by has.
func coverage(words, by map[string]bool) float64 {
	n := 0
	for word := range words {
		if by[word] {
			n++
		}
	}
	return float64(n) / float64(len(words))
}

func set(words []string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, word := range words {
		m[word] = true
	}
	return m
}

package ingest

import (
	"context"
	"slices"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/ingest/statement"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// LogEffect is the change of an event of a conversation, or of a message of another turn, that the change of a memory
// caused.
type LogEffect struct {
	TurnID         string
	ConversationID string // empty: of a turn without one
	Number         int64  // of the event; 0 without a conversation
	Message        int    // index in the turn
	Done           Done   // DoneForgotten, DoneShortened, DoneRestored or DoneReverted
}

// Bounds of the part of the log that is searched for repetitions of a statement.
const (
	readEvents = 1000 // the last ones of a conversation
	readOpen   = 10   // open conversations, the latest ones
)

// saying is a place in a turn that states something forgotten.
type saying struct {
	root    string // id of the memory of the batch
	turnID  string
	speaker string // of the message
	message int    // index; -1: unknown
	texts   []string
}

// isRemembered reports whether a memory holds the message. The other messages of an accepted turn are not yet
// processed, and count as said after the forgetting.
func (s saying) isRemembered() bool { return s.message < 0 }

// isOf reports whether the saying is in the message that a memory holds.
func (s saying) isOf(m memory.Memory) bool {
	return s.turnID == m.SourceTurnID && s.speaker == m.Speaker
}

// saying returns where the turn of a message states the text that was taken from the message.
func (c *planned) saying(before memory.Memory) saying {
	texts := c.Taken
	if c.Left == "" {
		texts = sentencesOf(before)
	}
	return sayingOf(before, c.root.ID, texts)
}

// sayingOf returns where the turn of a message states some texts of the message.
func sayingOf(m memory.Memory, root string, texts []string) saying {
	return saying{root: root, turnID: m.SourceTurnID, speaker: m.Speaker, message: -1, texts: texts}
}

func sentencesOf(m memory.Memory) (sentences []string) {
	for _, sentence := range text.Sentences(m.Content) {
		if sentence = strings.TrimSpace(sentence); sentence != "" {
			sentences = append(sentences, sentence)
		}
	}
	return sentences
}

// readLog finds where the statements of the roots are repeated in the conversations in which they were made or found,
// and in the open ones. Contexts and consolidations read these conversations, including parts that became no memory.
func (p *forgetting) readLog(
	ctx context.Context, roots []memory.Memory, statements []statement.Statement, docs []db.Document,
) error {
	ids, err := p.conversations(ctx, roots, docs)
	if err != nil {
		return err
	}
	for _, id := range ids {
		c, err := p.Records.Conversation(ctx, p.owner.AppID, p.owner.UserID, id)
		if memory.IsKind(err, memory.KindNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		turns, err := p.Records.ConversationTurns(ctx, p.owner, id, c.Events-readEvents, readEvents)
		if err != nil {
			return err
		}
		log := statement.Read(turns)
		for i, root := range roots {
			for _, span := range statements[i].In(log) {
				p.sayings = append(p.sayings, saying{
					root: root.ID, turnID: span.TurnID, speaker: span.Speaker, message: span.Message,
					texts: []string{span.Text},
				})
			}
		}
	}
	return nil
}

// conversations returns the ids of the conversations that may repeat what the roots state.
func (p *forgetting) conversations(ctx context.Context, roots []memory.Memory, docs []db.Document) ([]string, error) {
	open, err := p.Records.ListConversations(ctx, db.ConversationFilter{
		Owner: p.owner, State: db.ConversationOpen, Limit: readOpen,
	})
	if err != nil {
		return nil, err
	}
	var ids []string
	add := func(id string) {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, c := range open {
		add(c.ID)
	}
	for _, m := range roots {
		add(m.ConversationID)
		for _, source := range p.sources[m.ID] {
			add(source.ConversationID)
		}
	}
	for _, d := range docs {
		if p.plannedFor(d.ID) != nil {
			add(d.ConversationID)
		}
	}
	return ids, nil
}

// withhold withholds from the readers of turns what the sayings state.
func (p *forgetting) withhold(ctx context.Context, tx db.UserTx, all []saying) (*logEdit, error) {
	var l logEdit
	if p.turnID() != "" {
		if err := l.withdraw(ctx, tx, *p.turn, p.title, memory.Instant(p.Now())); err != nil {
			return nil, err
		}
	}
	for _, one := range all {
		t, err := l.turn(ctx, tx, one.turnID)
		if err != nil {
			return nil, err
		}
		if t != nil && t.Status != memory.TurnWithdrawn && (t.Status != memory.TurnAccepted || one.isRemembered()) {
			l.change(t, one.root, one.withheldOf(*t, memory.Instant(p.Now())))
		}
	}
	if p.DryRun {
		return &l, nil
	}
	return &l, l.store(ctx, tx)
}

// withheldOf returns what is withheld of a turn already, and what the saying adds to it at an instant.
func (s saying) withheldOf(t memory.Turn, at time.Time) []memory.Withheld {
	withheld, located := slices.Clip(t.Withheld), false
	add := func(message int, text string) {
		located = true
		isThis := func(w memory.Withheld) bool {
			return w.Message == message && w.Text == text && w.Statement == s.root
		}
		if !slices.ContainsFunc(withheld, isThis) {
			withheld = append(withheld, memory.Withheld{Message: message, Text: text, Statement: s.root, At: at})
		}
	}
	isSpeaker := func(i int, m memory.Message) bool {
		return i == s.message || s.message < 0 && memory.SpeakerOf(m.Role, m.Name) == s.speaker
	}
	for i, m := range t.Messages {
		for _, text := range s.texts {
			if isSpeaker(i, m) && strings.Contains(m.Content, text) {
				add(i, text)
			}
		}
	}
	for i, m := range t.Messages {
		if !located && isSpeaker(i, m) && m.Content != "" { // the memory was edited
			add(i, m.Content)
		}
	}
	return withheld
}

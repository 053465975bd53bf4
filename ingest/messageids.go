package ingest

import (
	"cmp"
	"context"
	"slices"

	"hippocampus/internal/memory"
)

// equals reports whether two events at the same place are one message: they have the same id, or one of them has no id
// and they are equal in everything else.
func (e event) equals(other event) bool {
	if e.hasID() && other.hasID() {
		return e.id == other.id
	}
	return e.hash == other.hash
}

func (e event) hasID() bool { return e.id != digest{} }

func contains(log []event, e event) bool { return slices.ContainsFunc(log, e.equals) }

// withID returns the event of the log that has the id of e.
func (s *said) withID(e event) (found event, ok bool) {
	for _, log := range [][]event{s.events, s.older} {
		for _, found := range slices.Backward(log) {
			if e.hasID() && found.id == e.id {
				return found, true
			}
		}
	}
	return event{}, false
}

// identified reports for each message at the beginning of a report whether the log has it: the log has its id, or an
// equal message if one of the two has no id. The beginning ends with the last message whose id the log has, and the
// messages after it that equal those in the log.
func (s *said) identified(reported []event) (known []bool) {
	var last event
	for i, e := range slices.Backward(reported) {
		if found, ok := s.withID(e); ok {
			known, last = make([]bool, i+1), found
			break
		}
	}
	if known == nil {
		return nil
	}
	for i, e := range reported[:len(known)] {
		_, known[i] = s.withID(e)
		known[i] = known[i] || contains(s.events, e)
	}
	next := slices.Index(s.events, last) + 1
	for next > 0 && next < len(s.events) && len(known) < len(reported) && reported[len(known)].equals(s.events[next]) {
		known = append(known, true)
		next++
	}
	return known
}

// identify returns the end of a log. If the turn has ids that the end lacks, identify adds the older events of the
// turns that have these ids.
func (s *Service) identify(ctx context.Context, turn memory.Turn, end *said, replaced *withdrawal) (*said, error) {
	if int64(len(end.events)) == end.log.Events {
		return end, nil
	}
	var missing []string
	for _, m := range turn.Messages {
		if m.ID == "" {
			continue
		}
		if _, ok := end.withID(eventOf(m)); !ok {
			missing = append(missing, m.ID)
		}
	}
	if missing == nil {
		return end, nil
	}
	turns, err := s.turnsOfMessages(ctx, turn, missing, replaced)
	if err != nil {
		return nil, err
	}
	whole := *end
	for _, t := range turns {
		whole.older = append(whole.older, eventsOf(t.Messages)...)
	}
	return &whole, nil
}

// turnsOfMessages returns the turns of a turn's conversation that have a message with one of the ids, except for the
// turn that is replaced.
func (s *Service) turnsOfMessages(ctx context.Context, turn memory.Turn, ids []string, replaced *withdrawal) (
	[]memory.Turn, error,
) {
	turns, err := s.Records.TurnsOfMessages(ctx, turn.Owner, turn.ConversationID, ids)
	isReplaced := func(t memory.Turn) bool { return replaced != nil && t.ID == replaced.turn.ID }
	return slices.DeleteFunc(turns, isReplaced), err
}

// edited returns the index of the first message of a turn that has the id of a message of the log and says something
// else; -1: no message does.
func (s *said) edited(turn memory.Turn) int {
	return slices.IndexFunc(turn.Messages, func(m memory.Message) bool {
		e := eventOf(m)
		found, ok := s.withID(e)
		return ok && found.words != e.words
	})
}

// edited refuses a turn with a message whose id another message has, unless its client has reported the turn before.
func (s *Service) edited(ctx context.Context, turn memory.Turn, message int, replaced *withdrawal) (
	known memory.Turn, err error,
) {
	if known, ok, err := s.turnOfClient(ctx, turn); err != nil || ok {
		known.Repeated = len(turn.Messages)
		return known, err
	}
	id := turn.Messages[message].ID
	turns, err := s.turnsOfMessages(ctx, turn, []string{id}, replaced)
	if err != nil || len(turns) == 0 { // the turn was withdrawn in the meantime
		return known, cmp.Or(err, error(errOutdated))
	}
	return known, memory.Errorf(memory.KindConflict, "messages[%d].id %q was used for a message with other content: "+
		"if the message was edited, report it in a turn with \"replaces\": %q, else give it an id of its own",
		message, id, turns[len(turns)-1].ID)
}

package assembly

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/internal/lang/asked"
	"hippocampus/internal/lang/times"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/knowledge/facts"
	"hippocampus/recall"
	"hippocampus/router"
)

// gathered holds the items, and the recall of the memories.
type gathered struct {
	contents    Contents
	answer      recall.Answer
	preferences []Item    // what the user prefers, whatever was asked
	profile     bool      // the memories of answer are standing ones: nothing was asked
	present     []LeftOut // memories that the request's Present holds
}

// gather reads all items of a request. If the request has no query, the last words
// of the user become the query.
func (s Service) gather(ctx context.Context, r *Request) (g gathered, err error) {
	ctx, cancel := recall.Within(ctx, s.Timeout)
	defer cancel()
	g.contents = Contents{}
	if g.contents[Instructions], err = s.instructions(ctx, r.Query); err != nil {
		return g, err
	}
	if !r.Query.Memory.Recalls() {
		g.answer = recall.AnswerOff(r.Query.At, r.Query.Memory)
		return g, nil
	}
	var working session.Working
	if r.ConversationID != "" && (!r.WithoutWorking || r.Query.Previous == "") {
		working, err = s.working(ctx, r.Query.Owner, r.ConversationID)
		if err != nil {
			return g, err
		}
	}
	working.Events, working.Before = r.forTurn(working.Events), r.forTurn(working.Before)
	nameUser(working.Events, r.Query)
	if !r.WithoutWorking {
		g.contents[Conversation] = itemsOf(working)
	}
	r.Query.Text = cmp.Or(r.Query.Text, lastUserText(working.Events), lastUserText(working.Before))
	alone := r.Query.Group == nil // else nothing but what was said to the group
	if r.Preferences && alone {
		r.Query.Preferences = MaxPreferences
	}
	r.Query.Previous = cmp.Or(r.Query.Previous, saidBefore(working.Events, r.Query.Text),
		saidBefore(working.Before, r.Query.Text))
	if g.answer, err = s.recall(ctx, r.Query); err != nil {
		return g, err
	}
	g.preferences = g.preferenceItems(r, working.Events)
	if alone {
		if g.contents[Facts], err = s.facts(ctx, r.Query, &g.answer); err != nil {
			return g, err
		}
	}
	switch {
	case r.Episode != nil:
		g.answer.Memories, g.answer.Skipped = opened(r.Episode, g.answer), false
	case alone && g.answer.Skipped:
		if err := s.standing(ctx, r.Query, &g); err != nil {
			return g, err
		}
	}
	wantsDays := asked.WantsDays(r.Query.Text)
	for _, m := range g.answer.Memories {
		if isPresent(m.Memory, r.Present) {
			g.present = append(g.present, LeftOut{Part: Memories, ID: m.Memory.ID, Reason: AlreadyIncluded})
			continue
		}
		item := memoryItem(m, working.Events, !alone)
		item.At, item.Until = item.At.In(r.Query.Zone), item.Until.In(r.Query.Zone)
		item.Again = item.Again.In(r.Query.Zone)
		item.Repeats.Last = item.Repeats.Last.In(r.Query.Zone)
		item.Dated = g.profile || needsDate(m.Memory, item.At, wantsDays)
		g.contents[Memories] = append(g.contents[Memories], item)
	}
	return g, nil
}

// opened returns the memories of an episode: those that the query found, in its order, then the others, oldest first.
func opened(episode []memory.Memory, answer recall.Answer) []recall.Recalled {
	rest := make(map[string]bool, len(episode))
	for _, m := range episode {
		rest[m.ID] = true
	}
	all := slices.DeleteFunc(slices.Clone(answer.Memories), func(m recall.Recalled) bool { return !rest[m.Memory.ID] })
	for _, m := range all {
		delete(rest, m.Memory.ID)
	}
	for _, m := range episode {
		if rest[m.ID] {
			other := recall.Recalled{Memory: m, Importance: m.Importance}
			if m.HasExpired(answer.At) {
				other.FormerUntil = m.ExpiresAt
			}
			all = append(all, other)
		}
	}
	return all
}

// nameUser gives the name of the user who asks for a group to what the user says in the log.
func nameUser(events []session.Event, q recall.Query) {
	for _, member := range q.Group {
		for i := range events {
			if e := &events[i]; member.Owner == q.Owner && e.Role == memory.RoleUser && e.Name == "" {
				e.Name = member.Name
			}
		}
	}
}

// memoryItem is a memory as an item of a context with these events, in which others have copies of their turns if it
// is of a group.
func memoryItem(found recall.Recalled, events []session.Event, ofGroup bool) Item {
	m := found.Memory
	item := Item{
		ID: m.ID, Group: groupOf(m.Type), Text: m.Content, At: m.CreatedAt, Again: m.LastSaidAt,
		Until: found.FormerUntil, Recollected: found.Recollected, Pooled: found.Pooled,
	}
	if m.Type != memory.TypeMessage {
		item.Statement = statement(m.ID, m.Content)
		if memory.NameOf(m.Speaker) != "" && !strings.Contains(m.Content, m.Speaker) {
			item.Text = m.WrittenSpeaker() + ": " + m.Content
		}
		return item
	}
	if m.IsPassage() {
		from := m.Citation()
		item.Group, item.From = others, &from
		if text, isBelow := strings.CutPrefix(m.Content, from.Heading+"\n"); isBelow {
			item.Text = from.Heading + ": " + text
		}
		return item
	}
	item.Who, item.Asked = m.WrittenSpeaker(), m.Asked
	item.Repeats = found.Repeats
	for _, e := range events {
		isOf := e.TurnID == m.SourceTurnID || ofGroup && memory.SpeakerOf(e.Role, e.Name) == m.Speaker
		if isOf && holds(e.Content, m.Content) {
			item.HeldBy = eventStatement(e)
		}
	}
	return item
}

// needsDate reports whether the day on which a memory was stated is to follow its text: the text names a time that
// depends on that day, or the query asks for a time. Messages stand below their day, some texts have it, and the day of
// an inference says nothing about its sources.
func needsDate(m memory.Memory, at time.Time, wantsDays bool) bool {
	return m.Type != memory.TypeMessage && !m.Type.IsDerived() &&
		!strings.Contains(m.Content, at.Format(time.DateOnly)) && (wantsDays || times.Relative(m.Content))
}

// isPresent reports whether a memory is a message that one of the texts holds.
func isPresent(m memory.Memory, texts []string) bool {
	return m.Type == memory.TypeMessage &&
		slices.ContainsFunc(texts, func(text string) bool { return holds(text, m.Content) })
}

// holds reports whether a text has all sentences of a remembered message, which may
// have less than what was said.
func holds(said, remembered string) bool {
	for _, sentence := range text.Sentences(remembered) {
		if !strings.Contains(said, strings.TrimSpace(sentence)) {
			return false
		}
	}
	return true
}

// eventStatement identifies an event of the present conversation.
func eventStatement(e session.Event) string { return "event " + strconv.FormatInt(e.Number, 10) }

// recall skips a query without a text.
func (s Service) recall(ctx context.Context, q recall.Query) (recall.Answer, error) {
	if q.Text == "" {
		return recall.Answer{
			Route: router.Route{Source: "request", Reason: "there is no query"}, Skipped: true, At: q.At,
		}, nil
	}
	return s.Recaller.Recall(ctx, q)
}

// standing adds the memories of the user's profile to an answer without memories, since nothing was asked.
func (s Service) standing(ctx context.Context, q recall.Query, g *gathered) error {
	standing, err := s.Recaller.Standing(ctx, q)
	if err != nil {
		return err
	}
	g.profile = len(standing) > 0
	for _, m := range standing {
		g.answer.Memories = append(g.answer.Memories, recall.Recalled{
			Memory: m.Memory, Importance: m.Memory.Importance, Score: m.Score,
		})
	}
	return nil
}

// statement identifies what a memory with this content states.
func statement(memoryID, content string) string { return memoryID + " " + content }

func (s Service) instructions(ctx context.Context, q recall.Query) (items []Item, err error) {
	if s.Instructor == nil {
		return nil, nil
	}
	userID := q.Owner.UserID
	if q.Group != nil {
		userID = "" // the instructions of one user are not for the others
	}
	merged, err := s.Instructor.Merged(ctx, q.Owner.AppID, q.AgentID, userID)
	if err != nil {
		return nil, err
	}
	for _, i := range merged {
		items = append(items, Item{ID: string(i.Kind) + "/" + i.Name, Text: strings.TrimSpace(i.Content)})
	}
	return items, nil
}

// facts lists the facts that are valid at the time of the query, or at its AsOf, in the words of their memories. The
// facts whose memories a recall finds come first, in its order. The others follow by confidence, the latest of a tie
// first. A skipped query is small talk, which concerns no fact. The parts that were unavailable to this recall are
// added to answer.Degraded.
func (s Service) facts(ctx context.Context, q recall.Query, answer *recall.Answer) (items []Item, err error) {
	at := q.At
	if !q.AsOf.IsZero() {
		at = q.AsOf
	}
	valid, err := s.Facts.ListFacts(ctx, db.FactFilter{Owner: q.Owner, At: at, Limit: memory.MaxPage})
	if err != nil {
		return nil, err
	}
	wantsDays := asked.WantsDays(q.Text)
	ranks := map[string]int{} // by id of the fact's memory; the best is the lowest
	wordings := map[string]string{}
	if len(valid) > 1 && !answer.Skipped {
		recalled, err := s.recallFacts(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, part := range recalled.Degraded {
			if !slices.Contains(answer.Degraded, part) {
				answer.Degraded = append(answer.Degraded, part)
			}
		}
		for i, m := range recalled.Memories {
			ranks[m.Memory.ID] = i - len(recalled.Memories) // below that of a memory that was not recalled
			wordings[m.Memory.ID] = m.Memory.Content
		}
	}
	slices.SortStableFunc(valid, func(a, b memory.Fact) int {
		return cmp.Or(cmp.Compare(ranks[a.MemoryID], ranks[b.MemoryID]), cmp.Compare(b.Confidence, a.Confidence))
	})
	for _, f := range valid {
		item := Item{
			ID: f.ID, Text: cmp.Or(wordings[f.MemoryID], facts.Sentence(f.Type, f.Key, f.Value)),
			At: f.ValidFrom.In(q.Zone), Dated: wantsDays,
		}
		if f.MemoryID != "" {
			item.Statement = statement(f.MemoryID, item.Text)
		}
		items = append(items, item)
	}
	return items, nil
}

// recallFacts recalls memories of type fact, whatever other memories the query admits.
func (s Service) recallFacts(ctx context.Context, q recall.Query) (recall.Answer, error) {
	return s.Recaller.Recall(ctx, recall.Query{
		Owner: q.Owner, Text: q.Text, Previous: q.Previous, AgentID: q.AgentID, At: q.At, Zone: q.Zone, AsOf: q.AsOf,
		Types: []memory.Type{memory.TypeFact}, Limit: memory.MaxLimit, NoTouch: true, NoRoute: true,
		NoRecollection: true, WithoutTurn: q.WithoutTurn,
	})
}

// working is the working memory of a conversation, empty if it has no turn yet.
func (s Service) working(ctx context.Context, owner memory.Owner, id string) (session.Working, error) {
	w, err := s.Sessions.Working(ctx, owner.AppID, owner.UserID, id, session.Filter{})
	if memory.IsKind(err, memory.KindNotFound) {
		return session.Working{}, nil
	}
	return w, err
}

// itemsOf returns the summary and the events with content, the latest first.
func itemsOf(w session.Working) (items []Item) {
	if summary := strings.TrimSpace(w.Conversation.Summary); summary != "" {
		items = append(items, Item{ID: SummaryID, Text: summary})
	}
	for _, e := range slices.Backward(w.Events) {
		if strings.TrimSpace(e.Content) != "" {
			items = append(items, eventItem(e))
		}
	}
	return items
}

// eventItem is an event as an item. In a chat request, only what the backend itself
// reported as the operator's words is a system message. Events that are not chat of a
// user or an assistant have a mark, and so does a user's text that could be read as one.
func eventItem(e session.Event) Item {
	item := Item{
		ID: strconv.FormatInt(e.Number, 10), Role: e.Role, Who: memory.SpeakerOf(e.Role, e.Name), Text: e.Content,
		Statement: eventStatement(e),
	}
	if e.Kind != memory.Chat {
		item.Who = string(e.Kind) + ", " + item.Who
	}
	marked := e.Kind != memory.Chat
	switch e.Role {
	case systemRole, memory.RoleAssistant:
	case "developer":
		item.Role, marked = systemRole, true
	case memory.RoleUser:
		marked = marked || strings.HasPrefix(strings.TrimSpace(e.Content), "[")
	default: // what tools return is not trusted
		item.Role, marked = memory.RoleUser, true
	}
	if marked {
		item.Mark = "[" + item.Who + "] "
	}
	return item
}

package evolution

import (
	"context"
	"slices"
	"strings"
	"time"

	"hippocampus/db"
	"hippocampus/internal/lazyregexp"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/scorer/attribute"
	"hippocampus/scorer/request"
)

// The bounds of requests.
const (
	minDays     = 2  // on which a request was made before it is proposed
	maxRequests = 10 // that one run proposes for a user
)

// wish is a request that a user has made on several days.
type wish struct {
	words    string // the latest wording
	key      string
	days     map[string]bool
	last     time.Time
	memories []memory.Memory
}

// wishes returns the standing requests that the user has made on several days, the one that was first made first.
// Preferences that only one agent sees, and those of other people, are left out.
func (d *drafting) wishes(ctx context.Context) (found []*wish, err error) {
	preferences, err := d.Records.ListMemories(ctx, db.MemoryFilter{
		Owner: d.owner, Types: []memory.Type{"preference"}, Limit: memory.MaxPage,
		Statuses: []memory.Status{memory.Active, memory.Consolidated}, Unexpired: d.Now(),
	})
	if err != nil || len(preferences) == 0 {
		return nil, err
	}
	preferences = slices.DeleteFunc(preferences, func(m memory.Memory) bool {
		return m.AgentID != "" || m.Speaker != "" && m.Speaker != memory.RoleUser
	})
	zone, err := d.Zone.Of(ctx, d.owner)
	if err != nil {
		return nil, err
	}
	said, err := d.said(ctx, preferences, zone)
	if err != nil {
		return nil, err
	}
	byKey := map[string]*wish{}
	slices.Reverse(preferences)
	for _, m := range preferences {
		words := said[m.ID]
		if words == "" {
			continue
		}
		key := keyOf(words)
		w := byKey[key]
		if w == nil {
			w = &wish{key: key, days: map[string]bool{}}
			byKey[key], found = w, append(found, w)
		}
		w.memories = append(w.memories, m)
		w.days[dayOf(m.CreatedAt, zone)], w.days[dayOf(m.Said(), zone)] = true, true
		if !m.Said().Before(w.last) {
			w.words, w.last = words, m.Said()
		}
	}
	return slices.DeleteFunc(found, func(w *wish) bool { return len(w.days) < minDays }), nil
}

func dayOf(at time.Time, zone *time.Location) string { return at.In(zone).Format(time.DateOnly) }

// said returns the standing requests that preferences state, by their ids: in their own words, or, where a model has
// put them into others, in those of the user's messages. Messages are only read of what was said on several days.
func (d *drafting) said(ctx context.Context, preferences []memory.Memory, zone *time.Location) (
	map[string]string, error,
) {
	said, others := map[string]string{}, []string{}
	for _, m := range preferences {
		switch {
		case request.IsStanding(m.Content):
			said[m.ID] = m.Content
		case dayOf(m.CreatedAt, zone) != dayOf(m.Said(), zone):
			others = append(others, m.ID)
		}
	}
	if len(others) == 0 {
		return said, nil
	}
	sources, err := d.Records.Sources(ctx, d.owner, others)
	for id, messages := range sources {
		for _, m := range messages {
			if m.Type != memory.TypeMessage || m.Speaker != memory.RoleUser {
				continue
			}
			for _, sentence := range text.Sentences(m.Content) {
				if said[id] == "" && request.IsStanding(sentence) {
					said[id] = sentence
				}
			}
		}
	}
	return said, err
}

// fillers say nothing about what is asked for.
var fillers = text.Lexemes("please no and so also but ok okay hey oh yes now then")

// opening is what a correction begins with before it says what is asked for.
var opening = lazyregexp.New(`^(?i)(?:(?:no|and|so|but|ok|okay|hey|oh|yes|please)[,! ]+)+|^(?:不|不是|不对|请)[，,！]`)

// keyOf is equal for requests that ask for the same: those about the same manner, or with the same words.
func keyOf(words string) string {
	var parts []string
	for _, c := range attribute.Of(words[len(opening.FindString(words)):]) {
		parts = append(parts, c.Attribute+"="+strings.Join(c.Value, " "))
	}
	if len(parts) == 0 {
		parts = wordsOf(words)
	}
	slices.Sort(parts)
	return strings.Join(slices.Compact(parts), "\n")
}

func wordsOf(words string) []string {
	return slices.DeleteFunc(text.Lexemes(words), func(l string) bool { return slices.Contains(fillers, l) })
}

// ask drafts a line of the instruction for each wish that no active instruction says, and that was made again since
// a proposal of it was decided.
func (d *drafting) ask(ctx context.Context, wishes []*wish) error {
	before := len(d.drafts)
	for _, w := range wishes {
		ids := memory.IDs(w.memories)
		proposed := slices.ContainsFunc(d.known, func(p db.ProposedInsight) bool {
			return p.Instruction == memory.RequestsInstruction && (!p.Decided || w.last.Unix() <= p.Basis) &&
				slices.ContainsFunc(p.Sources, func(id string) bool { return slices.Contains(ids, id) })
		})
		if proposed || d.says(w) || len(d.drafts)-before == maxRequests {
			continue
		}
		line := strings.Join(strings.Fields(w.words), " ")
		latest := w.memories[len(w.memories)-1]
		if err := d.add(ctx, ids[0], db.ProposedInsight{
			Instruction: memory.RequestsInstruction, Content: line, Domain: latest.Domain, Importance: latest.Importance,
			Grounds: []memory.Ground{{Line: line, Memories: ids}}, Basis: w.last.Unix(),
		}); err != nil {
			return err
		}
	}
	return nil
}

// says reports whether a line of an active instruction has the words of a wish, or asks for the same.
func (d *drafting) says(w *wish) bool {
	words := wordsOf(w.words)
	for _, i := range d.active {
		for line := range strings.Lines(i.Content) {
			has := text.Lexemes(line)
			if keyOf(line) == w.key || len(words) > 0 &&
				!slices.ContainsFunc(words, func(l string) bool { return !slices.Contains(has, l) }) {
				return true
			}
		}
	}
	return false
}

package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Violation is a difference between the ledger and the stores.
type Violation struct {
	What  string
	Entry Entry // the request that is contradicted; zero if there is no such request
	Found string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s\n  ledger: %s\n  found:  %s", v.What, v.Entry, v.Found)
}

var (
	word    = regexp.MustCompile(`\b[a-z]+\d+of(user\d+)\b`)
	version = regexp.MustCompile(`version (\d+)`)
)

// checker compares the expected state of the stores with the found one.
type checker struct {
	*Expectation

	found      Found
	violations []Violation
}

// Check returns every violation, by the order of the requests.
func Check(x *Expectation, f Found) []Violation {
	c := &checker{Expectation: x, found: f}
	c.texts()
	c.memories()
	c.turns()
	c.facts()
	c.instructions()
	c.outcomes()
	c.files()
	c.pins()
	c.relations()
	c.pool()
	c.conversations()
	c.vectors()
	slices.SortStableFunc(c.violations, func(a, b Violation) int { return a.Entry.N - b.Entry.N })
	return c.violations
}

func (c *checker) blame(o *object, what string, found any) {
	v := Violation{What: what, Found: fmt.Sprintf("%+v", found)}
	if o != nil {
		v.Entry = o.last
		v.What = fmt.Sprintf("%s %s of %s: %s (expected: %q)", o.kind, o.name, o.user, what,
			slices.Sorted(maps.Keys(o.possible)))
	}
	c.violations = append(c.violations, v)
}

// text checks the words of a text that the stores hold of a user.
func (c *checker) text(user, text string, found any) {
	for _, match := range word.FindAllStringSubmatch(text, -1) {
		o := c.byText[match[0]]
		switch {
		case match[1] != user:
			c.blame(o, "another user's data: "+user+" has it", found)
		case o == nil:
			c.blame(nil, "invented: no request has the word "+match[0], found)
		case o.erased:
			c.blame(o, "erased, and it lives", found)
		}
	}
}

func (c *checker) texts() {
	for _, m := range c.found.Memories {
		c.text(m.User, m.Content, m)
	}
	for _, t := range c.found.Turns {
		c.text(t.User, t.Client+" "+t.Conversation, t)
	}
	for _, f := range c.found.Facts {
		c.text(f.User, f.Key+" "+string(f.Value), f)
	}
	for _, v := range c.found.Versions {
		c.text(v.User, v.Name+" "+v.Content, v)
	}
	for _, w := range c.found.Workflows {
		c.text(w.User, w.Workflow, w)
	}
	for _, f := range slices.Concat(c.found.Files, c.found.FileVersions) {
		c.text(f.User, f.Path+" "+f.Content, f)
	}
	for _, t := range c.found.Conversations {
		c.text(t.User, t.ID, t)
	}
}

// of returns the objects of these kinds, by the order of their last requests.
func (c *checker) of(kinds ...Kind) []*object {
	var chosen []*object
	for _, o := range c.objects {
		if slices.Contains(kinds, o.kind) {
			chosen = append(chosen, o)
		}
	}
	slices.SortFunc(chosen, func(a, b *object) int { return a.last.N - b.last.N })
	return chosen
}

// value returns the value that a memory shows.
func (m Memory) value() string {
	if version := versionIn(m.Content); version != "" {
		return m.Status + " " + version
	}
	return m.Status
}

// memories checks the memories that were written directly. Each has its name as a tag, or is a bullet of a file. A
// superseded one is a former wording, which the server keeps if an insight was made of it.
func (c *checker) memories() {
	found := map[string][]Memory{}
	for _, m := range c.found.Memories {
		if m.Status == "superseded" {
			continue
		}
		for _, tag := range m.Tags {
			found[tag] = append(found[tag], m)
		}
		if m.Metadata.Source == "file" {
			name := word.FindString(m.Content)
			found[name] = append(found[name], m)
		}
	}
	for _, o := range c.of(WriteMemory, ImportMemory, AddBullet) {
		all := found[o.name]
		switch {
		case len(all) > 1:
			c.blame(o, "doubled", all)
		case len(all) == 0 && !o.possible[""]:
			c.blame(o, "lost", "nothing")
		case len(all) == 1 && !o.possible[all[0].value()] && o.forgotten() && all[0].Status == "active":
			c.blame(o, "forgotten, and it lives", all[0])
		case len(all) == 1 && !o.possible[all[0].value()]:
			c.blame(o, "another value", all[0])
		}
	}
}

// made has the memories that were made from a turn.
type made struct {
	rows            []Turn
	facts, messages []Memory
}

// leaveOutReplaced leaves out the fact that rules took while the model did not answer, if the model's fact has replaced
// it: rules keep the words of the message, and their fact is forgotten when the model scores the turn again.
func (m *made) leaveOutReplaced() {
	if len(m.facts) != 2 || len(m.messages) != 1 {
		return
	}
	for i, f := range m.facts {
		if f.Status == "forgotten" && f.Content == m.messages[0].Content && m.facts[1-i].Status == "active" {
			m.facts = []Memory{m.facts[1-i]}
			return
		}
	}
}

// turns checks that each turn led to one fact and one message. If its conversation is
// consolidated first, the consolidation makes a preference with the same words instead of
// the fact.
func (c *checker) turns() {
	found := map[string]*made{}
	of := func(name string) *made {
		if found[name] == nil {
			found[name] = &made{}
		}
		return found[name]
	}
	for _, t := range c.found.Turns {
		of(t.Client).rows = append(of(t.Client).rows, t)
	}
	for _, m := range c.found.Memories {
		name := word.FindString(m.Content)
		switch {
		case m.Turn != "" && m.Type == "message":
			of(name).messages = append(of(name).messages, m)
		case m.Turn != "" && m.Type == "fact", m.Type == "preference":
			of(name).facts = append(of(name).facts, m)
		}
	}
	for _, o := range c.of(PostTurn) {
		m := of(o.name)
		m.leaveOutReplaced()
		if most := max(len(m.rows), len(m.facts), len(m.messages)); most > 1 {
			c.blame(o, "doubled", *m)
		}
		conversation := c.objects[o.of]
		if least := min(len(m.facts), len(m.messages)); least == 0 && !o.possible[""] {
			c.blame(o, "lost its fact or message", *m)
		}
		if len(m.rows) == 0 && !o.possible[""] {
			c.blame(o, "lost", *m)
		}
		if len(m.rows) > 0 && conversation != nil && conversation.is("") && !conversation.erased {
			c.blame(o, "its conversation is deleted, and it lives", *m)
		}
		for _, row := range m.rows {
			if row.Status != "processed" {
				c.blame(o, "not processed", row)
			} else if len(m.facts) != 1 || len(m.messages) != 1 {
				c.blame(o, "processed without its fact and message", *m)
			}
		}
		for _, memory := range slices.Concat(m.facts, m.messages) {
			if memory.Status != "active" {
				c.blame(o, "not active", memory)
			}
		}
	}
}

// facts checks the value that is valid now, the memory that states it, and the evidence.
func (c *checker) facts() {
	current, evidence := map[string][]string{}, map[string]int{}
	stated := map[string]int{}
	for _, f := range c.found.Facts {
		value := strings.Trim(string(f.Value), `"`)
		if f.State == "accepted" || f.State == "replaced" {
			evidence[value]++
		}
		if f.State == "accepted" && f.Until == "" {
			current[f.Key] = append(current[f.Key], value)
		}
	}
	for _, m := range c.found.Memories {
		if m.Type == "fact" && m.Turn == "" && m.Status == "active" {
			for _, value := range word.FindAllString(m.Content, -1) {
				stated[value]++
			}
		}
	}
	for _, o := range c.of(PutFact) {
		values := current[o.name]
		if len(values) == 0 {
			values = []string{""}
		}
		if len(values) > 1 || !o.possible[values[0]] {
			c.blame(o, "another value", values)
		}
		for value, acknowledged := range o.given {
			n := evidence[value]
			if n > 1 || n == 0 && acknowledged && !o.erased {
				c.blame(o, fmt.Sprintf("%d pieces of evidence for %s", n, value), values)
			}
			if want := len(values) == 1 && values[0] == value; stated[value] != 0 && !want || stated[value] != 1 && want {
				c.blame(o, fmt.Sprintf("%d active memories state %s", stated[value], value), values)
			}
		}
	}
}

// instructions checks the active version and that each text was published once.
func (c *checker) instructions() {
	active, texts := map[string]string{}, map[string]int{}
	for _, v := range c.found.Versions {
		texts[v.Content]++
		for _, i := range c.found.Instructions {
			if i.User == v.User && i.Name == v.Name && i.Active == v.Version {
				active[v.Name] = v.Content
			}
		}
	}
	for _, o := range c.of(Publish) {
		if !o.possible[active[o.name]] {
			c.blame(o, "another version is active", active[o.name])
		}
		for text, acknowledged := range o.given {
			if n := texts[text]; n > 1 || n == 0 && acknowledged && !o.erased {
				c.blame(o, fmt.Sprintf("%d versions of %s", n, text), active[o.name])
			}
		}
	}
}

// outcomes checks that each outcome was counted once.
func (c *checker) outcomes() {
	least, most := map[string]int{}, map[string]int{}
	example, found := map[string]*object{}, map[string]int{}
	for _, o := range c.of(CountOutcome) {
		example[o.of] = o
		if o.is(existing) {
			least[o.of]++
		}
		if o.possible[existing] {
			most[o.of]++
		}
	}
	for _, w := range c.found.Workflows {
		found[w.Workflow] += w.Successes + w.Failures
	}
	for name, o := range example {
		if n := found[name]; n < least[name] || n > most[name] {
			c.blame(o, fmt.Sprintf("workflow %s counts %d outcomes, want %d to %d", name, n, least[name], most[name]), n)
		}
	}
}

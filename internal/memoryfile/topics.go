package memoryfile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hippocampus/internal/memory"
)

// Topic is a file of a folder with an index. Each section of the form Memories has one.
type Topic struct {
	Name     string // relative to the index, with slashes
	Text     string
	Memories int
}

// TopicNames lists the topic files in the order of JoinTopics.
func TopicNames() []string {
	names := make([]string, len(Memories.sections))
	for i, s := range Memories.sections {
		names[i] = s.topic()
	}
	return names
}

func (s section) topic() string {
	return "topics/" + strings.ReplaceAll(strings.ToLower(s.heading), " ", "-") + ".md"
}

// separator is the line of a joined file before a topic. It is a heading, so that no section reaches into the next
// topic.
func (s section) separator() string { return "# " + s.topic() + " <!-- topic -->\n" }

// JoinTopics joins topic files to one file of the form Memories. In it each topic has the heading of its section, so
// that Document.Show puts memories there. index is the text of the index, or empty without one. texts are those of the
// topic files by name. If a file that the index links to is missing, the joined file has no revision, so that no memory
// is forgotten. Errors: an index that was edited, and those of Form.Parse.
func JoinTopics(index string, texts map[string]string) (string, error) {
	joined, err := frontOf(index, texts)
	if err != nil {
		return "", err
	}
	for _, s := range Memories.sections {
		text := strings.TrimPrefix(texts[s.topic()], bom)
		d, err := Memories.Parse(text)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.topic(), err)
		}
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		hasSection := func(p *part) bool { return p.heading && p.section == s.kind }
		if !slices.ContainsFunc(d.parts, hasSection) {
			front, rest := d.front.text(), text[len(d.front.text()):]
			text = front + "# " + s.heading + "\n"
			if rest != "" {
				text += "\n" + rest
			}
		}
		for line := range strings.Lines(text) {
			if isSeparator(line) {
				return "", memory.Errorf(memory.KindInvalid, "%s has the line %q, which separates topics: remove it",
					s.topic(), strings.TrimSpace(line))
			}
		}
		joined += s.separator() + text
	}
	return joined, nil
}

// frontOf is the front matter of the joined file.
func frontOf(index string, texts map[string]string) (string, error) {
	if index == "" {
		return "", nil
	}
	d, err := readIndex(index)
	if err != nil {
		return "", err
	}
	for _, name := range TopicNames() {
		if _, exists := texts[name]; !exists && strings.Contains(index, linkTo(name)) {
			d.Revision = ""
		}
	}
	return newFront(Memories, d.User, d.Agent, d.Revision), nil
}

// newFront is the front matter of a file of the form.
func newFront(form *Form, user, agent, revision string) string {
	front := &frontMatter{keys: map[string]int{}}
	front.set(form, user, agent, revision, "\n")
	return front.text()
}

func isSeparator(line string) bool {
	return slices.ContainsFunc(Memories.sections, func(s section) bool { return line == s.separator() })
}

// SplitTopics is the inverse of JoinTopics.
func SplitTopics(joined string) ([]Topic, error) {
	texts := map[string]*strings.Builder{}
	into := &strings.Builder{} // the front matter, which is that of the index
	for line := range strings.Lines(joined) {
		if isSeparator(line) {
			into = &strings.Builder{}
			texts[line] = into
			continue
		}
		into.WriteString(line)
	}
	var topics []Topic
	for _, s := range Memories.sections {
		text, exists := texts[s.separator()]
		if !exists {
			return nil, fmt.Errorf("the joined file lacks %s", s.topic())
		}
		d, err := Memories.Parse(text.String())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.topic(), err)
		}
		topics = append(topics, Topic{Name: s.topic(), Text: text.String(), Memories: len(d.bullets())})
	}
	return topics, nil
}

// ArrangeTopics makes a joined file of any file of the form Memories. It keeps the bullets only.
func ArrangeTopics(file string) (string, error) {
	d, err := Memories.Parse(file)
	if err != nil {
		return "", err
	}
	empty, err := JoinTopics("", nil)
	if err != nil {
		return "", err
	}
	joined, err := Memories.Parse(empty)
	if err != nil {
		return "", err
	}
	present := map[string]Memory{}
	for _, p := range d.bullets() {
		present[p.bullet.ID] = Memory{ID: p.bullet.ID, Type: cmp.Or(p.section, d.form.fallback), Content: p.bullet.Text}
	}
	joined.Show(d.User, d.Agent, slices.Collect(maps.Values(present)))
	return joined.Bytes(), nil
}

// LocateTopic returns the topic of a line of a joined file, and the number of the line in the topic. Lines are numbered
// from 1. An empty topic is the front matter.
func LocateTopic(joined string, line int) (topic string, at int) {
	for text := range strings.Lines(joined) {
		if line == 0 {
			break
		}
		line--
		at++
		if isSeparator(text) {
			topic = strings.Fields(text)[1]
			at = 0
		}
	}
	return topic, at
}

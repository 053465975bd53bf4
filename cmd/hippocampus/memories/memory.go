package memories

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"hippocampus/cmd/hippocampus/exit"
	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/internal/memory"
	"hippocampus/internal/wire"
)

// shortID is how many characters of an id are shown on a terminal. They are its last ones, which are random.
const shortID = 8

// ShortID returns the end of an id, which commands accept in its place.
func ShortID(id string) string { return id[max(0, len(id)-shortID):] }

// id returns an id as the screen shows it: its end on a terminal, and whole in a pipe.
func (a *action) id(id string) string { return shownID(a.Screen)(id) }

func shownID(s terminal.Screen) func(string) string {
	if s.Width == 0 {
		return func(id string) string { return id }
	}
	return ShortID
}

var endOfID = regexp.MustCompile(`^[0-9a-f-]{4,36}$`)

// resolve returns the whole ids of memories that are named by their ids or by the ends of their ids.
func (a *action) resolve(names []string) ([]string, error) {
	ids := make([]string, len(names))
	for i, name := range names {
		id, err := a.resolveOne(strings.ToLower(strings.TrimLeft(name, "….")))
		if err != nil {
			return nil, err
		}
		ids[i] = id
	}
	return ids, nil
}

func (a *action) resolveOne(name string) (string, error) {
	switch {
	case memory.IsID(name):
		return name, nil
	case !endOfID.MatchString(name):
		return "", exit.Usagef("%q is not the id of a memory: `hippocampus list` shows ids, of which the last %d "+
			"characters suffice", name, shortID)
	}
	user, err := a.NeedUser()
	if err != nil {
		return "", err
	}
	filter, err := json.Marshal(map[string]any{"id": map[string]string{"contains": name}})
	if err != nil {
		return "", err
	}
	query := url.Values{"user_id": {user}, "filter": {string(filter)}, "status": statuses()}
	var found struct{ Memories []wire.Memory }
	if _, err := a.fetch("GET", "/v1/memories?"+query.Encode(), nil, &found); err != nil {
		return "", err
	}
	var ids []string
	for _, m := range found.Memories {
		if strings.HasSuffix(m.ID, name) {
			ids = append(ids, m.ID)
		}
	}
	switch len(ids) {
	case 0:
		return "", &remote.NotFound{Text: fmt.Sprintf("%s has no memory whose id ends with %s", user, name)}
	case 1:
		return ids[0], nil
	}
	return "", exit.Usagef("the ids of several memories end with %s: give more of %s", name, strings.Join(ids, " or "))
}

// statuses returns all statuses of memories.
func statuses() []string {
	names := make([]string, len(memory.Statuses))
	for i, status := range memory.Statuses {
		names[i] = string(status)
	}
	return names
}

func memoryPath(id string) string { return "/v1/memories/" + url.PathEscape(id) }

// get returns memories by their ids.
func (a *action) get(ids []string) ([]wire.Memory, error) {
	found := make([]wire.Memory, len(ids))
	for i, id := range ids {
		if _, err := a.fetch("GET", memoryPath(id), nil, &found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// done prints one line about a change of a memory, such as "forgotten".
func (a *action) done(verb, id, content string) {
	line := fmt.Sprintf("%s %s  ", verb, a.id(id))
	content = terminal.Line(content)
	if a.Width > 0 {
		content = terminal.Truncate(content, max(20, a.Width-terminal.Width(line)))
	}
	a.Printf("%s %s  %s\n", a.Paint(terminal.Green, verb), a.Paint(terminal.Cyan, a.id(id)), content)
}

// PrintTable prints memories, with their ends if any has one.
func PrintTable(s terminal.Screen, list []wire.Memory, withStatus bool) {
	id := shownID(s)
	columns := []terminal.Column{
		{Title: "ID", Style: terminal.Cyan},
		{Title: "CREATED", Style: terminal.Faint},
		{Title: "TYPE"},
		{Title: "IMP", Right: true},
	}
	if withStatus {
		columns = append(columns, terminal.Column{Title: "STATUS", Style: terminal.Yellow})
	}
	withEnds := slices.ContainsFunc(list, func(m wire.Memory) bool { return !m.ExpiresAt.IsZero() })
	if withEnds {
		columns = append(columns, terminal.Column{Title: "ENDS", Style: terminal.Yellow})
	}
	columns = append(columns, terminal.Column{Title: "MEMORY", Grows: true})
	rows := make([][]string, len(list))
	for i, m := range list {
		rows[i] = []string{id(m.ID), age(s, m.CreatedAt), string(m.Type), fmt.Sprintf("%.2f", m.Importance)}
		if withStatus {
			rows[i] = append(rows[i], string(m.Status))
		}
		if withEnds {
			rows[i] = append(rows[i], end(s, m.ExpiresAt))
		}
		content := terminal.Line(m.Content)
		if m.Pinned {
			content = "* " + content
		}
		rows[i] = append(rows[i], content)
	}
	s.Table(columns, rows)
}

// end returns the end of a shelf life as a column of a table shows it; "" for the zero time.
func end(s terminal.Screen, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return age(s, t)
}

// age returns a time as a column of a table shows it: relative on a terminal, and exact in a pipe.
func age(s terminal.Screen, t time.Time) string {
	if s.Width > 0 {
		return s.Ago(t)
	}
	return t.UTC().Format(time.RFC3339)
}

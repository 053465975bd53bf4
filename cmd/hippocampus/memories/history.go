package memories

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/internal/wire"
)

func (p program) history() *cobra.Command {
	cmd := &cobra.Command{
		Use:         "history ID",
		Short:       "Show what happened to a memory, with what changed",
		Example:     "  hippocampus history 5a1fe2d9 --user ada",
		Annotations: map[string]string{Routes: "GET /v1/memories/{id}/history"},
		Args:        exactly(1, "give the id of one memory, as `hippocampus list` shows it"),
	}
	return p.command(cmd, options{user: true}, func(a *action, args []string) error {
		ids, err := a.resolve(args)
		if err != nil {
			return err
		}
		var answer struct{ Events []json.RawMessage }
		if _, err := a.fetch("GET", memoryPath(ids[0])+"/history", nil, &answer); err != nil {
			return err
		}
		for _, raw := range answer.Events {
			if a.json {
				a.Printf("%s\n", raw)
				continue
			}
			var e wire.Event
			if err := a.decode(raw, &e); err != nil {
				return err
			}
			a.Printf("%s  %s  %s\n", a.Paint(terminal.Faint, a.When(e.At)),
				a.Paint(terminal.Bold, string(e.Kind)), a.Paint(terminal.Faint, "by "+terminal.Line(e.Cause)))
			a.printChange(e.Detail)
		}
		return nil
	})
}

// printChange prints the detail of an event: fields that changed as lines with - and +, and other fields as they are.
func (a *action) printChange(detail json.RawMessage) {
	var whole map[string]json.RawMessage
	if json.Unmarshal(detail, &whole) != nil {
		return
	}
	nested := map[string]json.RawMessage{}
	if json.Unmarshal(whole["change"], &nested) == nil && nested["from"] != nil {
		delete(whole, "change")
		whole["from"], whole["to"] = nested["from"], nested["to"]
	}
	var from, to map[string]json.RawMessage
	_ = json.Unmarshal(whole["from"], &from)
	_ = json.Unmarshal(whole["to"], &to)
	if from != nil || to != nil {
		delete(whole, "from")
		delete(whole, "to")
	}
	names := slices.Sorted(maps.Keys(from))
	for _, name := range slices.Sorted(maps.Keys(to)) {
		if _, both := from[name]; !both {
			names = append(names, name)
		}
	}
	for _, name := range names {
		if before, exists := from[name]; exists {
			a.Indented("  - ", terminal.Red, name+": "+plain(before))
		}
		if after, exists := to[name]; exists {
			a.Indented("  + ", terminal.Green, name+": "+plain(after))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		a.Indented("    ", terminal.Plain, name+": "+plain(whole[name]))
	}
}

// plain returns a JSON value for people: a string without quotes.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil && !bytes.Equal(value, []byte("null")) {
		return terminal.Text(text)
	}
	return terminal.Line(strings.ReplaceAll(string(value), ",", ", "))
}

package profile

import (
	"context"
	"embed"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.uber.org/zap"

	"hippocampus/db"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/scorer/attribute"
)

//go:embed prompts
var promptFiles embed.FS

var template = prompt.Parse(promptFiles, "fields")

// question is what a model is asked for a profile.
type question struct {
	Request
	open       map[string]Property // that the rules have not filled
	statements []statement         // in the order of fit
	basis      string
	before     []Finding // that are stored
}

// promptField is a field in a prompt.
type promptField struct {
	Field       string   `json:"field"`
	Type        string   `json:"type"`
	Description string   `json:"description,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	Format      string   `json:"format,omitempty"`
}

// promptStatement is a statement in a prompt.
type promptStatement struct {
	Number    int    `json:"number"`
	Said      string `json:"said"` // day
	Statement string `json:"statement"`
}

// fit returns the first statements that fit into a prompt, the first one last, since what is said later holds.
func fit(statements []statement) []statement {
	kept, room := []statement{}, maxPromptRunes
	for _, m := range statements {
		if room -= utf8.RuneCountInString(m.Content); room < 0 && len(kept) > 0 {
			break
		}
		kept = append(kept, m)
	}
	slices.Reverse(kept)
	return kept
}

// Try has a model fill the fields of a schema that rules do not fill, and stores nothing. The memories must have ids.
func Try(ctx context.Context, chat llm.Chat, schema json.RawMessage, memories []memory.Memory) ([]Finding, error) {
	parsed, err := Parse(schema)
	if err != nil {
		return nil, err
	}
	statements := make([]statement, len(memories))
	for i, m := range memories {
		statements[i] = statement{m, attribute.Of(m.Content)}
	}
	q := question{open: parsed.Properties, statements: statements}
	for name, p := range q.open {
		if p.byAttribute(statements) != nil {
			delete(q.open, name)
		}
	}
	return q.ask(ctx, chat)
}

// ask asks the model, checks its answer, and stores what is valid of it.
func (s *Service) ask(ctx context.Context, q question) ([]Finding, error) {
	found, err := q.ask(ctx, s.Chat)
	if memory.IsKind(err, memory.KindBadAnswer) {
		found = q.before // the same question would get the same answer
	} else if err != nil {
		return nil, err
	}
	if err := s.keep(ctx, q, found); err != nil {
		s.Log.Warn("a filled profile is not stored", zap.Error(err))
	}
	return found, err
}

// ask asks a model, and reads its answer.
func (q question) ask(ctx context.Context, chat llm.Chat) ([]Finding, error) {
	var fields []promptField
	for _, name := range slices.Sorted(maps.Keys(q.open)) {
		p := q.open[name]
		f := promptField{Field: name, Type: p.Type, Description: p.Description, Enum: p.Enum, Format: p.Format}
		if p.Items != nil {
			f.Enum = p.Items.Enum
		}
		fields = append(fields, f)
	}
	lines, texts := make([]promptStatement, len(q.statements)), make([]string, len(q.statements))
	for i, m := range q.statements {
		lines[i] = promptStatement{Number: i + 1, Said: m.CreatedAt.Format(prompt.Day), Statement: m.Content}
		texts[i] = m.Content
	}
	var data struct{ Fields, Statements prompt.Quoted }
	var err error
	if data.Fields, err = prompt.Quote(fields...); err != nil {
		return nil, err
	}
	if data.Statements, err = prompt.Quote(lines...); err != nil {
		return nil, err
	}
	return prompt.Ask(ctx, template, chat, strings.Join(texts, "\n"), data, q.parse)
}

func (s *Service) keep(ctx context.Context, q question, found []Finding) error {
	raw, err := json.Marshal(append([]Finding{}, found...))
	if err != nil {
		return err
	}
	return s.Records.InUser(ctx, q.Owner, func(ctx context.Context, tx db.UserTx) error {
		return tx.KeepProfile(ctx, db.FilledProfile{
			AgentID: q.AgentID, Basis: q.basis, Fields: raw, FilledAt: memory.Instant(s.Now()),
		})
	})
}

// parse reads an answer about statements that were numbered from 1. A bad value is left out, and the others are read.
// KindBadAnswer: there is no list of values, or no item of it names a field and a statement.
func (q question) parse(answer *llm.Answer) ([]Finding, error) {
	var reply struct {
		Values llm.Items[struct {
			Field     string `json:"field"`
			Value     any    `json:"value"`
			Statement int    `json:"statement"`
			Quote     string `json:"quote"`
		}] `json:"values"`
	}
	if err := answer.Decode(&reply); err != nil {
		return nil, err
	}
	if reply.Values == nil {
		return nil, llm.BadAnswer("the answer has no values field")
	}
	found, answers := []Finding{}, 0
	for i, item := range reply.Values {
		v := item.Value
		property, known := q.open[v.Field]
		switch {
		case item.Err != nil:
			answer.Salvage("values[%d] %v", i, item.Err)
			continue
		case !known:
			answer.Salvage("values[%d] is of the unknown field %.80q", i, v.Field)
			continue
		case v.Statement < 1 || v.Statement > len(q.statements):
			answer.Salvage("values[%d] names the statement %d of %d", i, v.Statement, len(q.statements))
			continue
		}
		answers++
		m := q.statements[v.Statement-1].Memory
		for _, value := range textsOf(v.Value, property.Type == "array") {
			f := Finding{Field: v.Field, Value: value, ID: m.ID, Quote: v.Quote}
			if _, _, why := property.read(f, m); why != "" {
				answer.Salvage("values[%d] %s", i, why)
			} else if !slices.Contains(found, f) {
				found = append(found, f)
			}
		}
	}
	if answers == 0 && len(reply.Values) > 0 {
		return nil, llm.BadAnswer("%s", strings.Join(answer.Salvaged, "; "))
	}
	return found, nil
}

// textsOf returns a value, or the items of a list, as texts. What is unknown is no value.
func textsOf(v any, isList bool) (texts []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case bool:
		return []string{strconv.FormatBool(v)}
	case float64:
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}
	case []any:
		for i := 0; isList && i < len(v); i++ {
			texts = append(texts, textsOf(v[i], false)...)
		}
	}
	return texts
}

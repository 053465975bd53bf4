package quality

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"hippocampus/cmd/bench/target"
)

// longRunes is the greatest number of characters of a long message.
const longRunes = 3000

// LongKinds are the ways to make long messages of the turns of a conversation:
//
//	pasted     the turns of a session are joined into messages of the user
//	answers    they are joined into answers of the assistant
//	among      each turn is a message of the user, and has an answer made of turns of the next conversation
var LongKinds = []string{"pasted", "answers", "among"}

// Long reports how much of conversations with long messages contexts hold.
type Long struct {
	Conversations []string `json:"conversations"`
	Rows          []Held   `json:"rows"` // Written is the kind
}

// MeasureLong reports conversations as long messages to a new server for each kind, and requests contexts for their
// questions with default settings. A context holds a turn if it has the beginning of the turn's text.
func MeasureLong(ctx context.Context, o Options) (report Long, err error) {
	conversations, err := load(o.Paths)
	if err != nil {
		return report, err
	}
	for _, c := range conversations {
		report.Conversations = append(report.Conversations, c.user())
	}
	for _, kind := range LongKinds {
		rows, err := contextsOf(ctx, o, conversations, way{
			name: kind,
			write: func(ctx context.Context, client target.Client) error {
				return reportLong(ctx, o, client, conversations, kind)
			},
			needed: conversation.asked,
			held: func(c conversation, a assembled) (turns []string) {
				for _, t := range c.Turns {
					if strings.Contains(a.Text, beginning(t.Text)) {
						turns = append(turns, t.ID)
					}
				}
				return turns
			},
		})
		if err != nil {
			return report, fmt.Errorf("%s: %w", kind, err)
		}
		report.Rows = append(report.Rows, rows...)
	}
	return report, nil
}

// beginning returns the first characters of a text, which are in one line of a context.
func beginning(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	runes := []rune(line)
	return strings.TrimSpace(string(runes[:min(40, len(runes))]))
}

// longMessage is a message of a long turn.
type longMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// longTurn is a turn with long messages.
type longTurn struct {
	session  string
	at       time.Time
	messages []longMessage
}

func reportLong(ctx context.Context, o Options, client target.Client, conversations []conversation, kind string) error {
	for i, c := range conversations {
		var turns []longTurn
		switch kind {
		case "pasted":
			turns = joined(c, "user")
		case "answers":
			turns = joined(c, "assistant")
		default:
			turns = answered(c, conversations[(i+1)%len(conversations)])
		}
		fmt.Fprintf(o.Progress, "reporting %s, %s: %d turns\n", c.user(), kind, len(turns))
		for _, t := range turns {
			err := client.Call(ctx, "POST", "/v1/turns", map[string]any{
				"user_id": c.user(), "conversation_id": t.session, "at": t.at.Format(time.RFC3339Nano), "wait": true,
				"messages": t.messages,
			}, nil)
			if err != nil {
				return err
			}
		}
	}
	return client.Settle(ctx)
}

// joined joins the turns of a session to messages of at most longRunes characters.
func joined(c conversation, role string) (turns []longTurn) {
	size := 0
	for _, t := range c.Turns {
		line := t.Speaker + ": " + t.Text + "\n"
		n := utf8.RuneCountInString(line)
		if len(turns) == 0 || turns[len(turns)-1].session != t.Session || size+n > longRunes {
			turns = append(turns, longTurn{session: t.Session, messages: []longMessage{{Role: role}}})
			size = 0
		}
		last := &turns[len(turns)-1]
		last.messages[0].Content += line
		last.at = t.At
		size += n
	}
	return turns
}

// answered returns each turn of a conversation with an answer of at most longRunes characters from the other one.
func answered(c, other conversation) (turns []longTurn) {
	answers := joined(other, "assistant")
	for i, t := range c.Turns {
		turns = append(turns, longTurn{
			session: t.Session, at: t.At,
			messages: []longMessage{
				{Role: "user", Content: t.Speaker + ": " + t.Text}, answers[i%len(answers)].messages[0],
			},
		})
	}
	return turns
}

// Print writes the report as a table for people.
func (l Long) Print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "long messages\tbudget, tokens\tquestions\tevidence\twhole\tused\tmemories\n")
	for _, row := range l.Rows {
		fmt.Fprintf(w, "%s\t%d\t%d\t%.3f\t%.3f\t%.0f\t%.1f\n", row.Written, row.Budget, row.Questions, row.Evidence,
			row.Whole, row.Used, row.Memories)
	}
	return w.Flush()
}

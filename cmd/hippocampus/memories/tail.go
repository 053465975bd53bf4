package memories

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/remote"
	"hippocampus/cmd/hippocampus/terminal"
)

// The waits before the stream is opened again.
const (
	firstWait   = 500 * time.Millisecond
	longestWait = 30 * time.Second
)

func (p program) tail() *cobra.Command {
	t := tail{}
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Follow what happens, until interrupted",
		Long: `Follow what happens to the memories of all users of the key's app, or of --user alone, until interrupted.

If the connection is cut, it goes on after the last event. --after goes on after an event of an earlier run.`,
		Example: `  hippocampus tail --after 0 --count 1
  hippocampus tail --after 0 --count 1 --kind memory.written --json`,
		Annotations: map[string]string{Routes: "GET /v1/events"},
		Args:        cobra.NoArgs,
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&t.kinds, "kind", nil, "only events of this `kind`; repeatable")
	flags.StringVar(&t.after, "after", "", "begin after the event with this `id` (default now); 0: with the oldest")
	flags.IntVar(&t.count, "count", 0, "end after this `number` of events (default: never)")
	complete(cmd, "kind", fixed(
		"memory.written", "memory.forgotten", "reflection.created", "conversation.ended", "turn.failed"))
	return p.command(cmd, options{user: true}, func(a *action, _ []string) error {
		t.action = a
		if a.cmd.Flags().Changed("user") {
			t.user = a.User
		}
		return t.follow(a.cmd.Context())
	})
}

// tail follows the events of a server.
type tail struct {
	*action
	kinds       []string
	user, after string
	count       int // events left to print; 0 at the beginning: no bound
}

var errEnough = errors.New("enough events")

// follow prints events until ctx is done. It also ends at a refusal that a repeated request would get again, and if the
// first connection fails.
func (t *tail) follow(ctx context.Context) error {
	wait, connected := firstWait, false
	for {
		opened, err := t.stream(ctx)
		var refusal *remote.Refusal
		switch {
		case errors.Is(err, errEnough), ctx.Err() != nil:
			return nil
		case errors.As(err, &refusal) && refusal.Status < http.StatusInternalServerError &&
			refusal.Status != http.StatusTooManyRequests, !opened && !connected:
			return err
		}
		connected = true
		if opened {
			wait = firstWait
			t.note("the connection was cut; it is opened again")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
		wait = min(2*wait, longestWait)
	}
}

// stream prints the events of one connection.
func (t *tail) stream(ctx context.Context) (opened bool, err error) {
	query := url.Values{"kind": t.kinds}
	if t.user != "" {
		query.Set("user_id", t.user)
	}
	header := http.Header{"Accept": {"text/event-stream"}}
	if t.after != "" {
		header.Set("Last-Event-ID", t.after)
	}
	response, err := t.Ask(ctx, http.MethodGet, "/v1/events?"+query.Encode(), header, nil)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return false, t.Refusal(response)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	var id, kind, data string
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "id":
			id = value
		case "event":
			kind = value
		case "data":
			data = value
		case "": // the end of an event; a comment has a value
			if value != "" {
				continue
			}
			if err := t.event(kind, data); err != nil {
				return true, err
			}
			if id != "" {
				t.after = id
			}
			kind, data = "", ""
		}
	}
	return true, lines.Err()
}

// event prints one event.
func (t *tail) event(kind, data string) error {
	switch {
	case data == "":
		return nil
	case kind == "reset":
		t.note("events may be missing: the stream goes on with the oldest event that is kept")
		return nil
	case t.json:
		t.Printf("%s\n", data)
	default:
		var e announcement
		if err := t.decode(json.RawMessage(data), &e); err != nil {
			return err
		}
		t.printEvent(e)
	}
	t.count--
	if t.count == 0 {
		return errEnough
	}
	return nil
}

type announcement struct {
	ID     string
	Kind   string
	At     time.Time
	UserID string `json:"user_id"`
	Data   struct {
		MemoryID       string `json:"memory_id"`
		Change, Cause  string
		Content        string
		ConversationID string `json:"conversation_id"`
		TurnID         string `json:"turn_id"`
		Reason, Error  string
	}
}

func (t *tail) printEvent(e announcement) {
	style := terminal.Green
	if e.Kind == "memory.forgotten" || e.Kind == "turn.failed" {
		style = terminal.Yellow
	}
	what := orElse(e.Data.Change, e.Kind)
	words := []string{terminal.Line(e.UserID), t.id(e.Data.MemoryID)}
	for _, text := range []string{e.Data.TurnID, e.Data.ConversationID, e.Data.Reason, e.Data.Error, e.Data.Content} {
		if text != "" && (text != e.Data.ConversationID || e.Data.MemoryID == "") {
			words = append(words, terminal.Line(text))
		}
	}
	when := e.At.Local().Format("2006-01-02 15:04:05")
	line := strings.Join(strings.Fields(strings.Join(words, " ")), " ")
	if t.Width > 0 {
		line = terminal.Truncate(line, max(20, t.Width-len(when)-len(what)-4))
	}
	t.Printf("%s  %s  %s\n", t.Paint(terminal.Faint, when), t.Paint(style, what), line)
}

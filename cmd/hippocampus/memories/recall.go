package memories

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hippocampus/cmd/hippocampus/terminal"
	"hippocampus/internal/wire"
)

// Recalled is a memory with the parts of its score.
type Recalled struct {
	wire.Memory
	SaidTimes   int       `json:"said_times"`
	Recollected bool      `json:"recollected"`
	LastSaidAt  time.Time `json:"last_said_at"`

	Similarity float64  `json:"similarity"`
	Lexical    float64  `json:"lexical"`
	Neighbour  float64  `json:"neighbour"`
	Speaker    float64  `json:"speaker"`
	Date       float64  `json:"date"`
	When       float64  `json:"when"`
	ToDo       float64  `json:"to_do"`
	Routed     float64  `json:"routed"`
	Question   float64  `json:"question"`
	Message    float64  `json:"message"`
	Skill      float64  `json:"skill"`
	Rerank     float64  `json:"rerank"`
	Relevance  float64  `json:"relevance"`
	Confidence float64  `json:"confidence"`
	Decay      float64  `json:"decay"`
	Updates    string   `json:"updates"`
	Update     float64  `json:"update"`
	Score      float64  `json:"score"`
	Sources    []string `json:"sources"`
}

// Answer is the answer of a recall.
type Answer struct {
	Memories []Recalled `json:"memories"`
	Route    struct {
		Domains []string `json:"domains"`
		Source  string   `json:"source"`
		Reason  string   `json:"reason"`
		Skipped bool     `json:"skipped"`
	} `json:"route"`
	Fit *struct {
		Closeness    float64 `json:"closeness"`
		Coverage     float64 `json:"coverage"`
		UnknownNames float64 `json:"unknown_names"`
		Memories     int     `json:"memories"`
	} `json:"fit"`
	Asked    []string `json:"asked"`
	Degraded []string `json:"degraded"`
	When     []struct {
		From  time.Time `json:"from"`
		Until time.Time `json:"until"`
		Words string    `json:"words"`
	} `json:"when"`
	TookMS float64 `json:"took_ms"`
}

func (p program) recall() *cobra.Command {
	why := false
	cmd := &cobra.Command{
		Use:   "recall QUERY...",
		Short: "Find the memories that a query should remind of",
		Long: `Find the memories that a query should remind of, best first, with the parts of each score.

A recall counts as an access of what it returns, which keeps it fresh; --touch=false only looks.`,
		Example: `  hippocampus recall "Where does Ada live?" --user ada
  hippocampus recall "Where does Ada live?" --user ada --why --limit 1
  hippocampus recall allergies --user ada --json --touch=false`,
		Annotations: map[string]string{Routes: "POST /v1/recall"},
		Args:        some("there is no query: give what the user asks"),
	}
	flags := cmd.Flags()
	flags.BoolVar(&why, "why", false, "print every part of each score, the route and the fit")
	flags.Int("limit", 0, "the most memories, 1 to 100 (default 10)")
	flags.Float64("min-confidence", 0, "only memories of at least this confidence, 0 to 1")
	flags.Bool("touch", true, "count as an access of what is returned")
	recallFlags(cmd)
	return p.command(cmd, options{user: true}, func(a *action, args []string) error {
		body, err := a.query(args)
		if err != nil {
			return err
		}
		a.changed(body, map[string]string{"limit": "limit", "min-confidence": "min_confidence", "touch": "touch"})
		var answer Answer
		if err := a.call("POST", "/v1/recall", body, &answer); err != nil || a.json {
			return err
		}
		PrintAnswer(a.Screen, answer, why)
		a.warnOfDegraded(answer.Degraded)
		return nil
	})
}

// recallFlags adds the flags that recall and context have in common.
func recallFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArray("type", nil, "only this `type`; repeatable")
	flags.StringArray("domain", nil, "search this `domain` without routing; repeatable")
	flags.StringArray("include", nil, "messages or facts (default both)")
	flags.StringArray("tag", nil, "only memories with this `tag`; repeatable")
	flags.String("agent", "", "also the memories of this `agent`")
	flags.String("conversation", "", "the `conversation` that the query belongs to")
	flags.Var(new(jsonValue), "filter", "only memories that this filter chooses, in `JSON`")
	timeFlag(cmd, "since", "only memories created at this `time` or later")
	timeFlag(cmd, "until", "only memories created before this `time`")
	timeFlag(cmd, "at", "the `time` of the query (default now)")
	completeNames(cmd)
	complete(cmd, "include", fixed("messages", "facts"))
}

// query returns the request of a recall or context.
func (a *action) query(words []string) (map[string]any, error) {
	user, err := a.NeedUser()
	if err != nil {
		return nil, err
	}
	body := map[string]any{"user_id": user}
	if len(words) > 0 {
		body["query"] = strings.Join(words, " ")
	}
	a.changed(body, map[string]string{
		"type": "types", "domain": "domains", "include": "include", "tag": "tags", "agent": "agent_id",
		"conversation": "conversation_id", "since": "since", "until": "until", "at": "at",
	})
	a.changedJSON(body, "filter")
	return body, nil
}

func (a *action) warnOfDegraded(parts []string) {
	if len(parts) > 0 {
		a.note("The answer comes without %s, which is unavailable or late.", strings.Join(parts, " and "))
	}
}

// PrintAnswer prints recalled memories; why prints all parts of their scores.
func PrintAnswer(s terminal.Screen, answer Answer, why bool) {
	id := shownID(s)
	for i, m := range answer.Memories {
		number := fmt.Sprintf("%2d  ", i+1)
		for n, line := range terminal.Wrap(terminal.Text(m.Content), max(0, s.Width-4)) {
			if n > 0 {
				number = "    "
			}
			s.Printf("%s%s\n", number, s.Paint(terminal.Bold, line))
		}
		s.Printf("    %s %.2f  relevance %.2f  decay %.2f  importance %.2f  confidence %.2f\n",
			s.Paint(terminal.Green, terminal.Bar(m.Score, 8)), m.Score, m.Relevance, m.Decay, m.Importance, m.Confidence)
		kind := string(m.Type)
		if m.Memory.Speaker != "" {
			kind += " of " + terminal.Line(m.Memory.Speaker)
		}
		if m.Asked != "" {
			kind += fmt.Sprintf(", asked %q", terminal.Truncate(terminal.Line(m.Asked), 60))
		}
		if m.Recollected {
			kind += ", recollected"
		}
		if m.SaidTimes > 1 {
			kind += fmt.Sprintf(", said %d times, last %s", m.SaidTimes, s.When(m.LastSaidAt))
		}
		s.Printf("    %s\n", s.Paint(terminal.Faint, fmt.Sprintf("%s, %s, %s", kind, s.When(m.CreatedAt), id(m.ID))))
		if why {
			printParts(s, m)
		}
	}
	switch {
	case answer.Route.Skipped:
		s.Printf("Nothing was searched: %s\n", orElse(terminal.Line(answer.Route.Reason), "the query is small talk."))
	case len(answer.Memories) == 0:
		s.Printf("No memory fits the query.\n")
	}
	for _, w := range answer.When {
		s.Printf("%s\n", s.Paint(terminal.Faint, fmt.Sprintf("%q is understood as %s until %s", terminal.Line(w.Words),
			w.From.Format(whenFormat), w.Until.Format(whenFormat))))
	}
	if why {
		printRoute(s, answer)
	}
}

// whenFormat writes an instant in the zone of the query.
const whenFormat = "2006-01-02 15:04 -07:00"

// printParts prints the parts of a score, as openapi.yaml describes them.
func printParts(s terminal.Screen, m Recalled) {
	parts := []struct {
		name    string
		value   float64
		meaning string
	}{
		{"similarity", m.Similarity, "raw cosine to the query"},
		{"lexical", m.Lexical, "raw BM25 to the query"},
		{"neighbour", m.Neighbour, "added by a neighbour in its conversation"},
		{"speaker", m.Speaker, "added since the query has the speaker's name"},
		{"date", m.Date, "added since the query names its time"},
		{"when", m.When, "added since it has a time and the query asks when"},
		{"to_do", m.ToDo, "added since it is still to be done and the query asks for that"},
		{"routed", m.Routed, "added since its domain is in the route"},
		{"question", m.Question, "share of its text that asks, which lowers it"},
		{"message", m.Message, "added by the message it was taken from"},
		{"skill", m.Skill, "added by the best workflow of its skill"},
		{"rerank", m.Rerank, "given by the reranking model"},
		{"relevance", m.Relevance, "all of these, relative to the best candidate"},
		{"decay", m.Decay, "freshness; 1 just after an access"},
		{"importance", m.Importance, "how much it matters"},
		{"update", m.Update, "added to come before an earlier memory that it seems to update"},
		{"score", m.Score, "relevance, decay and importance combined, and the update"},
		{"confidence", m.Confidence, "how sure it is that it fits the query at all"},
	}
	for _, part := range parts {
		style := terminal.Plain
		if part.value == 0 {
			style = terminal.Faint
		}
		s.Printf("      %s\n", s.Paint(style, fmt.Sprintf("%-10s %6.3f  %s", part.name, part.value, part.meaning)))
	}
	s.Printf("      found by    %s\n", strings.Join(m.Sources, ", "))
}

func printRoute(s terminal.Screen, answer Answer) {
	domains := orElse(strings.Join(answer.Route.Domains, ", "), "all domains alike")
	s.Printf("\nroute  %s (%s)\n", domains, terminal.Line(answer.Route.Source))
	for _, part := range answer.Asked {
		s.Printf("asked  %s\n", terminal.Line(part))
	}
	if f := answer.Fit; f != nil {
		s.Printf("fit    closeness %.2f, coverage %.2f, unknown names %.2f, %d active memories\n",
			f.Closeness, f.Coverage, f.UnknownNames, f.Memories)
	}
	s.Printf("took   %.1f ms\n", answer.TookMS)
}

// orElse returns text, or another if it is empty.
func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

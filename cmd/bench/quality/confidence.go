package quality

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"hippocampus/cmd/bench/target"
)

// Sizes are those of the measured users: numbers of consecutive turns of a conversation; 0: all turns.
var Sizes = []int{0, 100, 20, 5}

// piecesPerSize is how many pieces of each size are cut from a conversation.
// foreignPerPiece is about how many questions of other conversations are asked about each
// piece.
const (
	piecesPerSize   = 6
	foreignPerPiece = 20
)

// FittedOn are the conversations on whose users the coefficients of confidence were
// fitted. The other conversations are held out.
var FittedOn = []string{"conv-26", "chenbo", "guomin", "linxi"}

// Form is how a question names the speakers of its conversation.
type Form string

// The forms. Renamed questions are asked about other users only, by the names of the
// speakers of their conversations, so that nothing but the subject shows that they are
// foreign.
const (
	AsAsked     Form = "as asked"
	FirstPerson Form = "first person"
	Renamed     Form = "renamed"
)

// Forms of every measurement.
var Forms = []Form{AsAsked, FirstPerson, Renamed}

// Doubt is a question with the confidences of the recalled memories.
type Doubt struct {
	Conversation string    `json:"conversation"` // whose user was asked about
	Language     string    `json:"lang"`
	Size         int       `json:"size"` // one of Sizes
	Form         Form      `json:"form"`
	Own          bool      `json:"own"`                // the question is of that conversation, and has its evidence there
	Best         float64   `json:"best"`               // highest confidence among the first ten, 0..1
	Evidence     []float64 `json:"evidence,omitempty"` // confidences of the evidence among the first ten
	Fit          Signals   `json:"fit"`
}

// Signals are the values from which the confidences of an answer are computed; see recall.Fit.
type Signals struct {
	Closeness    float64 `json:"closeness"`
	Coverage     float64 `json:"coverage"`
	UnknownNames float64 `json:"unknown_names"`
	Memories     int     `json:"memories"`
}

// inForm returns a question in a form. from is the conversation of the question, and about
// is the conversation of the user about whom it is asked. ok is false if the form does not
// change the question.
func (q question) inForm(form Form, from, about conversation) (text string, ok bool) {
	text = q.Text
	others := about.speakers()
	for i, name := range from.speakers() {
		replace := func(old, by string) { text = strings.ReplaceAll(text, old, by) }
		given := givenName(name)
		switch {
		case form == FirstPerson && from.Lang == "zh":
			replace(name, "我")
			replace(given, "我")
		case form == FirstPerson:
			replace(name+"'s", "my")
			replace(name, "I")
		case form == Renamed:
			other := others[i%len(others)]
			replace(name, other)
			replace(given, givenName(other))
		}
	}
	return text, form == AsAsked || text != q.Text
}

// speakers returns the names of a conversation, in the order of their first turns.
func (c conversation) speakers() (names []string) {
	for _, t := range c.Turns {
		if !slices.Contains(names, t.Speaker) {
			names = append(names, t.Speaker)
		}
	}
	return names
}

// givenName returns the given name of a Chinese name of three characters, otherwise the
// name itself.
func givenName(name string) string {
	if runes := []rune(name); len(runes) == 3 && runes[0] > 0x2e80 {
		return string(runes[1:])
	}
	return name
}

// piece is a user of the measured server.
type piece struct {
	conversation     // with some of its turns
	whole        int // index of the conversation
	size         int
}

// pieces cuts conversations into users of each size.
func pieces(conversations []conversation) (list []piece) {
	for i, c := range conversations {
		for _, size := range Sizes {
			if size == 0 {
				list = append(list, piece{c, i, size})
				continue
			}
			step := max(size, len(c.Turns)/piecesPerSize)
			for start := 0; start+size <= len(c.Turns); start += step {
				p := piece{c, i, size}
				p.Turns = c.Turns[start : start+size]
				p.ID = fmt.Sprintf("%s/%d-%d", c.ID, start, start+size)
				list = append(list, p)
			}
		}
	}
	return list
}

// has reports whether some of the evidence of a question is among the turns of a piece.
func (p piece) has(q question) bool {
	return slices.ContainsFunc(p.Turns, func(t turn) bool { return slices.Contains(q.Evidence, t.ID) })
}

// doubts writes pieces of conversations as users of a new server, or reports them turn by turn if o.Turns is set. It
// asks about each piece, without options, the questions of its own conversation and of other conversations in the same
// language.
func doubts(ctx context.Context, o Options, conversations []conversation) (list []Doubt, err error) {
	server, err := target.Start(ctx, target.Options{Size: o.Size, Settings: o.Settings})
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, server.Close()) }()
	users := pieces(conversations)
	written := make([]conversation, len(users))
	for i, p := range users {
		written[i] = p.conversation
	}
	write := writeMemories
	if o.Turns {
		write = reportTurns
	}
	turns, err := write(ctx, o, server.Client, written) // by the ids of memories or of the server's turns
	if err != nil {
		return nil, err
	}
	for _, p := range users {
		fmt.Fprintf(o.Progress, "asking about %s\n", p.user())
		for i, c := range conversations {
			if c.Lang != p.Lang {
				continue
			}
			found, err := doubtsOf(ctx, server.Client, p, i, c, turns)
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
		}
	}
	return list, nil
}

// doubtsOf asks the questions of a conversation about a piece.
func doubtsOf(
	ctx context.Context, client target.Client, p piece, place int, c conversation, turns map[string]string,
) ([]Doubt, error) {
	random := rand.New(rand.NewPCG(uint64(place), uint64(len(p.ID))))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2)
	var list []*Doubt
	own := place == p.whole
	for _, q := range c.Questions {
		if !q.Clean || own && (q.Category == adversarial || !p.has(q)) ||
			!own && p.size > 0 && random.IntN(len(c.Questions)) >= foreignPerPiece {
			continue
		}
		for _, form := range Forms {
			text, changed := q.inForm(form, c, p.conversation)
			if own && form == Renamed || !own && !changed {
				continue
			}
			d := &Doubt{Conversation: strings.Split(p.ID, "/")[0], Language: p.Lang, Size: p.size, Form: form, Own: own}
			list = append(list, d)
			group.Go(func() error { return d.ask(ctx, client, p, text, q.Evidence, turns) })
		}
	}
	err := group.Wait()
	asked := make([]Doubt, len(list))
	for i, d := range list {
		asked[i] = *d
	}
	return asked, err
}

// ask asks a question and fills in the confidences.
func (d *Doubt) ask(
	ctx context.Context, client target.Client, p piece, text string, evidence []string, turns map[string]string,
) error {
	var answer struct {
		Memories []struct {
			ID           string  `json:"id"`
			SourceTurnID string  `json:"source_turn_id"`
			Confidence   float64 `json:"confidence"`
		} `json:"memories"`
		Fit Signals `json:"fit"`
	}
	err := client.Call(ctx, "POST", "/v1/recall", map[string]any{
		"user_id": p.user(), "query": text, "at": p.End.Add(7 * 24 * time.Hour).Format(time.RFC3339Nano), "touch": false,
	}, &answer)
	if err != nil {
		return fmt.Errorf("%s about %s: %w", text, p.user(), err)
	}
	d.Fit = answer.Fit
	for _, m := range answer.Memories {
		d.Best = max(d.Best, m.Confidence)
		if d.Own && slices.Contains(evidence, turns[cmp.Or(m.SourceTurnID, m.ID)]) {
			d.Evidence = append(d.Evidence, m.Confidence)
		}
	}
	return nil
}

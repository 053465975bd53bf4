package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"hippocampus/assembly"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/recall"
	"hippocampus/server/frame"
)

// ContextConfidence is the confidence from which a context has a memory, unless the request or what an app has learned
// says another; see docs/decisions/0023-confidence.md.
const ContextConfidence = 0.15

const (
	defaultContext = 1000    // tokens
	countsCached   = 8 << 20 // bytes of token counts that contexts share
	asMessages     = "messages"
	unset          = -1 // the least confidence, which no request has
)

type contextHandlers struct {
	RecallParts
	slots    *frame.Slots
	now      func() time.Time
	contexts assembly.Service
}

func (h contextHandlers) register(r *frame.Routes) {
	r.Add("POST /v1/context", memory.RoleRead, h.slots.Bound(frame.WithBody(h.post)))
}

type contextRequest struct {
	recallRequest
	Model       string     `json:"model"`
	MaxChars    *int       `json:"max_chars"`
	MaxTokens   *int       `json:"max_tokens"`
	Budget      budgetBody `json:"budget"`
	Language    string     `json:"language"`
	Format      string     `json:"format"`
	Condense    *bool      `json:"condense"`
	Present     []string   `json:"present"`
	Working     *bool      `json:"working_memory"`
	Preferences *bool      `json:"preferences"`
	Episode     string     `json:"episode"`
}

// budgetBody is either the name of a preset or shares.
type budgetBody struct {
	preset string
	shares struct {
		Instructions float64 `json:"instructions"`
		Facts        float64 `json:"facts"`
		Memories     float64 `json:"memories"`
		Conversation float64 `json:"conversation"`
		Response     float64 `json:"response"`
	}
}

// UnmarshalJSON reads a string as a preset and an object as shares.
func (b *budgetBody) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, &b.preset)
	}
	return json.Unmarshal(raw, &b.shares)
}

// budget is how the request divides its room; openapi.yaml admits only known presets.
func (b contextRequest) budget() assembly.Budget {
	budget, _ := assembly.Preset(b.Budget.preset)
	shares := b.Budget.shares
	if shares.Response > 0 {
		budget.Response = shares.Response
	}
	if shares.Instructions+shares.Facts+shares.Memories+shares.Conversation > 0 {
		budget.Shares = assembly.Shares{
			assembly.Instructions: shares.Instructions, assembly.Facts: shares.Facts,
			assembly.Memories: shares.Memories, assembly.Conversation: shares.Conversation,
		}
	}
	return budget
}

// room is the size of the context that the request asks for.
func (b contextRequest) room(response float64, c *frame.Checks) assembly.Room {
	c.Note("model", memory.CheckID(b.Model, true))
	switch {
	case b.MaxChars != nil && b.MaxTokens != nil:
		c.Note("max_tokens", "is given with max_chars: give one of them")
	case b.MaxChars != nil && b.Model != "":
		c.Note("model", "is given with max_chars: give one of them, or max_tokens")
	case b.Model != "":
		return assembly.ModelRoom(b.Model, frame.OrDefault(b.MaxTokens, 0), response)
	case b.MaxTokens != nil:
		return assembly.Tokens(*b.MaxTokens, response)
	case b.MaxChars != nil:
		return assembly.Characters(*b.MaxChars, response)
	}
	return assembly.Tokens(defaultContext, response)
}

type contextBody struct {
	Text         string             `json:"text"`
	Messages     []assembly.Message `json:"messages,omitzero"`
	Query        string             `json:"query,omitempty"`
	Size         sizeBody           `json:"size"`
	Parts        []partBody         `json:"parts"`
	LeftOut      []leftOutBody      `json:"left_out"`
	Profile      bool               `json:"profile"`
	Condensed    bool               `json:"condensed"`
	NotCondensed string             `json:"not_condensed,omitempty"` // why not condensed, if the request asked for it
	Preferences  []preferenceBody   `json:"preferences"`
	Dropped      []string           `json:"dropped"`
	Episode      *titledEpisode     `json:"episode,omitempty"`    // that was opened
	NoEpisode    string             `json:"no_episode,omitempty"` // why no episode was opened

	MinConfidence thresholdUsed `json:"min_confidence"`
	recallBody
}

type preferenceBody struct {
	ID      string `json:"id"`
	Content string `json:"content"`
}

type sizeBody struct {
	Unit      string        `json:"unit"`
	Window    int           `json:"window"`
	Response  int           `json:"response"`
	Budget    int           `json:"budget"`
	Used      int           `json:"used"`
	Model     string        `json:"model,omitempty"`
	Encoding  text.Encoding `json:"encoding,omitempty"`
	Estimated bool          `json:"estimated"`
	Note      string        `json:"note,omitempty"`
}

// sizeOf describes a room and how much of it is used.
func sizeOf(r assembly.Room, used int) sizeBody {
	size := sizeBody{
		Unit: "tokens", Window: r.Window, Response: r.Response, Budget: r.Budget(), Used: used,
		Model: r.Model, Encoding: r.Counter.Encoding, Estimated: r.Estimated,
	}
	if size.Encoding == "" {
		size.Unit = "characters"
	}
	if r.Estimated {
		size.Note = fmt.Sprintf("this model's own tokens are not known: %g for each of %s",
			r.Counter.Scale, r.Counter.Encoding)
	}
	if r.Model != "" && !r.Known {
		size.Note = "this model is not known and is taken for a small one: give max_tokens; " + size.Note
	}
	return size
}

type partBody struct {
	Part   assembly.Part `json:"part"`
	Budget int           `json:"budget"`
	Used   int           `json:"used"`
	Items  int           `json:"items"`
}

type leftOutBody struct {
	Part   assembly.Part `json:"part"`
	ID     string        `json:"id"`
	Reason string        `json:"reason"`
}

func (h contextHandlers) post(ctx context.Context, r *frame.Request, body contextRequest) (any, error) {
	ask := h.request(r, body)
	if err := cmp.Or(body.checkScope(r), r.Err()); err != nil {
		return nil, err
	}
	group, err := h.group(ctx, r, body.recallRequest, &ask.Query)
	if err != nil {
		return nil, err
	}
	var opened *titledEpisode
	if body.Episode != "" {
		if opened, err = h.open(ctx, &ask, body.Episode); err != nil {
			return nil, err
		}
	}
	made, err := h.make(ctx, ask)
	made.Group, made.Episode = group, opened
	if body.Episode != "" && opened == nil {
		made.NoEpisode = "no episode of the user clearly answers these words best"
	}
	return made, err
}

// request converts a request and notes what is wrong with it.
func (h contextHandlers) request(r *frame.Request, body contextRequest) assembly.Request {
	if body.Query != "" {
		r.Note("query", memory.CheckContent(body.Query, memory.MaxQueryRunes))
	}
	budget := body.budget()
	room := body.room(budget.Response, &r.Checks)
	ask := assembly.Request{
		Query:          recallQuery(r, body.recallRequest, max(h.Limit, room.Memories())),
		ConversationID: body.ConversationID, Room: room, Shares: budget.Shares, Language: body.Language,
		Messages: body.Format == asMessages, Present: body.Present,
		WithoutWorking: !frame.OrDefault(body.Working, true), Preferences: frame.OrDefault(body.Preferences, true),
	}
	if body.Episode != "" {
		r.Note("episode", memory.CheckContent(body.Episode, memory.MaxContentRunes))
	}
	if body.Episode != "" && (body.Group || body.Scope == scopeApp) {
		r.Note("episode", "is given with group or with the scope app: an episode is of one user")
	}
	ask.Query.MinConfidence = frame.OrDefault(body.MinConfidence, unset)
	ask.Query.ConversationID = "" // it names the present conversation, and is no filter of memories
	if frame.OrDefault(body.Condense, true) {
		ask.Condense = frame.OrDefault(body.Limit, h.Limit)
	}
	return ask
}

// make makes a context and counts the accesses of its memories.
func (h contextHandlers) make(ctx context.Context, ask assembly.Request) (contextBody, error) {
	start := h.now()
	chosen, err := h.Modes.Of(ctx, ask.Query.Owner, ask.ConversationID)
	if err != nil {
		return contextBody{}, err
	}
	ask.Query.Memory = memory.Strictest(ask.Query.Memory, chosen)
	least := thresholdUsed{Value: ask.Query.MinConfidence, Source: ofRequest}
	if least.Value == unset {
		t, err := h.Confidence(ctx, ask.Query.Owner.AppID)
		if err != nil {
			return contextBody{}, err
		}
		least = thresholdUsed{Value: t.Value, Source: sourceOf(t), LearnedAt: t.Learned}
		ask.Query.MinConfidence = t.Value
	}
	made, err := h.contexts.Make(ctx, ask)
	if err != nil {
		return contextBody{}, err
	}
	recalled := made.Recalled
	recalled.Memories = made.Kept
	if !ask.Query.NoTouch && !made.Profile { // count no access of memories that were left out or not asked for
		recalled.Memories = h.Recaller.Recollect(ctx, ask.Query.Owner, recalled.Memories)
		h.Recaller.Touch(ask.Query.Owner, recall.OwnIDs(recalled.Memories), recalled.At)
	}
	return contextBody{
		Text: made.Text, Messages: made.Messages, Query: made.Query, Size: sizeOf(ask.Room, made.Size),
		Parts:   frame.BodiesOf(made.Parts, func(p assembly.Spent) partBody { return partBody(p) }),
		LeftOut: frame.BodiesOf(made.LeftOut, func(l assembly.LeftOut) leftOutBody { return leftOutBody(l) }),
		Profile: made.Profile, Condensed: made.Condensed, NotCondensed: made.NotCondensed,
		Preferences: frame.BodiesOf(made.Preferences, func(m memory.Memory) preferenceBody {
			return preferenceBody{m.ID, m.Content}
		}),
		Dropped: frame.NotNil(made.Dropped), MinConfidence: least,
		recallBody: recallBodyOf(ask.Query.ID, recalled, h.now().Sub(start)),
	}, nil
}

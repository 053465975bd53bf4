package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"hippocampus/assembly"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
	"hippocampus/recall"
)

const (
	defaultContext = 500     // characters
	keptCounts     = 8 << 20 // bytes of token counts that contexts share
)

type contextRequest struct {
	recallRequest
	Model     string     `json:"model"`
	MaxChars  *int       `json:"max_chars"`
	MaxTokens *int       `json:"max_tokens"`
	Budget    budgetBody `json:"budget"`
	Language  string     `json:"language"`
	Format    string     `json:"format"`
	Condense  *bool      `json:"condense"`
}

const asMessages = "messages" // a format

// budgetBody is the name of a preset, or shares.
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

// UnmarshalJSON reads either.
func (b *budgetBody) UnmarshalJSON(raw []byte) error {
	if raw[0] == '"' {
		return json.Unmarshal(raw, &b.preset)
	}
	return json.Unmarshal(raw, &b.shares)
}

// budget is how the request divides its room; openapi.yaml knows the presets.
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

// room is what the request leaves for the context.
func (b contextRequest) room(response float64, c *checks) assembly.Room {
	if b.Model != "" {
		c.note("model", memory.CheckID(b.Model, false))
	}
	switch {
	case b.MaxChars != nil && b.MaxTokens != nil:
		c.note("max_tokens", "is given beside max_chars: give one of them")
	case b.MaxChars != nil && b.Model != "":
		c.note("model", "is given beside max_chars: give one of them, or max_tokens")
	case b.Model != "":
		return assembly.ModelRoom(b.Model, orDefault(b.MaxTokens, 0), response)
	case b.MaxTokens != nil:
		return assembly.Tokens(*b.MaxTokens, response)
	}
	return assembly.Characters(orDefault(b.MaxChars, defaultContext), response)
}

type contextBody struct {
	Text         string             `json:"text"`
	Messages     []assembly.Message `json:"messages,omitzero"`
	Query        string             `json:"query,omitempty"`
	Size         sizeBody           `json:"size"`
	Parts        []partBody         `json:"parts"`
	LeftOut      []leftOutBody      `json:"left_out"`
	Condensed    bool               `json:"condensed"`
	NotCondensed string             `json:"not_condensed,omitempty"` // why not, where it was wanted
	Dropped      []string           `json:"dropped"`
	answerBody
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

// sizeOf tells a room, and how much of it was used.
func sizeOf(r assembly.Room, used int) sizeBody {
	size := sizeBody{
		Unit: "tokens", Window: r.Window, Response: r.Response, Budget: r.Budget(), Used: used,
		Model: r.Model, Encoding: r.Counter.Encoding, Estimated: r.Estimated,
	}
	if size.Encoding == "" {
		size.Unit = "characters"
	}
	if r.Estimated {
		size.Note = fmt.Sprintf("this model's own tokens are not known: %g for each of %s", r.Counter.Scale, r.Counter.Encoding)
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

// context says what a prompt needs to know.
func (s *Server) context(ctx context.Context, r *request) error {
	start := s.Now()
	body, err := decode[contextRequest](r)
	if err != nil {
		return err
	}
	var c checks
	if body.Query != "" {
		c.note("query", memory.CheckContent(body.Query, memory.MaxQueryRunes))
	}
	ask := assembly.Request{
		ConversationID: body.ConversationID, Language: body.Language,
		Messages: body.Format == asMessages, Condense: orDefault(body.Condense, true),
	}
	ask.Query = body.recall(r.key, s.Limit, &c)
	ask.Query.ConversationID = "" // it is the one that is going on, and not where memories are from
	budget := body.budget()
	ask.Room, ask.Shares = body.room(budget.Response, &c), budget.Shares
	if err := c.err(); err != nil {
		return err
	}
	made, err := s.assembler().Make(ctx, ask)
	if err != nil {
		return err
	}
	answer := made.Recalled
	answer.Memories = made.Kept
	if !ask.Query.NoTouch { // what is left out is not handed out
		s.Recaller.Touch(ids(made.Kept), answer.At)
	}
	written := contextBody{
		Text: made.Text, Messages: made.Messages, Query: made.Query, Size: sizeOf(ask.Room, made.Size),
		Parts: []partBody{}, LeftOut: []leftOutBody{},
		Condensed: made.Condensed, NotCondensed: made.NotCondensed, Dropped: atLeastEmpty(made.Dropped),
	}
	for _, p := range made.Parts {
		written.Parts = append(written.Parts, partBody(p))
	}
	for _, l := range made.LeftOut {
		written.LeftOut = append(written.LeftOut, leftOutBody(l))
	}
	written.answerBody = answerOf(answer, s.Now().Sub(start))
	return r.JSON(http.StatusOK, written)
}

// assembler makes contexts of the server's parts.
func (s *Server) assembler() assembly.Service {
	return assembly.Service{
		Instructor: s.Instructor, Facts: s.Timelines, Recaller: s.Recaller, Sessions: s.Sessions,
		Condenser: s.Condenser, Counts: s.counts, Now: s.Now,
	}
}

func ids(memories []recall.Recalled) []string {
	list := make([]string, len(memories))
	for i, m := range memories {
		list[i] = m.Memory.ID
	}
	return list
}

package api

import (
	"context"
	"net/http"

	"hippocampus/compression"
	"hippocampus/recall"
)

// Condenser shortens memories for a prompt; package compression implements it.
type Condenser interface {
	// Wanted reports whether so many memories are to be condensed, where fits
	// says that they have room as they are.
	Wanted(memories int, fits bool) bool
	// Condense says why it did not; empty where it did.
	Condense(ctx context.Context, contents []string, room compression.Room, language string) (condensed, why string)
}

const defaultContext = 500 // characters

type contextRequest struct {
	recallRequest
	MaxChars  *int   `json:"max_chars"`
	MaxTokens *int   `json:"max_tokens"`
	Language  string `json:"language"`
	Condense  *bool  `json:"condense"`
}

// room is what the request leaves for the text.
func (b contextRequest) room(c *checks) compression.Room {
	switch {
	case b.MaxChars != nil && b.MaxTokens != nil:
		c.note("max_tokens", "is given beside max_chars: give one of them")
	case b.MaxTokens != nil:
		return compression.Room{Size: *b.MaxTokens, Tokens: true}
	}
	return compression.Room{Size: orDefault(b.MaxChars, defaultContext)}
}

type contextBody struct {
	Text         string   `json:"text"`
	Condensed    bool     `json:"condensed"`
	NotCondensed string   `json:"not_condensed,omitempty"` // why not, where it was wanted
	Dropped      []string `json:"dropped"`
	answerBody
}

// context recalls, and writes what came back as a text for a prompt.
func (s *Server) context(ctx context.Context, r *request) error {
	start := s.Now()
	body, err := decode[contextRequest](r)
	if err != nil {
		return err
	}
	var c checks
	query := body.recall(r.key, s.Limit, &c)
	room := body.room(&c)
	if err := c.err(); err != nil {
		return err
	}
	touch := !query.NoTouch
	query.NoTouch = true // what the text leaves out is not handed out
	answer, err := s.Recaller.Recall(ctx, query)
	if err != nil {
		return err
	}
	contents := make([]string, len(answer.Memories))
	for i, m := range answer.Memories {
		contents[i] = m.Memory.Content
	}
	prompt, kept := assemble(contents, body.Language, room.Size, room.Measure)
	written := contextBody{Text: prompt}
	if orDefault(body.Condense, true) && s.Condenser.Wanted(len(contents), kept == len(contents)) {
		if prompt, written.NotCondensed = s.condense(ctx, contents, body.Language, room); written.NotCondensed == "" {
			written.Text, written.Condensed, kept = prompt, true, len(contents)
		}
	}
	written.Dropped = ids(answer.Memories[kept:])
	answer.Memories = answer.Memories[:kept]
	if touch {
		s.Recaller.Touch(ids(answer.Memories), answer.At)
	}
	written.answerBody = answerOf(answer, s.Now().Sub(start))
	return r.JSON(http.StatusOK, written)
}

// condense has a model say the contents in the room, under a header; why says
// why there is no such text.
func (s *Server) condense(ctx context.Context, contents []string, language string, room compression.Room) (prompt, why string) {
	prompt = header(contents, language) + "\n"
	left := room
	left.Size -= room.Measure(prompt)
	condensed, why := s.Condenser.Condense(ctx, contents, left, language)
	if why != "" {
		return "", why
	}
	if prompt += condensed; room.Measure(prompt) > room.Size {
		return "", "the text does not fit under its header"
	}
	return prompt, ""
}

func ids(memories []recall.Recalled) []string {
	list := make([]string, len(memories))
	for i, m := range memories {
		list[i] = m.Memory.ID
	}
	return list
}

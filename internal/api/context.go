package api

import (
	"context"
	"net/http"
	"unicode/utf8"

	"hippocampus/internal/text"
	"hippocampus/recall"
)

const defaultContext = 500 // characters

type contextRequest struct {
	recallRequest
	MaxChars  *int   `json:"max_chars"`
	MaxTokens *int   `json:"max_tokens"`
	Language  string `json:"language"`
}

// budget is the room that the request leaves for the text, and its unit.
func (b contextRequest) budget(c *checks) (room int, measure func(string) int) {
	switch {
	case b.MaxChars != nil && b.MaxTokens != nil:
		c.note("max_tokens", "is given beside max_chars: give one of them")
	case b.MaxTokens != nil:
		return *b.MaxTokens, text.CountTokens
	}
	return orDefault(b.MaxChars, defaultContext), utf8.RuneCountInString
}

type contextBody struct {
	Text    string   `json:"text"`
	Dropped []string `json:"dropped"`
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
	room, measure := body.budget(&c)
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
	prompt, kept := assemble(contents, body.Language, room, measure)
	dropped := ids(answer.Memories[kept:])
	answer.Memories = answer.Memories[:kept]
	if touch {
		s.Recaller.Touch(ids(answer.Memories), answer.At)
	}
	return r.JSON(http.StatusOK, contextBody{prompt, dropped, answerOf(answer, s.Now().Sub(start))})
}

func ids(memories []recall.Recalled) []string {
	list := make([]string, len(memories))
	for i, m := range memories {
		list[i] = m.Memory.ID
	}
	return list
}

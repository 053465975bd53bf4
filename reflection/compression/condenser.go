package compression

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"

	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// Room is how much a text may hold.
type Room struct {
	Size   int  // characters, or tokens
	Tokens bool // see text.CountTokens
}

// Measure is the size of a text in the room's unit.
func (r Room) Measure(s string) int {
	if r.Tokens {
		return text.CountTokens(s)
	}
	return utf8.RuneCountInString(s)
}

// Limits of a Condenser; server/config states their defaults and ranges.
type Limits struct {
	Memories int           // more than these are condensed though they fit
	Timeout  time.Duration // of the model's answer
	Cache    int           // texts kept; 0: none
}

// Condenser shortens memories for a prompt. It is safe for concurrent use.
type Condenser struct {
	chat llm.Chat
	set  Limits
	kept *lru.Cache[[sha256.Size]byte, string] // nil: none
}

// NewCondenser makes one; chat is nil where there is no model.
func NewCondenser(chat llm.Chat, set Limits) *Condenser {
	c := &Condenser{chat: chat, set: set}
	if set.Cache > 0 {
		c.kept, _ = lru.New[[sha256.Size]byte, string](set.Cache) // fails only for a size below 1
	}
	return c
}

// ShouldCondense reports whether so many memories are to be condensed, where fits says
// that they have room as they are.
func (c *Condenser) ShouldCondense(memories int, fits bool) bool {
	return memories > 0 && (memories > c.set.Memories || !fits)
}

// Condense has the model say what the contents, best first, say together, in
// at most the room and no more than they take up, as one line. why says in
// words for people why it did not; it is empty where it did. Texts are kept:
// the same contents, room and language are asked for once. The language is that
// of what the text goes into; the text itself is in that of the contents.
func (c *Condenser) Condense(ctx context.Context, contents []string, room Room, language string) (condensed, why string) {
	switch {
	case c.chat == nil:
		return "", "there is no chat model: set chat.api_key (DEEPSEEK_API_KEY)"
	case room.Size < 1:
		return "", "the room is too small"
	case runes(contents...) > maxPromptRunes:
		return "", "the memories are too long for one prompt"
	}
	room.Size = min(room.Size, room.Measure(strings.Join(contents, "\n"))) // or nothing would be condensed
	id, err := identify(contents, room, language)
	if err != nil {
		return "", "the memories could not be written down"
	}
	if c.kept != nil {
		if condensed, ok := c.kept.Get(id); ok {
			return condensed, ""
		}
	}
	condensed, err = c.ask(ctx, contents, room)
	switch {
	case memory.IsKind(err, memory.KindBadAnswer):
		return "", fmt.Sprintf("the model's answer was refused: %s", err)
	case err != nil:
		return "", fmt.Sprintf("the model is away, or took longer than %s", c.set.Timeout)
	}
	if c.kept != nil {
		c.kept.Add(id, condensed)
	}
	return condensed, ""
}

// identify is a hash of all that the text depends on.
func identify(contents []string, room Room, language string) (id [sha256.Size]byte, err error) {
	data, err := json.Marshal(struct {
		Contents []string
		Room     Room
		Language string
	}{contents, room, language})
	return sha256.Sum256(data), err
}

func (c *Condenser) ask(ctx context.Context, contents []string, room Room) (string, error) {
	quoted, err := prompt.Quote(contents...)
	if err != nil {
		return "", err
	}
	p, err := condensePrompt.Render(strings.Join(contents, "\n"), condenseData{quoted, room.Size, room.Tokens}, maxAnswerTokens)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, c.set.Timeout)
	defer cancel()
	answer, err := c.chat.Answer(ctx, p)
	if err != nil {
		return "", err
	}
	return parseText(answer, contents, room)
}

// parseText reads the answer of a Condenser and refuses it where anything in
// it is wrong (KindBadAnswer).
func parseText(answer string, contents []string, room Room) (string, error) {
	var reply struct {
		Text *string `json:"text"`
	}
	if err := llm.Decode(answer, &reply); err != nil {
		return "", err
	}
	if reply.Text == nil {
		return "", refuse("it has no text")
	}
	if why := memory.CheckContent(*reply.Text, maxPromptRunes); why != "" {
		return "", refuse("its text %s", why)
	}
	condensed, all := strings.Join(strings.Fields(*reply.Text), " "), strings.Join(contents, "\n")
	switch size := room.Measure(condensed); {
	case size > room.Size:
		return "", refuse("its text has a size of %d: the room, or what the memories take up, is %d", size, room.Size)
	case condensePrompt.Echoes(condensed):
		return "", refuse("its text repeats the prompt's own words")
	case prompt.Foreign(condensed, all):
		return "", refuse("its text is in another language than the memories")
	}
	return condensed, nil
}

// Purge lets go of the texts that are kept.
func (c *Condenser) Purge() {
	if c.kept != nil {
		c.kept.Purge()
	}
}

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

// Room is the greatest size of a text.
type Room struct {
	Size   int  // characters, or tokens
	Tokens bool // see text.CountTokens
}

// Measure returns the size of a text in the room's unit.
func (r Room) Measure(s string) int {
	if r.Tokens {
		return text.CountTokens(s)
	}
	return utf8.RuneCountInString(s)
}

// Limits of a Condenser; server/config holds their defaults and ranges.
type Limits struct {
	Memories int           // more memories than these are condensed even if they fit
	Timeout  time.Duration // of the model's answer
	Cache    int           // condensed texts in the cache; 0: no cache
}

// Condenser shortens memories for a prompt. It is safe for concurrent use.
type Condenser struct {
	chat llm.Chat
	set  Limits
	kept *lru.Cache[[sha256.Size]byte, string] // nil: no cache
}

// NewCondenser makes a Condenser; chat is nil if no model is configured.
func NewCondenser(chat llm.Chat, set Limits) *Condenser {
	c := &Condenser{chat: chat, set: set}
	if set.Cache > 0 {
		c.kept, _ = lru.New[[sha256.Size]byte, string](set.Cache) // fails only for a size below 1
	}
	return c
}

// ShouldCondense reports whether this number of memories should be condensed;
// fits reports whether the room holds them as they are.
func (c *Condenser) ShouldCondense(memories int, fits bool) bool {
	return memories > 0 && (memories > c.set.Memories || !fits)
}

// Condense has the model summarise the contents, best first, in one line that is
// at most as large as the room and as the contents. If it fails, why states the
// reason for people, else why is empty. Results are cached by contents, room
// and language. language is that of the surrounding text; the model answers in
// the language of the contents.
func (c *Condenser) Condense(ctx context.Context, contents []string, room Room, language string) (
	condensed, why string,
) {
	switch {
	case c.chat == nil:
		return "", "there is no chat model: set chat.api_key (DEEPSEEK_API_KEY)"
	case room.Size < 1:
		return "", "the room is too small"
	case runes(contents...) > maxPromptRunes:
		return "", "the memories are too long for one prompt"
	}
	// The result must not be longer than the contents.
	room.Size = min(room.Size, room.Measure(strings.Join(contents, "\n")))
	id, err := cacheKey(contents, room, language)
	if err != nil {
		return "", "the memories could not be encoded"
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
		return "", fmt.Sprintf("the model is unavailable, or took longer than %s", c.set.Timeout)
	}
	if c.kept != nil {
		c.kept.Add(id, condensed)
	}
	return condensed, ""
}

// cacheKey is a hash of everything that the condensed text depends on.
func cacheKey(contents []string, room Room, language string) (key [sha256.Size]byte, err error) {
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
	ctx, cancel := context.WithTimeout(ctx, c.set.Timeout)
	defer cancel()
	data := condenseData{Quoted: quoted, Room: room.Size, Tokens: room.Tokens}
	answer, err := condensePrompt.Ask(ctx, c.chat, strings.Join(contents, "\n"), data)
	if err != nil {
		return "", err
	}
	return parseText(answer, contents, room)
}

// parseText reads the answer of a Condenser. It refuses the whole answer if any
// part of it is wrong (KindBadAnswer).
func parseText(answer string, contents []string, room Room) (string, error) {
	var reply struct {
		Text *string `json:"text"`
	}
	if err := llm.Decode(answer, &reply); err != nil {
		return "", err
	}
	if reply.Text == nil {
		return "", llm.BadAnswer("it has no text")
	}
	condensed := strings.Join(strings.Fields(*reply.Text), " ")
	why := memory.CheckContent(*reply.Text, maxPromptRunes)
	if size := room.Measure(condensed); why == "" && size > room.Size {
		why = fmt.Sprintf("has a size of %d: the room, or the size of the memories, is %d", size, room.Size)
	}
	if why == "" {
		why = condensePrompt.Check(condensed, maxPromptRunes, strings.Join(contents, "\n"))
	}
	if why != "" {
		return "", llm.BadAnswer("its text %s", why)
	}
	return condensed, nil
}

// Purge empties the cache.
func (c *Condenser) Purge() {
	if c.kept != nil {
		c.kept.Purge()
	}
}

package compression

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"

	"hippocampus/internal/grounding"
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

// The lengths that a model is asked for. Models count words better than characters or tokens, and roughly.
const (
	asked         = 0.8 // of the room
	runesAWord    = 6   // of English, with the space
	wordsAToken   = 0.75
	chineseAToken = 1 // character
)

// words is the number of English words to ask for.
func (r Room) words() int {
	if r.Tokens {
		return max(1, int(asked*wordsAToken*float64(r.Size)))
	}
	return max(1, int(asked*float64(r.Size)/runesAWord))
}

// chinese is the number of Chinese characters to ask for.
func (r Room) chinese() int {
	if r.Tokens {
		return max(1, int(asked*chineseAToken*float64(r.Size)))
	}
	return max(1, int(asked*float64(r.Size)))
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

// Line is a memory that is condensed.
type Line struct {
	Said time.Time
	Text string
}

// Condense has the model summarise the memories, best first, in one line that is at most as large as the room and as
// the memories. If it fails, why is the reason for people, else why is empty. Results are cached by memories, room and
// language. language is that of the surrounding text; the model answers in the language of the memories.
func (c *Condenser) Condense(ctx context.Context, memories []Line, room Room, language string) (
	condensed, why string,
) {
	contents := contentsOf(memories)
	switch {
	case c.chat == nil:
		return "", "there is no chat model: set chat.api_key (DEEPSEEK_API_KEY)"
	case room.Size < 1:
		return "", "the room is too small"
	case runes(contents) > maxPromptRunes:
		return "", "the memories are too long for one prompt"
	}
	// The result must not be longer than the contents.
	room.Size = min(room.Size, room.Measure(contents))
	id, err := cacheKey(memories, room, language)
	if err != nil {
		return "", "the memories could not be encoded"
	}
	if c.kept != nil {
		if condensed, ok := c.kept.Get(id); ok {
			return condensed, ""
		}
	}
	condensed, err = c.ask(ctx, memories, room)
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

// contentsOf joins the texts of memories.
func contentsOf(memories []Line) string {
	texts := make([]string, len(memories))
	for i, m := range memories {
		texts[i] = m.Text
	}
	return strings.Join(texts, "\n")
}

// cacheKey is a hash of everything that the condensed text depends on.
func cacheKey(memories []Line, room Room, language string) (key [sha256.Size]byte, err error) {
	data, err := json.Marshal(struct {
		Memories []promptLine
		Room     Room
		Language string
	}{promptLines(memories), room, language})
	return sha256.Sum256(data), err
}

func (c *Condenser) ask(ctx context.Context, memories []Line, room Room) (string, error) {
	quoted, err := prompt.Quote(promptLines(memories)...)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, c.set.Timeout)
	defer cancel()
	data := condenseData{Quoted: quoted, MaxWords: room.words(), MaxRunes: room.chinese()}
	return prompt.Ask(ctx, condensePrompt, c.chat, contentsOf(memories), data,
		func(answer *llm.Answer) (string, error) { return parseText(answer, memories, room) })
}

// parseText reads the answer of a Condenser. KindBadAnswer: its text is missing, invalid or too long, or it
// adds something or says the opposite of something.
func parseText(answer *llm.Answer, memories []Line, room Room) (string, error) {
	var reply struct {
		Text string `json:"text"`
	}
	if err := answer.Decode(&reply); err != nil {
		return "", err
	}
	condensed := strings.Join(strings.Fields(reply.Text), " ")
	if condensed == "" {
		return "", llm.BadAnswer("it has no text")
	}
	why := condensePrompt.Check(condensed, maxPromptRunes, contentsOf(memories))
	if size := room.Measure(condensed); why == "" && size > room.Size {
		why = fmt.Sprintf("has a size of %d: the room, or the size of the memories, is %d", size, room.Size)
	}
	if why == "" {
		sources, lines := make([]grounding.Source, len(memories)), make([]grounding.Line, len(memories))
		for i, m := range memories {
			sources[i] = grounding.Source{Text: m.Text, At: m.Said}
			lines[i].Source = sources[i]
		}
		why = cmp.Or(grounding.Read(sources...).Why(condensed), grounding.ReadAccount(lines...).Opposes(condensed))
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

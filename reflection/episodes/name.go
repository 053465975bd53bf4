package episodes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"hippocampus/db"
	"hippocampus/internal/grounding"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

//go:embed prompts
var promptFiles embed.FS

var namePrompt = prompt.Parse(promptFiles, "name")

const (
	maxNamed = 20 // episodes that one run names for a user, the latest
	maxLines = 40 // memories in one prompt
)

// name is a title by a model, and what it was read from. It counts as long as all of that is current.
type name struct {
	Title string   `json:"title"`
	Of    []string `json:"of"`   // ids
	Hash  string   `json:"hash"` // of the contents
}

// promptLine is a memory in a prompt.
type promptLine struct {
	Said   string `json:"said"` // day
	Memory string `json:"memory"`
}

// Try has a model name an episode of some memories, and stores nothing.
func Try(ctx context.Context, chat llm.Chat, memories []memory.Memory) (string, error) {
	if len(memories) > maxLines {
		memories = memories[:maxLines]
	}
	lines, texts := make([]promptLine, len(memories)), make([]string, len(memories))
	for i, m := range memories {
		lines[i] = promptLine{m.CreatedAt.Format(prompt.Day), m.Content}
		texts[i] = m.Content
	}
	quoted, err := prompt.Quote(lines...)
	if err != nil {
		return "", err
	}
	return prompt.Ask(ctx, namePrompt, chat, strings.Join(texts, "\n"), quoted,
		func(answer *llm.Answer) (string, error) { return parseName(answer, texts) })
}

// parseName reads a title. KindBadAnswer: it is not a line in the words of the memories.
func parseName(answer *llm.Answer, said []string) (string, error) {
	var reply struct {
		Title string `json:"title"`
	}
	if err := answer.Decode(&reply); err != nil {
		return "", err
	}
	title := strings.Trim(strings.TrimSpace(reply.Title), `"'“”《》「」.。`)
	all := strings.Join(said, "\n")
	switch why := namePrompt.Check(title, maxTitle, all); {
	case why != "":
		return "", llm.BadAnswer("title: %s", why)
	case strings.ContainsAny(title, "\n\r"):
		return "", llm.BadAnswer("title: has more than one line")
	}
	if invented := grounding.Read(grounding.Texts(said...)...).Uncounted().Invented(title); len(invented) > 0 {
		return "", llm.BadAnswer("title: the memories do not have %s", strings.Join(invented, ", "))
	}
	if word := unsaid(title, all); word != "" {
		return "", llm.BadAnswer("title: the memories do not have the word %q", word)
	}
	return title, nil
}

// general are words of titles that name a kind of episode and no subject.
var general = strings.Fields(`trip travel journey visit project plan planning preparation preparing search searching
	training learning care time life period months weeks days start beginning first new
	旅行 旅程 之行 之旅 计划 准备 过程 期间 经历 项目 日子 生活 时光 阶段 以及 和 与 的`)

// unsaid returns the first word, or character of a script without spaces, that a title has and what was said has not.
func unsaid(title, said string) string {
	has := map[string]bool{}
	for _, word := range append(text.Lexemes(said), general...) {
		has[word] = true
		for _, lexeme := range text.Lexemes(word) {
			has[lexeme] = true
		}
	}
	characters := said + strings.Join(general, "")
	for _, run := range runsOf(title) {
		for _, r := range run {
			if text.IsUnspaced(r) && !strings.ContainsRune(characters, r) {
				return string(r)
			}
		}
		if strings.ContainsFunc(run, text.IsUnspaced) || !strings.ContainsFunc(run, unicode.IsLetter) {
			continue
		}
		for _, lexeme := range text.Lexemes(run) {
			if !has[lexeme] {
				return run
			}
		}
	}
	return ""
}

// Name has the chat model, if there is one, name the latest episodes of a user that have no name yet. An answer that is
// refused is not asked for again until the episode changes.
func (s *Service) Name(ctx context.Context, owner memory.Owner) (named int, err error) {
	if s.Chat == nil {
		return 0, nil
	}
	ctx = llm.ForApp(ctx, owner.AppID)
	rows, err := s.Records.AllEpisodes(ctx, owner)
	slices.SortFunc(rows, func(a, b db.Episode) int { return cmp.Or(b.Ended.Compare(a.Ended), cmp.Compare(b.ID, a.ID)) })
	asked := 0
	for _, e := range rows {
		var l label
		if err := json.Unmarshal(e.Label, &l); err != nil {
			return named, memory.Errorf(memory.KindInternal, "read the label of episode %s: %w", e.ID, err)
		}
		if l.Name != nil || asked == maxNamed {
			continue
		}
		members, err := s.Records.EpisodeMembers(ctx, owner, []string{e.ID})
		if err != nil {
			return named, err
		}
		if len(members) < minMembers {
			continue
		}
		asked++
		memories := make([]memory.Memory, len(members))
		for i, m := range members {
			memories[i] = m.Memory
		}
		title, err := Try(ctx, s.Chat, memories)
		if err != nil && !memory.IsKind(err, memory.KindBadAnswer) {
			return named, err
		}
		if title != "" {
			named++
		}
		l.Name = &name{title, memory.IDs(memories), hashOf(memories)}
		if e.Label, err = json.Marshal(l); err != nil {
			return named, memory.Errorf(memory.KindInternal, "write the label of episode %s: %w", e.ID, err)
		}
		if err := s.Records.InUser(ctx, owner, func(ctx context.Context, tx db.UserTx) error {
			return tx.LabelEpisode(ctx, e)
		}); err != nil {
			return named, err
		}
	}
	return named, err
}

func hashOf(memories []memory.Memory) string {
	sum := sha256.New()
	for _, m := range memories {
		sum.Write([]byte(m.Content + "\x00"))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// title returns the name if everything that it was read from is current and unchanged.
func (n *name) title(current map[string]memory.Memory) string {
	if n == nil {
		return ""
	}
	of := make([]memory.Memory, len(n.Of))
	for i, id := range n.Of {
		of[i] = current[id]
	}
	if hashOf(of) != n.Hash {
		return ""
	}
	return n.Title
}

// keepsFor reports whether a name still fits an episode that has changed: it has what the name was read from, and not
// twice as much.
func (n *name) keepsFor(members []string) bool {
	return n != nil && n.Title != "" && len(members) < 2*len(n.Of) && !slices.ContainsFunc(n.Of, func(id string) bool {
		return !slices.Contains(members, id)
	})
}

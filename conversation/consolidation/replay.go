package consolidation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// The room of a summary.
const (
	maxSummaryRunes = 200 // of a Chinese one
	maxSummaryWords = 80  // of any other
	otherRunes      = 800 // ... which has at most so many characters, too
)

// summaryImportance is that of every summary.
const summaryImportance = 0.7

// summarised counts what a replay did.
type summarised struct {
	Summaries int `json:"summaries"`
}

// replay writes a summary of the events, for each agent that took part.
func (s *Service) replay(ctx context.Context, one memory.Consolidation) (memory.ConsolidationState, error) {
	shares, cut, err := s.shares(ctx, one)
	if err != nil {
		return "", err
	}
	before := ""
	if cut && len(shares) == 1 { // a running summary is of all agents' events
		c, err := s.Records.Conversation(ctx, one.AppID, one.UserID, one.ConversationID)
		if err != nil {
			return "", err
		}
		before = c.Summary
	}
	c := ingest.Consolidation{Owner: one.Owner, Cause: cause(one)}
	for _, sh := range shares {
		summary := extract(sh.events)
		if s.Chat != nil {
			if summary, err = s.askReplay(ctx, before, sh); err != nil {
				return "", err
			}
		}
		if summary != "" {
			c.Made = append(c.Made, sh.draft(one, typeSummary, summary, s.Guess(summary), summaryImportance))
		}
	}
	if len(c.Made) == 0 {
		return s.skip(ctx, one, "nothing was said that fits into a summary whole")
	}
	c.Last = func(ctx context.Context, tx db.UserTx, done ingest.Consolidated) error {
		return s.end(ctx, tx, one, memory.ConsolidationDone, "", summarised{len(done.Made)})
	}
	_, err = s.Writer.Consolidate(ctx, c)
	return memory.ConsolidationDone, err
}

const typeSummary memory.Type = "summary"

var replayPrompt = prompt.Parse(promptFiles, "replay")

// replayData fills the prompt.
type replayData struct {
	prompt.Quoted // events, one a line, oldest first
	MaxRunes      int
	MaxWords      int
}

func (s *Service) askReplay(ctx context.Context, before string, sh share) (string, error) {
	quoted, err := quote(before, sh)
	if err != nil {
		return "", err
	}
	sample := sh.sample()
	p, err := replayPrompt.Render(sample, replayData{quoted, maxSummaryRunes, maxSummaryWords}, maxAnswerTokens)
	if err != nil {
		return "", err
	}
	answer, err := s.Chat.Answer(ctx, p)
	if err != nil {
		return "", err
	}
	return parseReplay(answer, sample)
}

// parseReplay reads the model's summary of what sample says, and refuses it
// where anything in it is wrong (KindBadAnswer).
func parseReplay(answer, sample string) (string, error) {
	var reply struct {
		Summary *string `json:"summary"`
	}
	if err := llm.Decode(answer, &reply); err != nil {
		return "", err
	}
	if reply.Summary == nil {
		return "", refuse("the answer has no summary")
	}
	summary := strings.TrimSpace(*reply.Summary)
	why := memory.CheckContent(summary, otherRunes)
	switch {
	case why != "":
	case !fits(summary):
		why = fmt.Sprintf("is too long: at most %d characters of Chinese or %d words are allowed", maxSummaryRunes, maxSummaryWords)
	case replayPrompt.Echoes(summary):
		why = "repeats the prompt's own words"
	case prompt.Foreign(summary, sample):
		why = "is in another language than the conversation"
	}
	if why != "" {
		return "", refuse("its summary %s", why)
	}
	return summary, nil
}

// fits reports whether a summary is within its room.
func fits(summary string) bool {
	if text.IsChinese(summary) {
		return utf8.RuneCountInString(summary) <= maxSummaryRunes
	}
	return len(strings.Fields(summary)) <= maxSummaryWords && utf8.RuneCountInString(summary) <= otherRunes
}

// extract is a summary without a model: the most important sentences whole, in
// their order. Of equally important ones a statement comes before a question,
// then what the user said before answers, and then what was said first. "": not
// one has room.
func extract(events []said) string {
	type sentence struct {
		text       string
		importance float64
		rank       int // 0 first
	}
	var all []sentence
	known := map[string]bool{}
	for _, e := range events {
		for _, one := range sentences(e.Content) {
			if form := prompt.Wording(one); form != "" && !known[form] {
				known[form] = true
				rank := 0
				if e.Role != "user" && e.Kind == memory.Chat {
					rank++
				}
				if strings.HasSuffix(one, "?") || strings.HasSuffix(one, "？") {
					rank += 2
				}
				all = append(all, sentence{one, e.Importance, rank})
			}
		}
	}
	places := make([]int, len(all))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int {
		return cmp.Or(cmp.Compare(all[b].importance, all[a].importance), cmp.Compare(all[a].rank, all[b].rank))
	})
	kept := make([]bool, len(all))
	join := func() string {
		var list []string
		for i, one := range all {
			if kept[i] {
				list = append(list, one.text)
			}
		}
		if text.IsChinese(strings.Join(list, "")) {
			return strings.Join(list, "")
		}
		return strings.Join(list, " ")
	}
	for _, place := range places {
		kept[place] = true
		kept[place] = fits(join())
	}
	return join()
}

// sentences cuts a text after the marks that end sentences, and at line ends.
func sentences(s string) (list []string) {
	var now strings.Builder
	cut := func() {
		if one := strings.Join(strings.Fields(now.String()), " "); one != "" {
			list = append(list, one)
		}
		now.Reset()
	}
	runes := []rune(s)
	for i, r := range runes {
		if r == '\n' || r == '\r' {
			cut()
			continue
		}
		now.WriteRune(r)
		last := i+1 == len(runes)
		if strings.ContainsRune("。！？", r) || strings.ContainsRune(".!?", r) && (last || unicode.IsSpace(runes[i+1])) {
			cut()
		}
	}
	cut()
	return list
}

package consolidation

import (
	"context"
	"strings"
	"unicode/utf8"

	"hippocampus/conversation/session"
	"hippocampus/db"
	"hippocampus/ingest"
	"hippocampus/internal/llm"
	"hippocampus/internal/llm/prompt"
	"hippocampus/internal/memory"
	"hippocampus/internal/text"
)

// The greatest size of a summary.
const (
	maxSummaryRunes = 200 // characters of a Chinese summary
	maxSummaryWords = 80  // words of a summary in another language
	otherRunes      = 800 // characters of a summary in another language
)

// summarised counts what a replay did.
type summarised struct {
	Summaries int `json:"summaries"`
}

// replay writes a summary of the events, for each agent that took part.
func (s *Service) replay(ctx context.Context, one memory.Consolidation) (memory.ConsolidationState, error) {
	c, err := s.begin(ctx, one)
	if err != nil {
		return "", err
	}
	shares, cut, err := s.shares(ctx, one)
	if err != nil {
		return "", err
	}
	before := ""
	if cut && len(shares) == 1 { // the running summary covers all agents' events
		log, err := s.Records.Conversation(ctx, one.AppID, one.UserID, one.ConversationID)
		if err != nil {
			return "", err
		}
		before = log.Summary
	}
	for _, sh := range shares {
		summary := extract(sh.events)
		if s.Chat != nil {
			if summary, err = s.askReplay(ctx, before, sh); err != nil {
				return "", err
			}
		}
		if summary != "" {
			c.Made = append(c.Made, sh.draft(one, typeSummary, summary, s.Guess(summary), memory.SummaryImportance))
		}
	}
	if len(c.Made) == 0 {
		return s.skip(ctx, one, "no sentence fits into a summary")
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
	prompt.Quoted      // events, one per line, oldest first
	Time               string
	MaxRunes, MaxWords int
}

func (s *Service) askReplay(ctx context.Context, before string, sh share) (string, error) {
	events := sh.said()
	quoted, err := prompt.Quote(session.PromptLines(before, events, maxEventRunes)...)
	if err != nil {
		return "", err
	}
	data := replayData{
		Quoted: quoted, Time: session.PromptTime(events), MaxRunes: maxSummaryRunes, MaxWords: maxSummaryWords,
	}
	return prompt.Ask(ctx, replayPrompt, s.Chat, session.Texts(before, events), data,
		func(answer *llm.Answer) (string, error) { return parseReplay(answer, before, events) })
}

// tolerance is the factor by which a model's summary may exceed the length asked for, since models count roughly.
const tolerance = 1.5

// parseReplay reads a summary of an earlier summary and the events after it. KindBadAnswer: see session.ParseSummary;
// also if the summary is too long.
func parseReplay(answer *llm.Answer, before string, events []session.Event) (string, error) {
	summary, err := session.ParseSummary(answer, replayPrompt, before, events, otherRunes*tolerance)
	if err == nil && !fits(summary, tolerance) {
		err = llm.BadAnswer("its summary is too long: at most %d characters of Chinese or %d words are allowed",
			maxSummaryRunes, maxSummaryWords)
	}
	if err != nil {
		return "", err
	}
	return summary, nil
}

// fits reports whether a summary has at most the greatest size multiplied by times.
func fits(summary string, times float64) bool {
	size := float64(utf8.RuneCountInString(summary))
	if text.IsChinese(summary) {
		return size <= times*maxSummaryRunes
	}
	return float64(len(strings.Fields(summary))) <= times*maxSummaryWords && size <= times*otherRunes
}

package exchange

import (
	"context"
	"encoding/json"
	"io"
	"slices"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Selection is what an export contains.
type Selection struct {
	AppID      string
	UserID     string // empty: every user of the app
	Embeddings bool
}

// Export writes the selection as NDJSON: a header, the time zones of users, the memories of each user from
// the oldest on, the other kinds, and an end that counts the lines of each kind.
// Each line is as of one instant, but the whole export is not if the app is written to during the export. Export writes
// nothing before the first answer of the database. After an error the output has no end, and the caller should write an
// error line with WriteError.
func (s *Service) Export(ctx context.Context, what Selection, w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	counts, err := s.export(ctx, what, func(field string, value any) error {
		if field != "" {
			value = map[string]any{field: value}
		}
		return out.Encode(value)
	})
	if err != nil {
		return err
	}
	return out.Encode(endLine{counts})
}

// export passes each line to out, except for the end, and counts the lines of each kind. A line consists of one field
// with a value, or of a value alone if the field is empty.
func (s *Service) export(
	ctx context.Context, what Selection, out func(field string, value any) error,
) (Counts, error) {
	x := &exporting{Service: s, what: what, out: out, counts: Counts{Memories: 0}}
	for _, export := range []func(context.Context) error{
		x.zones, x.memories, x.documents, x.facts, x.instructions, x.skills, x.outcomes, x.files, x.fileVersions,
		x.conversations, x.feedback, x.pooled, x.modes,
	} {
		if err := export(ctx); err != nil {
			return x.counts, err
		}
	}
	return x.counts, nil
}

// WriteError ends an export that failed midway.
func WriteError(w io.Writer, message string) error {
	return json.NewEncoder(w).Encode(errorLine{message})
}

// exporting is the state of an export.
type exporting struct {
	*Service
	what   Selection
	out    func(field string, value any) error
	counts Counts
}

// write writes and counts a line that has one field.
func (x *exporting) write(kind Kind, field string, value any) error {
	x.counts[kind]++
	return x.out(field, value)
}

// extent is the part of each table that is exported.
func (x *exporting) extent() db.Extent {
	return db.Extent{AppID: x.what.AppID, UserID: x.what.UserID, Limit: pageRows}
}

// texts is extent for rows with long texts.
func (x *exporting) texts() db.Extent {
	return db.Extent{AppID: x.what.AppID, UserID: x.what.UserID, Limit: pageTexts}
}

func (x *exporting) memories(ctx context.Context) error {
	page := db.ExportPage{
		AppID: x.what.AppID, UserID: x.what.UserID, Limit: pageRows, Embeddings: x.what.Embeddings,
	}
	return each(page.Limit, func(last *db.Record) ([]db.Record, error) {
		if last != nil {
			m := last.Memory
			page.After = &db.ExportPlace{UserID: m.UserID, Position: db.Position{At: m.CreatedAt, ID: m.ID}}
		}
		return x.records.Export(ctx, page)
	}, x.memory)
}

// zones writes the header, as soon as the database answers, and then the time zones of users. They come before the
// memories, since the days of memories depend on them.
func (x *exporting) zones(ctx context.Context) error {
	return each(pageRows, func(last *memory.UserZone) ([]memory.UserZone, error) {
		found, err := x.records.ExportUserZones(ctx, x.extent(), last)
		if err == nil && last == nil {
			err = x.out("", header{Format: Format, Version: Version, ExportedAt: memory.Instant(x.now())})
		}
		return found, err
	}, func(z memory.UserZone) error { return x.write(TimeZones, "time_zone", zoneLineOf(z)) })
}

func (x *exporting) feedback(ctx context.Context) error {
	return each(pageRows, func(last *memory.Feedback) ([]memory.Feedback, error) {
		return x.records.ExportFeedback(ctx, x.extent(), last)
	}, func(f memory.Feedback) error { return x.write(Feedback, "feedback", feedbackLineOf(f)) })
}

func (x *exporting) modes(ctx context.Context) error {
	return each(pageRows, func(last *memory.UserMode) ([]memory.UserMode, error) {
		return x.records.ExportUserModes(ctx, x.extent(), last)
	}, func(m memory.UserMode) error { return x.write(MemoryModes, "memory_mode", modeLineOf(m)) })
}

// memory writes a memory, and the events that do not fit in its line in
// continuation lines.
func (x *exporting) memory(r db.Record) error {
	x.counts[Memories]++
	fit := fitting(r.Events)
	err := x.out("", recordLineOf(r, r.Events[:fit]))
	for rest := r.Events[fit:]; err == nil && len(rest) > 0; rest = rest[fit:] {
		fit = fitting(rest)
		err = x.out("", continuationLine{memoryKey{r.Memory.UserID, r.Memory.ID}, eventsOf(rest[:fit])})
	}
	return err
}

// fitting is the number of events that fit in a line, at least one if there are any.
func fitting(events []memory.Event) int {
	const overhead = 256 // bytes of an event, without cause and detail
	room := eventBytes
	for i, e := range events {
		room -= overhead + len(e.Cause) + len(e.Detail)
		if room < 0 && i > 0 {
			return i
		}
	}
	return len(events)
}

func (x *exporting) documents(ctx context.Context) error {
	return each(pageTexts, func(last *memory.SourceDocument) ([]memory.SourceDocument, error) {
		return x.records.ExportSourceDocuments(ctx, x.texts(), last)
	}, func(d memory.SourceDocument) error { return x.write(Documents, "document", documentLineOf(d)) })
}

func (x *exporting) facts(ctx context.Context) error {
	return each(pageRows, func(last *memory.Fact) ([]memory.Fact, error) {
		return x.records.ExportFacts(ctx, x.extent(), last)
	}, func(f memory.Fact) error { return x.write(Facts, "fact", factLineOf(f)) })
}

func (x *exporting) instructions(ctx context.Context) error {
	return each(pageRows, func(last *memory.Instruction) ([]memory.Instruction, error) {
		return x.records.ExportInstructions(ctx, x.extent(), last)
	}, func(i memory.Instruction) error {
		if err := x.write(Instructions, "instruction", instructionLineOf(i)); err != nil {
			return err
		}
		return x.versions(ctx, i)
	})
}

// versions writes the versions that an instruction had when it was read, the
// newest first.
func (x *exporting) versions(ctx context.Context, i memory.Instruction) error {
	return each(pageTexts, func(last *memory.InstructionVersion) ([]memory.InstructionVersion, error) {
		below := i.Latest + 1
		if last != nil {
			below = last.Number
		}
		return x.records.InstructionVersions(ctx, i.Scope, i.Name, below, pageTexts)
	}, func(v memory.InstructionVersion) error {
		return x.write(Versions, "instruction_version", versionLineOf(i.Scope, i.Name, v))
	})
}

func (x *exporting) skills(ctx context.Context) error {
	return each(pageRows, func(last *memory.Workflow) ([]memory.Workflow, error) {
		return x.records.ExportWorkflows(ctx, x.extent(), last)
	}, func(w memory.Workflow) error { return x.write(Skills, "skill", skillLineOf(w)) })
}

func (x *exporting) outcomes(ctx context.Context) error {
	return each(pageRows, func(last *db.CountedOutcome) ([]db.CountedOutcome, error) {
		return x.records.ExportOutcomes(ctx, x.extent(), last)
	}, func(o db.CountedOutcome) error { return x.write(Outcomes, "outcome", outcomeLineOf(o)) })
}

func (x *exporting) files(ctx context.Context) error {
	return each(pageTexts, func(last *db.ExportedFile) ([]db.ExportedFile, error) {
		return x.records.ExportFiles(ctx, x.texts(), last)
	}, func(f db.ExportedFile) error { return x.write(Files, "file", fileLineOf(f)) })
}

func (x *exporting) fileVersions(ctx context.Context) error {
	return each(pageTexts, func(last *memory.FileVersion) ([]memory.FileVersion, error) {
		return x.records.ExportFileVersions(ctx, x.texts(), last)
	}, func(v memory.FileVersion) error { return x.write(FileVersions, "file_version", fileVersionLineOf(v)) })
}

func (x *exporting) conversations(ctx context.Context) error {
	return each(pageRows, func(last *memory.Conversation) ([]memory.Conversation, error) {
		return x.records.ExportConversations(ctx, x.extent(), last)
	}, func(c memory.Conversation) error {
		if err := x.write(Conversations, "conversation", conversationLineOf(c)); err != nil {
			return err
		}
		if err := x.turns(ctx, c); err != nil {
			return err
		}
		return x.consolidations(ctx, c)
	})
}

// turns writes the turns that a conversation had when it was read. It counts the
// unfinished ones as left out.
func (x *exporting) turns(ctx context.Context, c memory.Conversation) error {
	return each(pageTexts, func(last *memory.Turn) ([]memory.Turn, error) {
		through := int64(0)
		if last != nil {
			through = last.LastEvent()
		}
		found, err := x.records.ConversationTurns(ctx, c.Owner, c.ID, through, pageTexts)
		later := slices.IndexFunc(found, func(t memory.Turn) bool { return t.LastEvent() > c.Events })
		if later >= 0 {
			found = found[:later]
		}
		return found, err
	}, func(t memory.Turn) error {
		if !slices.Contains(exportedTurns, t.Status) {
			x.counts[LeftOut]++
			return nil
		}
		return x.write(Turns, "turn", turnLineOf(c.FirstTurnID, t))
	})
}

// consolidations writes the consolidations that a conversation had when it was
// read. It counts the unfinished ones as left out.
func (x *exporting) consolidations(ctx context.Context, c memory.Conversation) error {
	filter := db.ConsolidationFilter{Owner: c.Owner, ConversationID: c.ID, Limit: pageRows}
	return each(pageRows, func(last *memory.Consolidation) ([]memory.Consolidation, error) {
		if last != nil {
			filter.Before = &db.Position{At: last.CreatedAt, ID: last.ID}
		}
		return x.records.ListConsolidations(ctx, filter)
	}, func(one memory.Consolidation) error {
		switch {
		case one.Through > c.Events: // planned since the conversation was read
			return nil
		case one.Unfinished():
			x.counts[LeftOut]++
			return nil
		}
		return x.write(Consolidations, "consolidation", consolidationLineOf(c.FirstTurnID, one))
	})
}

// each writes the rows of one page after the other, until a page has fewer rows
// than its size. last is the last row of the previous page.
func each[T any](size int, page func(last *T) ([]T, error), write func(T) error) error {
	for last := (*T)(nil); ; {
		found, err := page(last)
		if err != nil {
			return err
		}
		for _, item := range found {
			if err := write(item); err != nil {
				return err
			}
		}
		if len(found) < size {
			return nil
		}
		last = &found[len(found)-1]
	}
}

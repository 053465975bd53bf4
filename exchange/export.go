package exchange

import (
	"context"
	"encoding/json"
	"io"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// Selection is what an export takes.
type Selection struct {
	AppID      string
	UserID     string // empty: every user of the app
	Embeddings bool
}

// Export writes what is selected as NDJSON: a header, the memories of each user
// from the oldest on, what else is kept, kind by kind, and an end that counts
// the lines of each kind. Each line is as of one
// instant; the whole is not, where the app is written to meanwhile. Nothing is
// written before the database has answered for the first time. After an error
// the text lacks its end; WriteError says so to those who read it.
func (s *Service) Export(ctx context.Context, what Selection, w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	page := db.ExportPage{AppID: what.AppID, UserID: what.UserID, Limit: pageLines, Embeddings: what.Embeddings}
	counts := Counts{Memories: 0}
	for {
		records, err := s.records.Export(ctx, page)
		if err != nil {
			return err
		}
		if page.After == nil {
			if err := out.Encode(header{Format, Version, memory.Instant(s.now())}); err != nil {
				return err
			}
		}
		for _, r := range records {
			if err := writeRecord(out, r); err != nil {
				return err
			}
		}
		if counts[Memories] += len(records); len(records) < pageLines {
			break
		}
		last := records[len(records)-1].Memory
		page.After = &db.ExportPlace{UserID: last.UserID, Position: db.Position{At: last.CreatedAt, ID: last.ID}}
	}
	if err := s.exportOthers(ctx, what, counts, out); err != nil {
		return err
	}
	return out.Encode(endLine{counts})
}

// WriteError ends an export that broke off.
func WriteError(w io.Writer, message string) error {
	return json.NewEncoder(w).Encode(errorLine{message})
}

// writeRecord writes a memory, and what of its history has no room beside it
// in lines that follow.
func writeRecord(out *json.Encoder, r db.Record) error {
	fit := fitting(r.Events)
	err := out.Encode(recordLine{memoryLineOf(r.Memory), eventLinesOf(r.Events[:fit]), relationLinesOf(r.Relations)})
	for rest := r.Events[fit:]; err == nil && len(rest) > 0; rest = rest[fit:] {
		fit = fitting(rest)
		err = out.Encode(moreLine{subject{r.Memory.UserID, r.Memory.ID}, eventLinesOf(rest[:fit])})
	}
	return err
}

// fitting is how many of the events fit in a line; at least one does.
func fitting(events []memory.Event) int {
	const frame = 256 // of an event, without cause and detail
	room := pageRoom
	for i, e := range events {
		if room -= frame + len(e.Cause) + len(e.Detail); room < 0 && i > 0 {
			return i
		}
	}
	return len(events)
}

package exchange

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// maxErrors is the number of failed lines that a report describes; it counts all.
const maxErrors = 100

// Report is the result of an import.
type Report struct {
	Lines    int         `json:"lines"`             // read, the first and last ones included
	Imported int         `json:"imported"`          // memories
	Skipped  int         `json:"skipped"`           // memories that were here already and do not differ
	Others   Tallies     `json:"others"`            // the other kinds
	Failed   int         `json:"failed"`            // lines
	Errors   []LineError `json:"errors"`            // of the failed lines, by number, at most 100
	Cleaned  int         `json:"cleaned,omitempty"` // lines with characters that became U+FFFD
	Complete bool        `json:"complete"`          // every export has an end, and as many lines as its end states
}

// Tallies count the lines of each kind that the stream has.
type Tallies map[Kind]Tally

// Tally counts the lines of one kind, as Report.Imported and Report.Skipped count memories.
type Tally struct {
	Imported int `json:"imported"`
	Skipped  int `json:"skipped"`
}

// count counts an entry that was imported or skipped.
func (r *Report) count(kind Kind, imported bool) {
	t := r.Others[kind]
	if imported {
		t.Imported++
	} else {
		t.Skipped++
	}
	r.Others[kind] = t
}

// LineError is the reason why a line failed.
type LineError struct {
	Line    int    `json:"line"` // from 1
	Message string `json:"message"`
}

// Import imports a stream of one or several exports into the app. It first passes
// the JSON of each line to check, which may return another text for it. A line that is stored already is skipped if it
// does not differ, and fails if it does: an import never overwrites anything, so repeating an interrupted import
// resumes it. A line that fails is in the report and does not affect the others.
//
// An error ends the import; what was stored before stays. KindInvalid: the stream
// is not an export, or was cut; KindUnavailable: the database or the embedder is
// unavailable.
func (s *Service) Import(
	ctx context.Context, appID string, stream io.Reader, check func(line []byte) ([]byte, error),
) (Report, error) {
	i := s.newImport(appID)
	i.check = check
	in := newReader(stream)
	for {
		text, whole, err := in.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return i.report, memory.Errorf(memory.KindInvalid,
				"the stream broke off after line %d: send it again, what has been imported is skipped: %w", in.number, err)
		}
		i.report.Lines++
		if !whole {
			i.fail(in.number, fmt.Errorf("has over %d bytes", MaxLine))
			continue
		}
		if err := i.take(ctx, in.number, text); err != nil {
			return i.report, err
		}
	}
	if i.report.Lines == 0 {
		return i.report, errNotExport
	}
	if err := i.settle(ctx); err != nil {
		return i.report, err
	}
	slices.SortStableFunc(i.report.Errors, func(a, b LineError) int { return cmp.Compare(a.Line, b.Line) })
	i.report.Complete = i.ended && !i.broken
	return i.report, nil
}

func (s *Service) newImport(appID string) *importing {
	i := &importing{
		Service: s, appID: appID, since: memory.Instant(s.now()),
		report: Report{Others: Tallies{}, Errors: []LineError{}}, counts: Counts{}, zones: map[string]*time.Location{},
		modes: map[memory.Owner]map[string]memory.ModeSetting{},
	}
	i.users.begin = func(ctx context.Context, scope memory.Scope, f func(context.Context, db.UserTx) error) error {
		return i.inUser(ctx, scope.Owner(), f)
	}
	i.scopes.begin = i.inScope
	return i
}

var errNotExport = memory.Errorf(memory.KindInvalid,
	"the body is not an export: its first line must be {\"format\":%q,\"version\":%d,...}", Format, Version)

// importing is the state of an import.
type importing struct {
	*Service
	appID  string
	check  func([]byte) ([]byte, error)
	since  time.Time // when the import began
	report Report

	pending []item                  // lines of memories that wait to be stored
	users   queue[db.UserTx]        // other entries of a user that wait
	scopes  queue[db.InstructionTx] // instructions and their versions that wait
	waiting int                     // number of lines that wait
	size    int                     // bytes of them

	zones map[string]*time.Location // by user, as the lines state them

	modes map[memory.Owner]map[string]memory.ModeSetting // by conversation, "" for the user; when the import came to them

	differing string // the latest memory that was here already and differs

	begun  bool   // the first header was read
	ended  bool   // the end of the present export was read
	broken bool   // an export had no end, or other counts than its end states
	counts Counts // of the lines of the present export, failed ones included
}

// take reads one line. An error ends the import.
func (i *importing) take(ctx context.Context, number int, text []byte) error {
	var l line
	read := text
	text, err := i.check(read)
	if err != nil {
		text = read
	} else if !bytes.Equal(read, text) {
		i.report.Cleaned++
	}
	if unread := json.Unmarshal(text, &l); err == nil && unread != nil { // a refused line also counts
		err = fmt.Errorf("cannot be read: %w", unread)
	}
	e, several := l.entry()
	switch {
	case e != nil:
		i.counts[e.kind()]++
	case l.Memory != nil:
		i.counts[Memories]++
	}
	first := !i.begun
	i.begun = true
	if first && (err != nil || l.Format != Format) {
		return errNotExport
	}
	switch {
	case err != nil:
	case l.Format != "":
		return i.begin(first, number, l)
	case i.ended:
		err = fmt.Errorf("comes after the end of the export")
	case l.End != nil:
		i.ended = true
		if !i.counts.equal(l.End) {
			i.broken = true
			err = fmt.Errorf("counts %v, but %v were read: the export is not whole", l.End, i.counts)
		}
	case l.Error != "":
		i.broken, i.ended = true, true
		err = fmt.Errorf("states that the export broke off here: %s", l.Error)
	case several:
		err = fmt.Errorf("holds more than one thing: give each a line of its own")
	case e == nil && l.Memory == nil && l.Continues == nil:
		err = fmt.Errorf("holds no memory, and nothing else that is known")
	default:
		return i.put(ctx, number, len(text), l)
	}
	if err != nil {
		i.fail(number, err)
	}
	return nil
}

// put checks what a line of some bytes holds, and adds it to what waits. An error ends the import.
func (i *importing) put(ctx context.Context, number, size int, l line) error {
	if e, _ := l.entry(); e != nil {
		var f faults
		e.check(&f)
		if err := Wrong(f); err != nil {
			i.fail(number, err)
			return nil
		}
		i.noteZone(e)
		return i.enqueue(ctx, e, number, size)
	}
	if err := l.check(); err != nil {
		i.fail(number, err)
		return nil
	}
	return i.add(ctx, item{line: number, record: l.record(i.appID), continues: l.Memory == nil}, size)
}

// begin starts an export within the stream.
func (i *importing) begin(first bool, number int, l line) error {
	switch {
	case l.Format != Format:
		i.fail(number, fmt.Errorf("begins another format, %q", l.Format))
		return nil
	case l.Version < oldest || l.Version > Version:
		err := memory.Errorf(memory.KindInvalid,
			"the export is of version %d: this server reads versions %d to %d", l.Version, oldest, Version)
		if first {
			return err
		}
		i.broken = true
		i.fail(number, err)
		return nil
	case !first && !i.ended:
		i.broken = true
	}
	i.ended, i.counts = false, Counts{}
	return nil
}

func (i *importing) fail(number int, err error) {
	i.report.Failed++
	if len(i.report.Errors) < maxErrors {
		i.report.Errors = append(i.report.Errors, LineError{number, err.Error()})
	}
}

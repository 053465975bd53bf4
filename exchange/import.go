package exchange

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"hippocampus/db"
	"hippocampus/internal/memory"
)

// maxErrors is how many of the failed lines are told; all are counted.
const maxErrors = 100

// Report is what became of a stream.
type Report struct {
	Lines    int         `json:"lines"`    // read, the first and last ones included
	Imported int         `json:"imported"` // memories
	Skipped  int         `json:"skipped"`  // memories that were here already, just so
	Others   Tallies     `json:"others"`   // what is no memory
	Failed   int         `json:"failed"`   // lines
	Errors   []LineError `json:"errors"`   // of the failed lines, by number, at most 100
	Complete bool        `json:"complete"` // every export in the stream had its end, and as many lines of each kind as that says
}

// Tallies say what became of the lines of each kind that came.
type Tallies map[Kind]Tally

// Tally is Report.Imported and Report.Skipped of one kind.
type Tally struct {
	Imported int `json:"imported"`
	Skipped  int `json:"skipped"`
}

// tally counts what was settled.
func (r *Report) tally(kind Kind, fresh bool) {
	t := r.Others[kind]
	if fresh {
		t.Imported++
	} else {
		t.Skipped++
	}
	r.Others[kind] = t
}

// LineError says why a line failed.
type LineError struct {
	Line    int    `json:"line"` // from 1
	Message string `json:"message"`
}

// Import reads an export, or several one after the other, into the app. Each
// line is first held to what check says of its JSON. What is here
// already is skipped where it is the same, and else fails: nothing is ever
// overwritten, so that a broken import is resumed by repeating it. A line that
// fails is told in the report, and the others go on.
//
// An error ends the import: what was settled before stays. KindInvalid: the
// stream is no export, or broke off; KindUnavailable: the database or the
// embedder is away.
func (s *Service) Import(ctx context.Context, appID string, stream io.Reader, check func(line []byte) error) (Report, error) {
	i := &importing{Service: s, appID: appID, check: check, report: Report{Others: Tallies{}, Errors: []LineError{}}, counts: Counts{}}
	i.users.in, i.scopes.in = inUser(s.records), s.records.InScope
	in := newReader(stream)
	for {
		text, whole, err := in.next()
		if err == io.EOF {
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
		return i.report, noExport
	}
	if err := i.settle(ctx); err != nil {
		return i.report, err
	}
	slices.SortStableFunc(i.report.Errors, func(a, b LineError) int { return cmp.Compare(a.Line, b.Line) })
	i.report.Complete = i.ended && !i.broken
	return i.report, nil
}

var noExport = memory.Errorf(memory.KindInvalid, "the body is no export: its first line must be {\"format\":%q,\"version\":%d,...}", Format, Version)

// importing is one import under way.
type importing struct {
	*Service
	appID  string
	check  func([]byte) error
	report Report

	pending []item                  // lines of memories that wait to be settled together
	users   queue[db.UserTx]        // lines of what else is kept of a user
	scopes  queue[db.InstructionTx] // lines of instructions
	waiting int                     // how many wait
	size    int                     // bytes of them

	differing string // the latest memory that was here already and differs

	begun  bool   // a header has come
	ended  bool   // and its end
	broken bool   // an export had no end, or another count than its end says
	counts Counts // of the present export's lines, the ones that fail too
}

// take reads one line. An error ends the import.
func (i *importing) take(ctx context.Context, number int, text []byte) error {
	var l line
	err := i.check(text)
	if err == nil {
		if err = json.Unmarshal(text, &l); err != nil {
			err = fmt.Errorf("cannot be read: %w", err)
		}
	}
	other, several := l.other()
	first := !i.begun
	if i.begun = true; first && (err != nil || l.Format != Format) {
		return noExport
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
			err = fmt.Errorf("counts %v where %v came: the export is not whole", l.End, i.counts)
		}
	case l.Error != "":
		i.broken, i.ended = true, true
		err = fmt.Errorf("says that the export broke off here: %s", l.Error)
	case several:
		err = fmt.Errorf("holds more than one thing: give each a line of its own")
	case other != nil:
		i.counts[other.kind()]++
		var c complaints
		if other.check(&c); len(c) == 0 {
			return other.wait(ctx, i, number, len(text))
		}
		err = Wrong(c)
	case l.Memory == nil && l.Continues == nil:
		err = fmt.Errorf("holds no memory, and nothing else that is known")
	default:
		if l.Memory != nil {
			i.counts[Memories]++
		}
		if err = l.check(); err == nil {
			return i.add(ctx, item{number, l.record(i.appID), l.Memory == nil}, len(text))
		}
	}
	if err != nil {
		i.fail(number, err)
	}
	return nil
}

// begin starts an export within the stream.
func (i *importing) begin(first bool, number int, l line) error {
	switch {
	case l.Format != Format:
		i.fail(number, fmt.Errorf("begins another format, %q", l.Format))
		return nil
	case l.Version < oldest || l.Version > Version:
		err := memory.Errorf(memory.KindInvalid, "the export is of version %d: this server reads versions %d to %d", l.Version, oldest, Version)
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

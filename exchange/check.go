package exchange

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"hippocampus/internal/memory"
)

const (
	firstYear, lastYear = 1970, 2200    // the range that every store keeps exactly
	maxCause            = 1024          // characters
	maxSummary          = 64 << 10      // characters
	maxError            = 64 << 10      // characters
	maxNumber           = math.MaxInt32 // of any count
)

// faults collects what is wrong with a line, field by field.
type faults []memory.Field

// note records a complaint unless it is empty.
func (f *faults) note(path, complaint string) {
	if complaint != "" {
		*f = append(*f, memory.Field{Path: path, Message: complaint})
	}
}

func (f *faults) id(path, id string) {
	if !memory.IsID(id) {
		f.note(path, "is not a UUID in lower case")
	}
}

func (f *faults) optionalID(path, id string) {
	if id != "" {
		f.id(path, id)
	}
}

func (f *faults) time(path string, t time.Time) {
	if year := t.UTC().Year(); year < firstYear || year > lastYear {
		f.note(path, fmt.Sprintf("is not in the years %d to %d", firstYear, lastYear))
	}
}

func (f *faults) optionalTime(path string, t time.Time) {
	if !t.IsZero() {
		f.time(path, t)
	}
}

func (f *faults) optionalText(path, text string, maxRunes int) {
	if text != "" {
		f.note(path, memory.CheckContent(text, maxRunes))
	}
}

func (f *faults) fraction(path string, x float64) {
	if !(x >= 0 && x <= 1) {
		f.note(path, "is not in 0 to 1")
	}
}

// hash checks the hash of what a client sent.
func (f *faults) hash(path, hash string) {
	if sum, err := hex.DecodeString(hash); err != nil || len(sum) != sha256.Size || strings.ToLower(hash) != hash {
		f.note(path, "is not the SHA-256 of a text, in hexadecimal digits")
	}
}

func inRange[N int | int64](f *faults, path string, n, least, most N) {
	if n < least || n > most {
		f.note(path, fmt.Sprintf("is not in %d to %d", least, most))
	}
}

func oneOf[T ~string](f *faults, path string, list []T, value T) {
	if !slices.Contains(list, value) {
		f.note(path, fmt.Sprintf("is not one of %v", list))
	}
}

// Wrong is the error of a line whose fields are wrong; nil if the list is empty. It names the first few of these
// fields.
func Wrong(fields []memory.Field) error {
	const most = 5
	if len(fields) == 0 {
		return nil
	}
	first, more := fields[:min(len(fields), most)], ""
	if n := len(fields) - len(first); n > 0 {
		more = fmt.Sprintf(" (and %d more)", n)
	}
	return &memory.Error{Kind: memory.KindInvalid, Err: errors.New("is not valid" + more), Fields: first}
}

// orDifference returns err, or else an error of KindConflict if two lines of the
// same thing differ in a field that is not ignored.
func orDifference(err error, what string, imported, stored any, ignored ...string) error {
	if err != nil {
		return err
	}
	names := differing(imported, stored, ignored...)
	if len(names) == 0 {
		return nil
	}
	return memory.Errorf(memory.KindConflict, "%s is here already and differs in %s: nothing was overwritten",
		what, strings.Join(names, ", "))
}

// differing names the fields in which the JSON of two lines differs.
func differing(a, b any, ignored ...string) (names []string) {
	x, y := fields(a), fields(b)
	all := maps.Clone(x)
	maps.Copy(all, y)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(ignored, name) && string(x[name]) != string(y[name]) {
			names = append(names, name)
		}
	}
	return names
}

// fields returns the fields of a line by name.
func fields(line any) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	text, _ := json.Marshal(line)  // cannot fail: the line was checked
	_ = json.Unmarshal(text, &all) // cannot fail: the text was just made
	return all
}

// orConflict returns err, or else an error of KindConflict.
func orConflict(err error, format string, args ...any) error {
	if err != nil {
		return err
	}
	return memory.Errorf(memory.KindConflict, format, args...)
}

// idTaken explains a conflict with an id that exists, without naming its owner.
func idTaken(err error, what string) error {
	if memory.IsKind(err, memory.KindConflict) {
		return memory.Errorf(memory.KindConflict, "the id of %s exists already", what)
	}
	return err
}

// orInstant is memory.Instant, except that it keeps the zero time.
func orInstant(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return memory.Instant(t)
}

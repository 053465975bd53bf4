package exchange

import (
	"bytes"
	"encoding/json"
	"time"

	"hippocampus/internal/wire"
)

// The first line of an export names its format.
const (
	Format  = "hippocampus-export"
	Version = 2
	oldest  = 1 // the oldest version that is read: memories only
)

// header is the first line.
type header struct {
	Format     string    `json:"format"`
	Version    int       `json:"version"`
	ExportedAt time.Time `json:"exported_at"`
}

// recordLine is a memory with its history and those of its relations whose other
// memory precedes it.
type recordLine struct {
	Memory    memoryLine      `json:"memory"`
	Events    []wire.Event    `json:"events"`
	Relations []wire.Relation `json:"relations"`
}

// continuationLine holds the part of a history that does not fit in the line of
// its memory.
type continuationLine struct {
	Continues memoryKey    `json:"continues"`
	Events    []wire.Event `json:"events"`
}

type memoryKey struct {
	UserID string `json:"user_id"`
	ID     string `json:"id"`
}

// endLine is the last line of a whole export.
type endLine struct {
	End Counts `json:"end"`
}

// errorLine is the last line of an export that failed midway.
type errorLine struct {
	Error string `json:"error"`
}

// line is any line, as it is read.
type line struct {
	Format        string             `json:"format"`
	Version       int                `json:"version"`
	Memory        *memoryLine        `json:"memory"`
	Continues     *memoryKey         `json:"continues"`
	Events        []wire.Event       `json:"events"`
	Relations     []wire.Relation    `json:"relations"`
	Fact          *factLine          `json:"fact"`
	Instruction   *instructionLine   `json:"instruction"`
	Text          *versionLine       `json:"instruction_version"`
	Skill         *skillLine         `json:"skill"`
	Outcome       *outcomeLine       `json:"outcome"`
	Conversation  *conversationLine  `json:"conversation"`
	Turn          *turnLine          `json:"turn"`
	Consolidation *consolidationLine `json:"consolidation"`
	End           Counts             `json:"end"`
	Error         string             `json:"error"`
}

// entry is what a line holds, unless it holds a memory. It also implements
// userEntry or scopeEntry.
type entry interface {
	kind() Kind
	check(f *faults)
}

// entry returns the entry of the line, if any; several reports that the line
// holds more than one thing.
func (l line) entry() (e entry, several bool) {
	var entries []entry
	add := func(present bool, e entry) {
		if present {
			entries = append(entries, e)
		}
	}
	add(l.Fact != nil, l.Fact)
	add(l.Instruction != nil, l.Instruction)
	add(l.Text != nil, l.Text)
	add(l.Skill != nil, l.Skill)
	add(l.Outcome != nil, l.Outcome)
	add(l.Conversation != nil, l.Conversation)
	add(l.Turn != nil, l.Turn)
	add(l.Consolidation != nil, l.Consolidation)
	if len(entries) == 0 {
		return nil, false
	}
	return entries[0], len(entries) > 1 || l.Memory != nil || l.Continues != nil || l.Events != nil || l.Relations != nil
}

// compact returns a JSON text without insignificant space.
func compact(raw json.RawMessage) json.RawMessage {
	var text bytes.Buffer
	if raw == nil || json.Compact(&text, raw) != nil {
		return raw // the checks report text that is not JSON
	}
	return text.Bytes()
}
